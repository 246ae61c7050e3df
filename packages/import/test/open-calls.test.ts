import { appendFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { addParts, LoggedUsage, UsageSums, usageParts, withOpenCalls } from '@hansard/facts';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { importAll, LogFolder, lines } from './logs.ts';

const reports = join(import.meta.dirname, 'fixtures/field-reports');
const task = 'lab/tasks/open';
const model = 'claude-sonnet-4-5-20250929';

/** The envelopes of a folder of a field report, imported at once. */
async function importReport(
  store: DispatchStore,
  name: string,
  folder: LogFolder,
): Promise<DispatchEnvelope[]> {
  cpSync(join(reports, name), folder.path, { recursive: true });
  const items = await importAll(store, [join(folder.path, 'p')]);
  expect(items.map(({ kind }) => kind)).not.toContain('failed');
  const envelopes: DispatchEnvelope[] = [];
  for await (const listed of store.dispatches()) {
    if ('error' in listed) throw listed.error;
    envelopes.push(listed.envelope);
  }
  return envelopes;
}

function totalBy(add: (sums: UsageSums) => void) {
  const sums = new UsageSums();
  add(sums);
  const { modelCalls, inputTokens, outputTokens } = sums.total;
  return { modelCalls, inputTokens, outputTokens };
}

const record = (number: number, fields: object) => ({
  parentUuid: null,
  isSidechain: false,
  cwd: '/srv/shop',
  sessionId: 'session-1',
  uuid: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  timestamp: new Date(Date.parse('2026-03-01T09:30:00.000Z') + number * 1_000).toISOString(),
  ...fields,
});
const asks = (number: number) => record(number, { type: 'user', message: { role: 'user', content: 'go' } });
const answers = (
  number: number,
  message: object,
  usage: object = { input_tokens: 50_000, output_tokens: 400 },
) =>
  record(number, {
    type: 'assistant',
    message: { id: `m${number}`, role: 'assistant', model, stop_reason: null, usage, ...message },
  });
const calls = { content: [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'make' } }] };

describe('a message whose later lines come after those of another one', () => {
  it('is one call, with what its last line says, after each import', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const said = (text: string) => ({ content: [{ type: 'text', text }] });
    const rows = [
      asks(1),
      answers(2, { ...said('One'), id: 'mA' }, { input_tokens: 5, output_tokens: 10 }),
      answers(
        3,
        { ...said('Two'), id: 'mB', stop_reason: 'end_turn' },
        { input_tokens: 7, output_tokens: 1 },
      ),
      answers(
        4,
        { ...said('and'), id: 'mA', stop_reason: 'end_turn' },
        { input_tokens: 5, output_tokens: 30 },
      ),
    ];
    const right = { modelCalls: 2, inputTokens: 12, outputTokens: 31 };
    const path = folder.put('session-1.jsonl', lines(...rows));
    for (const more of [[], [asks(5)]]) {
      appendFileSync(path, lines(...more));
      await importAll(store, [path], { task });
      const [envelope] = await store.getDispatchEnvelopes(task);
      if (envelope === undefined) throw new Error('nothing was imported');
      expect(totalBy((sums) => addParts(sums, usageParts(envelope), (part) => part.model))).toEqual(right);
      const logged = new LoggedUsage(envelope);
      for (const event of await store.getDispatchEvents(task, envelope.dispatchId)) logged.observe(event);
      expect(totalBy((sums) => addParts(sums, logged.parts, (part) => part.model))).toMatchObject(right);
    }
  });
});

describe('the last call of a file that ends in it', () => {
  it('counts in every sum: two sessions that end in a call, and after an interruption (c49)', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const envelopes = await importReport(store, 'c49', folder);
    const right = { modelCalls: 3, inputTokens: 100_010, outputTokens: 801 };
    expect(
      totalBy((sums) =>
        envelopes.map((envelope) => addParts(sums, usageParts(envelope), (part) => part.model)),
      ),
    ).toEqual(right);
    const [open] = envelopes.flatMap(({ openCalls }) => openCalls ?? []);
    expect(open).toMatchObject({
      id: 'mk1:inference',
      messageId: 'mk1',
      timestamp: '2026-11-20T10:00:02.000Z',
      usage: { model, calls: 1, inputTokens: 50_000, outputTokens: 400, pricedAs: expect.any(String) },
    });
  });

  it('counts for each agent of a session that was killed while its sub-agents worked (c50)', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const [envelope] = await importReport(store, 'c50', folder);
    if (envelope === undefined) throw new Error('Nothing was imported.');
    const right = { modelCalls: 4, inputTokens: 40, outputTokens: 20 };
    expect(totalBy((sums) => addParts(sums, usageParts(envelope), (part) => part.model))).toEqual(right);
    expect((envelope.openCalls ?? []).map(({ id, agentId }) => [id, agentId])).toEqual([
      ['q1:inference', undefined],
      ['sbb2b:inference', 'bb2'],
    ]);
    const [taskDir = ''] = (await store.listTasks()).map((listed) => listed.taskDir);
    const events = await store.getDispatchEvents(taskDir, envelope.dispatchId);
    const byAgent = new LoggedUsage(envelope);
    for (const event of events) byAgent.observe(event);
    expect(totalBy((sums) => addParts(sums, byAgent.parts, ({ agent }) => agent))).toEqual(right);
  });

  it('becomes an event when the file grows, and is then no open call', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const path = folder.put('s.jsonl', lines(asks(1), answers(2, calls)));
    const state = async () => {
      await importAll(store, [path], { task });
      const [envelope] = await store.getDispatchEnvelopes(task);
      if (envelope === undefined) throw new Error('Nothing was imported.');
      const events = await store.getDispatchEvents(task, envelope.dispatchId);
      return {
        open: (envelope.openCalls ?? []).map(({ id }) => id),
        inferences: events.flatMap(({ id, type }) => (type === 'agent:inference' ? id : [])),
        counted: totalBy((sums) => addParts(sums, usageParts(envelope), (part) => part.model)),
        usage: withOpenCalls(envelope).usage,
      };
    };
    const usage = { inputTokens: 50_000, outputTokens: 400 };
    const one = { counted: { modelCalls: 1, ...usage }, usage };
    expect(await state()).toEqual({ open: ['m2:inference'], inferences: [], ...one });
    appendFileSync(path, lines(asks(3)));
    expect(await state()).toEqual({ open: [], inferences: ['m2:inference'], ...one });
    appendFileSync(
      path,
      lines(answers(4, { content: [{ type: 'text', text: 'half' }] }, { input_tokens: 1, output_tokens: 2 })),
    );
    expect(await state()).toMatchObject({
      open: ['m4:inference'],
      counted: { modelCalls: 2, inputTokens: 50_001, outputTokens: 402 },
    });
  });

  it('counts once where an import was cut off after the event and before the envelope', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const path = folder.put('s.jsonl', lines(asks(1), answers(2, calls)));
    await importAll(store, [path], { task });
    const before = (await store.getDispatchEnvelopes(task))[0];
    appendFileSync(path, lines(asks(3)));
    await importAll(store, [path], { task });
    const [after] = await store.getDispatchEnvelopes(task);
    if (before === undefined || after === undefined) throw new Error('Nothing was imported.');
    const events = await store.getDispatchEvents(task, after.dispatchId);
    const byAgent = new LoggedUsage(before);
    for (const event of events) byAgent.observe(event);
    expect(totalBy((sums) => addParts(sums, byAgent.parts, ({ agent }) => agent))).toMatchObject({
      modelCalls: 1,
      inputTokens: 50_000,
    });
    expect(totalBy((sums) => addParts(sums, usageParts(before), (part) => part.model))).toMatchObject({
      modelCalls: 1,
      inputTokens: 50_000,
    });
  });

  it('keeps its event where an older copy ends in it', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const whole = lines(asks(1), answers(2, calls), asks(3));
    const path = folder.put('s.jsonl', whole);
    await importAll(store, [path], { task });
    const counted = async () => {
      const [envelope] = await store.getDispatchEnvelopes(task);
      return totalBy(
        (sums) => envelope !== undefined && addParts(sums, usageParts(envelope), (part) => part.model),
      );
    };
    const right = await counted();
    folder.put('s.jsonl', lines(asks(1), answers(2, calls)));
    await importAll(store, [path], { task });
    expect(await counted()).toEqual(right);
    // A copy that lacks the prompt, and has another record.
    folder.put(
      's.jsonl',
      lines(
        asks(1),
        answers(2, calls),
        record(9, { type: 'system', subtype: 'informational', content: 'x' }),
      ),
    );
    await importAll(store, [path], { task });
    expect(await counted()).toEqual(right);
    expect((await store.getDispatchEnvelopes(task))[0]?.openCalls).toBeNull();
  });

  it.each([
    ['negative', { input_tokens: -1, output_tokens: 5 }],
    ['too large', { input_tokens: 1e300, output_tokens: 5 }],
    ['a text', { input_tokens: '5', output_tokens: 5 }],
    ['absent', undefined],
  ])('adds nothing where its usage is %s', async (_, usage) => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const path = folder.put('s.jsonl', lines(asks(1), answers(2, { ...calls, usage })));
    await importAll(store, [path], { task });
    const [envelope] = await store.getDispatchEnvelopes(task);
    expect(envelope).toMatchObject({ openCalls: null, usage: null, models: null });
  });

  it('has an id of its own where its message has none, or one that is too long', async () => {
    using folder = new LogFolder();
    for (const id of [undefined, 'm'.repeat(128)]) {
      await using store = openDispatchStore(createMemoryStore());
      const path = folder.put('s.jsonl', lines(asks(1), answers(2, { ...calls, id })));
      await importAll(store, [path], { task });
      const [before] = await store.getDispatchEnvelopes(task);
      appendFileSync(path, lines(asks(3)));
      await importAll(store, [path], { task });
      const [after] = await store.getDispatchEnvelopes(task);
      const events = await store.getDispatchEvents(task, after?.dispatchId ?? '');
      const inferences = events.filter(({ type }) => type === 'agent:inference').map((event) => event.id);
      expect(before?.openCalls?.map((call) => call.id)).toEqual(inferences);
      expect(inferences).toHaveLength(1);
      expect(after?.openCalls).toBeNull();
    }
  });
});
