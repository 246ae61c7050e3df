import { createCommunicationHub } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { compareContexts, renderCalls } from '@hansard/prompt';
import type {
  DispatchNotice,
  HookDecision,
  HookProvider,
  ModelMessage,
  ModelRequest,
} from '@hansard/provider';
import { ManualClock } from '@hansard/testing';
import { createLogIndex, dialogOf, perspectiveOf, rowsOf } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { find, prepare, typesOf } from './prepare.ts';
import { calls, done, hostOf, model, type Reply, says, tools } from './scripted.ts';

const secret = 'the code is 4711';

const reviewing = (
  decide: NonNullable<HookProvider['decide']>,
  more: Partial<HookProvider> = {},
): HookProvider => ({
  contract: 1,
  name: 'review',
  decidesOn: ['utterance'],
  decide,
  ...more,
});

/** Wants another answer if one has the secret. */
const careful = reviewing((question) =>
  'text' in question && question.text.includes(secret)
    ? { decision: 'retry', reason: `do not say "${secret}"` }
    : { decision: 'allow' },
);

/** A model that streams its answers, with a thought, and keeps what it was given. */
function streaming(...replies: readonly Reply[]) {
  const requests: ModelRequest[] = [];
  const provider = model((request) => {
    const next = replies[requests.push(request) - 1] ?? says('Nothing.');
    for (const word of next.text.split(/(?<= )/)) request.onDelta?.({ type: 'delta:text', text: word });
    return next;
  });
  return { provider, requests, texts: () => requests.map(({ messages }) => messages.map(textOf)) };
}

const textOf = (message: ModelMessage) => `${message.role}: ${message.text}`;

/** A screen that keeps all that it is shown. */
async function watched() {
  const shown: unknown[] = [];
  const keep = (notice: DispatchNotice) => void shown.push(structuredClone(notice));
  const hub = createCommunicationHub([
    { contract: 1, eventRecorded: keep, deltaReceived: keep, dispatchStarted: keep, dispatchEnded: keep },
  ]);
  await hub.start();
  return { hub, bytes: () => JSON.stringify(shown) };
}

async function sameAgain(events: readonly CapturedEvent[]) {
  let count = 0;
  for (const { recorded, manifest } of renderCalls([...events])) {
    expect(recorded === null ? ['not recorded'] : compareContexts(recorded, manifest)).toEqual([]);
    count += 1;
  }
  return count;
}

describe('an answer to a person', () => {
  it('is shown when the hooks have decided, and not while it is written', async () => {
    const { hub, bytes } = await watched();
    let seen = '';
    const hook = reviewing(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      seen = bytes();
      return { decision: 'allow' };
    });
    const { create } = prepare();
    const { provider } = streaming(says('A fine day.'));
    const { session, root } = await create({ model: provider, hooks: [hook], communication: hub });
    await root.harken('How is the weather?');
    expect(String(await root.response())).toBe('A fine day.');
    await session.close();
    await hub.close();
    expect(seen).not.toContain('fine');
    expect(bytes()).toContain('"delta:text","text":"fine "');
  });

  it('that is rejected is in the next prompt of its author with the reason, and in no byte of a screen', async () => {
    const { hub, bytes } = await watched();
    const { create, load, events } = prepare();
    const thinking = { text: `I know that ${secret}`, signature: 's' };
    const first = says(secret, { thinking, replay: { said: secret }, costUsd: 1 });
    const { provider, texts } = streaming(first, says('I can not say that.'), says('No.'));
    const options = { model: provider, hooks: [careful], communication: hub };
    const { session, root } = await create(options);
    await root.harken('What is the code?');
    expect(String(await root.response())).toBe('I can not say that.');
    expect(root.awaitsResponse).toBe(false);
    const expected = [
      'user: What is the code?',
      `assistant: ${secret}`,
      `user: Your answer was rejected by the hook 'review', and nobody received it: do not say "${secret}"\nAnswer again.`,
    ];
    expect(texts()[1]).toEqual(expected);
    await session.close();

    const again = await load({ ...options, communication: hub });
    await again.root.harken('Please.');
    expect(String(await again.root.response())).toBe('No.');
    expect(texts()[2]).toEqual([...expected, 'assistant: I can not say that.', 'user: Please.']);
    await again.session.close();
    await hub.close();

    const log = await events();
    const rejected = find(log, 'agent:rejected');
    expect(rejected.data).toMatchObject({
      text: secret,
      thinking: thinking.text,
      hook: 'review',
      retry: true,
    });
    const decision = find(log, 'harness:hook_decision', { on: 'utterance', decision: 'retry' });
    expect(rejected.via).toBe(decision.id);
    expect(decision.data).not.toHaveProperty('given');
    expect(find(log, 'agent:inference', { costUsd: 1 }).messageId).toBe(rejected.messageId);
    expect(log.filter(({ type }) => type === 'agent:text').map(({ data }) => data.text)).toEqual([
      'I can not say that.',
      'No.',
    ]);
    expect(await sameAgain(log)).toBe(3);
    expect(bytes()).toContain('I can not say that.');
    expect(bytes()).not.toContain('4711');
  });

  it('that is rejected too often is denied with a code, and leaves no open question', async () => {
    const { create, events } = prepare();
    const { provider, texts } = streaming(says(secret), says(`${secret}!`), says('Hello.'));
    const { session, root } = await create({ model: provider, hooks: [careful], utteranceTries: 2 });
    await root.harken('The code?');
    await expect(root.response()).rejects.toMatchObject({
      code: 'SESSION_UTTERANCE_DENIED',
      message: expect.not.stringContaining('4711'),
      details: { agentId: root.agentId, hook: 'review' },
    });
    expect(root.awaitsResponse).toBe(false);
    const log = await events();
    expect(log.filter(({ type }) => type === 'agent:rejected').map(({ data }) => data.retry)).toEqual([
      true,
      false,
    ]);
    await root.harken('Hello?');
    expect(String(await root.response())).toBe('Hello.');
    expect(texts()[2]?.slice(-2)).toEqual([
      `user: Your answer was rejected by the hook 'review', and nobody received it: do not say "${secret}"`,
      'user: Hello?',
    ]);
    await session.close();
  });

  it('that is altered is what the person and later prompts have; the log keeps the first words', async () => {
    const { hub, bytes } = await watched();
    const hide = reviewing((question) =>
      'text' in question
        ? { decision: 'alter', text: question.text.replace('4711', '****') }
        : { decision: 'allow' },
    );
    const { create, events } = prepare();
    const thinking = { text: secret };
    const { provider, texts } = streaming(says(secret, { thinking, replay: secret }), says('Yes.'));
    const { session, root } = await create({ model: provider, hooks: [hide], communication: hub });
    await root.harken('The code?');
    const said = await root.response();
    expect(said.text).toBe('the code is ****');
    await root.harken('Sure?');
    await root.response();
    await session.close();
    await hub.close();
    const log = await events();
    const text = find(log, 'agent:text', { text: 'the code is ****' });
    expect(said.messageId).toBe(text.id);
    expect(find(log, 'harness:hook_decision', { decision: 'alter' })).toMatchObject({
      id: text.via,
      data: { given: secret, text: 'the code is ****' },
    });
    expect(texts()[1]).toEqual(['user: The code?', 'assistant: the code is ****', 'user: Sure?']);
    expect(JSON.stringify(texts())).not.toContain('4711');
    expect(await sameAgain(log)).toBe(2);
    expect(bytes()).not.toContain('4711');
  });

  it('is decided on by several hooks in their order: an alteration is passed on, a rejection is final, and a new answer begins anew', async () => {
    const asked: string[] = [];
    const hook = (name: string, decide: (text: string, rejected: number) => HookDecision) =>
      reviewing(
        (question) => {
          if (question.on !== 'utterance') return { decision: 'allow' };
          asked.push(`${name} ${question.rejected}: ${question.text}`);
          return decide(question.text, question.rejected);
        },
        { name },
      );
    const { create, events } = prepare();
    const { session, root } = await create({
      model: streaming(says('one'), says('two')).provider,
      hooks: [
        hook('A', (text) => ({ decision: 'alter', text: `${text}!` })),
        hook('B', (_, rejected) =>
          rejected === 0 ? { decision: 'retry', reason: 'again' } : { decision: 'allow' },
        ),
        hook('C', () => ({ decision: 'allow' })),
      ],
    });
    await root.harken('Count.');
    expect(String(await root.response())).toBe('two!');
    expect(asked).toEqual(['A 0: one', 'B 0: one!', 'A 1: two', 'B 1: two!', 'C 1: two!']);
    expect(find(await events(), 'agent:rejected').data.text).toBe('one');
    await session.close();
  });

  it.each([
    ['that must be asked is denied in time', true, 'SESSION_UTTERANCE_DENIED'],
    ['is said without the hook in time', false, 'Hello.'],
  ] as const)('whose hook never answers, and %s', async (_, required, outcome) => {
    const clock = new ManualClock();
    const { hub, bytes } = await watched();
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const hangs = reviewing(
      () => {
        isAsked();
        return new Promise(() => {});
      },
      { required },
    );
    const { create } = prepare();
    const { provider } = streaming(says('Hello.'));
    const options = { model: provider, hooks: [hangs], clock, hookTimeoutMs: 1_000, communication: hub };
    const { session, root } = await create(options);
    await root.harken('Hello?');
    const said = root.response().then(String, ({ code }) => code);
    await asked;
    expect(bytes()).not.toContain('Hello.');
    clock.advance(1_000);
    expect(await said).toBe(outcome);
    await session.close();
    await hub.close();
    expect(bytes().includes('Hello.')).toBe(!required);
  });

  it('that is stopped while hooks decide is heard by nobody, and its cost counts', async () => {
    const { hub, bytes } = await watched();
    const { create, load, events } = prepare();
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const hangs = reviewing(() => {
      isAsked();
      return new Promise(() => {});
    });
    const { provider } = streaming(says(secret, { costUsd: 2 }));
    const { session, root } = await create({ model: provider, hooks: [hangs], communication: hub });
    await root.harken('The code?');
    const said = root.response();
    await asked;
    root.stop('enough', 'user');
    await expect(said).rejects.toMatchObject({ code: 'SESSION_AGENT_STOPPED' });
    expect(root.awaitsResponse).toBe(false);
    await root.harken('Well?');
    await session.close();
    await hub.close();
    const log = await events();
    expect(find(log, 'agent:rejected').data).toMatchObject({ text: secret, retry: false });
    expect(find(log, 'session:complete').data).toMatchObject({ costUsd: 2 });
    expect(typesOf(log)).not.toContain('agent:text');
    expect(bytes()).not.toContain('4711');
    const again = await load();
    expect(again.root.awaitsResponse).toBe(true);
    await again.session.close();
  });

  it('is asked about once, and thoughts beside calls, answers to other agents and to hooks are not', async () => {
    const asked: string[] = [];
    const counting = reviewing(async (question) => {
      if ('text' in question) asked.push(`${question.on}: ${question.text}`);
      return { decision: 'allow' };
    });
    const { create } = prepare();
    const { session, root } = await create({
      hooks: [{ ...counting, decidesOn: ['utterance', 'delivery'] }],
      tools: [
        tools({
          ask: async (call) => {
            const host = hostOf(call);
            const { agentId } = await host.createAgent({ name: 'Ben' });
            await host.deliver(agentId, { text: 'Well?' });
            return done(`Ben: ${await host.respond(agentId)}`);
          },
        }),
      ],
      model: model(({ agentName, turn }) => {
        if (agentName === 'Ben') return says('Fine.');
        return turn === 0 ? calls('ask', {}, 'call_1', 'Let me see.') : says('He is fine.');
      }),
    });
    await root.harken('How is Ben?');
    await root.response();
    expect(asked).toEqual(['delivery: Well?', 'utterance: He is fine.']);
    await session.close();
  });

  it('that an agent of a hook reviews is quoted in no byte of a screen, in no row and no dialog, also after a load', async () => {
    const { hub, bytes } = await watched();
    const reviewer = reviewing(async (question, { agents }) => {
      if (question.on !== 'utterance' || agents === undefined) return { decision: 'allow' };
      const { agentId } = await agents.createAgent({ name: 'Reviewer' });
      const said = await agents.response(agentId, question.text);
      return said.startsWith('no')
        ? { decision: 'retry', reason: said.text, cause: said.messageId }
        : { decision: 'allow' };
    });
    const { provider } = streaming(says(secret), says(`no: ${secret}`), says('I can not.'), says('yes'));
    const { create, load, events } = prepare();
    const options = { hooks: [reviewer], communication: hub };
    const { session, root } = await create({ model: provider, ...options });
    await root.harken('The code?');
    expect(String(await root.response())).toBe('I can not.');
    await session.close();
    const later = streaming(says('Nothing.'), says(`yes, without "${secret}"`));
    const again = await load({ model: later.provider, ...options });
    await again.root.harken('And now?');
    await again.root.response();
    await again.session.close();
    await hub.close();
    const log = await events();
    const { agentId } = find(log, 'agent:created', { hook: 'review' });
    const ofReviewer = log.filter((event) => event.agentId === agentId && 'text' in event.data);
    expect(ofReviewer.map(({ data }) => data.withheld)).toEqual(Array(6).fill(true));
    expect(bytes()).toContain('I can not.');
    expect(bytes()).not.toContain('4711');
    expect(JSON.stringify(rowsOf(log))).not.toContain('4711');
    const index = createLogIndex(log);
    expect(JSON.stringify(dialogOf(index, [root.agentId]))).not.toContain('4711');
    const own = perspectiveOf(index, root.agentId).map(({ kind, text }) => `${kind}: ${text.split(':')[0]}`);
    expect(own.slice(0, 4)).toEqual([
      'heard: The code?',
      `thought: ${secret}`,
      "heard: Your answer was rejected by the hook 'review', and nobody received it",
      'said: I can not.',
    ]);
  });

  it('that was rejected before a kill is given again after the load', async () => {
    const { create, load } = prepare();
    let kill = () => {};
    const killed = new Promise<void>((resolve) => {
      kill = resolve;
    });
    const first = streaming(says(secret));
    const provider = model((request) => {
      if (first.requests.length === 0) return first.provider.generate(request);
      kill();
      return new Promise(() => {});
    });
    const { session, root } = await create({ model: provider, hooks: [careful] });
    await root.harken('The code?');
    const said = root.response();
    await killed;
    const closed = session.close();
    await expect(said).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
    await closed;
    const { provider: other, texts } = streaming(says('No.'));
    const again = await load({ model: other, hooks: [careful] });
    expect(again.root.awaitsResponse).toBe(true);
    expect(String(await again.root.response())).toBe('No.');
    expect(texts()[0]?.at(-1)).toContain('Answer again.');
    await again.session.close();
  });
});

describe('a message of a person', () => {
  const gate = (decide: (text: string) => HookDecision) =>
    reviewing(async (question) => (question.on === 'input' ? decide(question.text) : { decision: 'allow' }), {
      name: 'gate',
      decidesOn: ['input'],
    });

  it('is altered before the agent receives it, in the order of arrival, and the log keeps what was said', async () => {
    const { create, events } = prepare();
    let delay = 3;
    const slow = gate((text) => ({ decision: 'alter', text: text.replace('4711', '****') }));
    const { provider, texts } = streaming(says('Noted.'));
    const { session, root } = await create({
      model: provider,
      hooks: [
        {
          ...slow,
          decide: async (question, host) => {
            delay -= 1;
            for (let left = delay; left > 0; left -= 1) await null;
            return slow.decide?.(question, host) ?? { decision: 'allow' };
          },
        },
      ],
    });
    const ids = await Promise.all([root.harken(secret), root.harken('Keep it.')]);
    await root.response();
    expect(texts()[0]).toEqual(['user: the code is ****', 'user: Keep it.']);
    const log = await events();
    const received = log.filter(({ type }) => type === 'user:message');
    expect(received.map(({ id }) => id)).toEqual(ids);
    expect(find(log, 'harness:hook_decision', { on: 'input' })).toMatchObject({
      id: received[0]?.via,
      data: { given: secret, decision: 'alter' },
    });
    await session.close();
  });

  it('that is denied does not reach the agent, and the log has it in the decision', async () => {
    const { create, events } = prepare();
    const closed = gate(() => ({ decision: 'deny', reason: 'no codes here' }));
    const { session, root } = await create({ hooks: [closed] });
    await expect(root.harken(secret)).rejects.toMatchObject({
      code: 'SESSION_INPUT_DENIED',
      details: { agentId: root.agentId, hook: 'gate' },
    });
    expect(root.awaitsResponse).toBe(false);
    expect(typesOf(await events())).not.toContain('user:message');
    expect(find(await events(), 'harness:hook_decision').data).toMatchObject({
      ...{ on: 'input', decision: 'deny', given: secret },
    });
    await root.harken('A reminder.', { source: { kind: 'system' } });
    expect(root.awaitsResponse).toBe(true);
    await session.close();
  });
});
