import type { NewEvent } from '@hansard/events';
import { renderContext } from '@hansard/prompt';
import { createRedactor } from '@hansard/redaction';
import { randomFrom } from '@hansard/testing';
import { expect, it } from 'vitest';
import type { ContextAnswer } from '../src/answers.ts';
import { openStore, startedViewer, taskDir } from './viewed.ts';

const place = `/api/d/${encodeURIComponent(taskDir)}/d1`;

/** A model call and the messages that the generator gave before it, as `role text`. */
interface Called {
  readonly position: number;
  /** Of the text of its answer. */
  readonly answer: number;
  readonly given: readonly string[];
}

type Record = 'manifest' | 'nothing' | 'another hash';

/** A talk of two agents with a model call in each turn. What was given is kept by the generator, not read from the log. */
async function talked(turns: number, seed: number, recordOf: (turn: number) => Record = () => 'manifest') {
  const store = await openStore();
  const dispatch = await store.beginDispatch(taskDir, {
    role: 'w',
    dispatchId: 'd1',
    title: 'Talk',
    fidelity: 'full',
  });
  const random = randomFrom(seed);
  const agents = ['a1', 'a2'];
  await dispatch.append(
    agents.map((agentId): NewEvent => {
      const name = agentId === 'a1' ? 'Ada' : 'Ben';
      return { type: 'agent:created', agentId, data: { name, languageModel: 'm' } };
    }),
  );
  const given = new Map(agents.map((agentId) => [agentId, [] as string[]]));
  const calls: Called[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const agentId = agents[Math.floor(random() * 2)] ?? '';
    const own = given.get(agentId) ?? [];
    const [question, answer, messageId] = [`question ${turn}`, `answer ${turn}`, `m${turn}`];
    await dispatch.append({
      type: 'user:message',
      agentId,
      data: { text: question, source: { kind: 'user' } },
    });
    own.push(`user ${question}`);
    const events = (await store.getDispatchEvents(taskDir, 'd1')).filter(
      (event) => event.agentId === agentId,
    );
    const { manifest } = renderContext(events);
    const record = recordOf(turn);
    const context =
      record === 'nothing'
        ? {}
        : { context: record === 'manifest' ? manifest : { ...manifest, hash: 'sha256:00' } };
    const at = await dispatch.count();
    await dispatch.append([
      { type: 'agent:text', agentId, messageId, data: { text: answer } },
      {
        type: 'agent:inference',
        agentId,
        messageId,
        data: { model: 'm', usage: { inputTokens: 1, outputTokens: 1 }, durationMs: 5, ...context },
      } as NewEvent,
    ]);
    calls.push({ position: at + 1, answer: at, given: [...own] });
    own.push(`assistant ${answer}`);
  }
  return { store, dispatch, calls, ...(await startedViewer(store)) };
}

const shown = ({ lines }: ContextAnswer) => lines.map(({ role, text }) => `${role} ${text}`);

it.each([1, 2, 3])(
  'answers what was given in each call, by the call and by its answer (seed %i)',
  async (seed) => {
    const { calls, json } = await talked(24, seed);
    for (const { position, answer, given } of calls) {
      const context = (await json(`${place}/context/${position}`)) as ContextAnswer;
      expect([shown(context), context.count, context.earlier]).toEqual([given, given.length, 0]);
      expect(context).toMatchObject({
        title: 'Talk',
        call: position,
        notes: [],
        verification: { isSame: true },
      });
      expect(context.verification.text).toMatch(/^Identical: \d+ messages, sha256:/);
      expect(await json(`${place}/context/${answer}`)).toEqual(context);
    }
    // The calls of one agent, forward and back.
    const first = (await json(`${place}/context/${calls[0]?.position}`)) as ContextAnswer;
    const steps = [first];
    for (let next = first.next; next !== null; next = steps.at(-1)?.next ?? null)
      steps.push((await json(`${place}/context/${next}`)) as ContextAnswer);
    expect(new Set(steps.map(({ agent }) => agent)).size).toBe(1);
    expect(steps.map(({ previous }) => previous)).toEqual([
      null,
      ...steps.slice(0, -1).map(({ call }) => call),
    ]);
  },
);

it('says where the context differs from the recorded one, and where nothing was recorded', async () => {
  const { calls, json } = await talked(4, 7, (turn) =>
    turn === 1 ? 'another hash' : turn === 2 ? 'nothing' : 'manifest',
  );
  const answers = await Promise.all(
    calls.map(async ({ position }) => (await json(`${place}/context/${position}`)) as ContextAnswer),
  );
  expect(answers.map(({ verification }) => verification.isSame)).toEqual([true, false, null, true]);
  expect(answers[1]?.verification.text).toContain('hash: recorded sha256:00, rendered sha256:');
  expect(answers[2]?.verification.text).toContain('so there is nothing to compare');
  expect(answers[2]?.notes).toEqual(['This context was reconstructed from the log.']);
  expect(answers.map(shown)).toEqual(calls.map(({ given }) => given));
});

it('says that secrets were replaced in the log after the call', async () => {
  const { store, dispatch, calls, json } = await talked(3, 7);
  await dispatch.end({ status: 'completed' });
  const read = async () => (await json(`${place}/context/${calls[1]?.position}`)) as ContextAnswer;
  expect(await read()).toMatchObject({ verification: { isSame: true }, notes: [] });
  const redactor = createRedactor({ patterns: { word: 'question \\d' } });
  await store.redactDispatch({ taskDir, dispatchId: 'd1' }, redactor);
  const { verification, notes, lines } = await read();
  expect(verification.isSame).toBe(false);
  expect(notes).toEqual([
    expect.stringMatching(
      /^The context has \d markers? of redaction\. Secrets were replaced in this log later, so a recorded hash can be of the text before\.$/,
    ),
  ]);
  expect(lines.map(({ text }) => text).join()).toContain('[REDACTED:word]');
});

it('pages through messages, cuts long ones, and makes all of them harmless', async () => {
  const { dispatch, json, store } = await talked(0, 1);
  const texts = Array.from({ length: 450 }, (_, at) =>
    at === 449 ? `${'x'.repeat(9_000)}\u202e[REDACTED:aws.1]` : `line ${at}`,
  );
  await dispatch.append(
    texts.map((text): NewEvent => {
      return { type: 'user:message', agentId: 'a1', data: { text, source: { kind: 'user' } } };
    }),
  );
  const own = (await store.getDispatchEvents(taskDir, 'd1')).filter(({ agentId }) => agentId === 'a1');
  const call = await dispatch.count();
  await dispatch.append({
    type: 'agent:inference',
    agentId: 'a1',
    data: {
      model: 'm',
      usage: { inputTokens: 1, outputTokens: 1 },
      durationMs: 5,
      context: renderContext(own).manifest,
    },
  } as unknown as NewEvent);
  const read = async (more: string) => (await json(`${place}/context/${call}${more}`)) as ContextAnswer;
  const last = await read('');
  expect([last.count, last.earlier, last.lines.length]).toEqual([450, 250, 200]);
  expect(last.notes).toEqual([
    'The context has 1 marker of redaction. Its hash is of the redacted text, which the model received.',
  ]);
  const numbers = [last, await read('?end=250'), await read('?end=50')].flatMap(({ lines }) =>
    lines.map(({ number }) => number).toReversed(),
  );
  expect(numbers).toEqual(texts.map((_, at) => at).toReversed());
  expect(last.lines.at(-1)).toMatchObject({ number: 449, isCut: true, text: 'x'.repeat(4_000) });
  expect(await json(`${place}/context/${call}/message/449`)).toEqual({
    text: `${'x'.repeat(9_000)}<U+202E>[REDACTED:aws.1]`,
  });
});

it('refuses what has no context, in words', async () => {
  const { store, calls, get, json } = await talked(2, 3);
  const status = async (path: string) => (await get(`${place}/context/${path}`)).status;
  expect(await Promise.all(['0', '99', 'x', '3/message/9', '3/message/x', '3?end=-1'].map(status))).toEqual([
    404, 404, 400, 404, 400, 400,
  ]);
  expect((await get(`/api/d/${encodeURIComponent(taskDir)}/none/context/1`)).status).toBe(404);
  const narrative = await store.beginDispatch(taskDir, {
    role: 'w',
    dispatchId: 'd2',
    fidelity: 'narrative',
  });
  await narrative.append({
    type: 'agent:inference',
    data: { model: 'm', usage: { inputTokens: 1, outputTokens: 1 }, durationMs: 5 },
  });
  expect(await json(`${place.replace('d1', 'd2')}/context/0`)).toMatchObject({
    verification: { isSame: null, text: expect.stringContaining('was recorded as a narrative') },
    lines: [],
  });
  expect(calls).toHaveLength(2);
});
