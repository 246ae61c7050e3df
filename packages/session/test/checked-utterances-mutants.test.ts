import { createCommunicationHub } from '@hansard/dispatch';
import type { HookProvider } from '@hansard/provider';
import type * as SessionModule from '@hansard/session';
import { importMutated } from '@hansard/testing/mutants';
import { expect, it } from 'vitest';
import { prepare, taskDir } from './prepare.ts';
import { model, says } from './scripted.ts';

type Mutation = readonly [file: string, piece: string, instead: string];

const home = new URL('..', import.meta.url).pathname;
const secret = 'code 4711';

const careful: HookProvider = {
  contract: 1,
  name: 'review',
  decidesOn: ['utterance', 'input'],
  async decide(question) {
    const isSlow = 'text' in question && question.text.includes('1234');
    for (let left = isSlow ? 9 : 1; left > 0; left -= 1) await null;
    if (question.on === 'input') return { decision: 'alter', text: question.text.replace('1234', '****') };
    if (question.on !== 'utterance' || !question.text.includes(secret)) return { decision: 'allow' };
    return question.text.includes('!')
      ? { decision: 'alter', text: 'hidden' }
      : { decision: 'retry', reason: `not "${secret}"` };
  },
};

/** What is wrong with a session in which answers are rejected, altered and allowed. Empty: nothing. */
async function faultsOf({ openSession }: typeof SessionModule): Promise<string[]> {
  const shown: unknown[] = [];
  const keep = (notice: unknown) => void shown.push(structuredClone(notice));
  const hub = createCommunicationHub([{ contract: 1, eventRecorded: keep, deltaReceived: keep }]);
  await hub.start();
  const { store } = prepare();
  const prompts: string[] = [];
  const replies = [secret, 'no', `${secret}!`, secret, secret];
  const provider = model(({ messages, onDelta }) => {
    prompts.push(JSON.stringify(messages));
    const text = replies[prompts.length - 1] ?? '';
    onDelta?.({ type: 'delta:text', text });
    return says(text, { replay: { text }, thinking: { text } });
  });
  const options = {
    store,
    taskDir,
    model: provider,
    hooks: [careful],
    communication: hub,
    utteranceTries: 2,
  };
  const session = await openSession(options);
  const { root, dispatchId } = session;
  const ids = await Promise.all([root.harken('My number is 1234.'), root.harken('The code?')]);
  const said = [String(await root.response())];
  await root.harken('Again?');
  said.push(String(await root.response()));
  await root.harken('Once more?');
  said.push(await root.response().then(String, ({ code }) => code));
  const isOpen = root.awaitsResponse;
  await session.close();
  await hub.close();
  const log = await store.getDispatchEvents(taskDir, dispatchId);
  const again = await openSession({ ...options, dispatchId, expect: 'existing' });
  const isOpenAgain = again.root.awaitsResponse;
  await again.close();
  const bytes = JSON.stringify(shown);
  const faults: Readonly<Record<string, boolean>> = {
    shown: bytes.includes('4711'),
    'not shown': !bytes.includes('"delta:text","text":"no"'),
    said: said.join() !== 'no,hidden,SESSION_UTTERANCE_DENIED',
    'author not told': prompts[1]?.includes('nobody received it') !== true,
    'replayed words': prompts[3]?.includes('4711!') === true,
    'open question': isOpen || isOpenAgain,
    calls: prompts.length !== 5,
    'input not altered': prompts.some((prompt) => prompt.includes('1234')),
    'input out of order':
      log
        .filter(({ id }) => ids.includes(id))
        .map(({ id }) => id)
        .join() !== ids.join(),
    'no record': log.filter(({ type }) => type === 'agent:rejected').length !== 3,
    'calls not recorded': log.filter(({ type }) => type === 'agent:inference').length !== 5,
  };
  return Object.entries(faults).flatMap(([name, isThere]) => (isThere ? [name] : []));
}

const ask = 'turn/ask-model.ts';
const unbroken: Mutation = [ask, 'else held.push(own);', 'else held.push(own);'];
const mutations: readonly (readonly [what: string, mutation: Mutation])[] = [
  ['the unbroken session', unbroken],
  [
    'shows what is written',
    [ask, 'if (held === null) log.publish(own);', 'log.publish(own);\n    if (held === null) return;'],
  ],
  ['shows what was rejected', [ask, 'if (checked.isAsWritten) publishAll', 'publishAll']],
  ['shows nothing at all', [ask, 'if (checked.isAsWritten) publishAll', 'if (false) publishAll']],
  ['asks nobody', [ask, "decides(hook, 'utterance')", "decides(hook, 'delivery')"]],
  ['records the words of before', [ask, 'data: { text: value } };', 'data: { text } };']],
  ['gives the first words back', [ask, 'isOfCall).map(withoutReplay);\n  if', 'isOfCall);\n  if']],
  ['shows thoughts about it', [ask, 'data: { ...event.data, withheld: true }', 'data: { ...event.data }']],
  ['forgets the cost', [ask, 'unsaid, ...calls]', 'unsaid]']],
  ['forgets the answer', [ask, '[...decided, unsaid, ...calls]', '[...decided, ...calls]']],
  ['asks without end', [ask, 'rejected + 1 < utteranceTries', 'rejected + 1 < 99']],
  ['counts no tries', ['turn/answer.ts', 'rejected += 1;', '']],
  ['says what was denied', ['turn/answer.ts', 'throw denied(record, given.rejection.hook);', '']],
  ['waits for ever', ['agents/agent-record.ts', 'asks = event.data.retry;', 'asks = true;']],
  ['takes it for no answer', ['agents/agent-record.ts', "    case 'agent:rejected':\n", '']],
  ['takes input as it is', ['turn/session-inputs.ts', '...message, content: value', '...message']],
  [
    'mixes input up',
    ['turn/session-inputs.ts', 'const recorded = before.then(', 'const recorded = Promise.resolve().then('],
  ],
];

it.each(mutations)('%s is noticed', async (_, mutation) => {
  const mutant = (await importMutated(home, mutation, 'index.ts')) as typeof SessionModule;
  const faults = await faultsOf(mutant);
  if (mutation === unbroken) expect(faults).toEqual([]);
  else expect(faults).not.toEqual([]);
});
