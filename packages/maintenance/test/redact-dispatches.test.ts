import { type DispatchLog, openDispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, type JsonValue, newEvent, replacedBy } from '@hansard/events';
import { type RedactedDispatch, redactDispatches, redactTasks, scanSecrets } from '@hansard/maintenance';
import { createRedactor } from '@hansard/redaction';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { expect, it, onTestFinished } from 'vitest';

const redactor = createRedactor({ patterns: { canary: 'canary-[a-z0-9]{8}' } });

async function collect(items: AsyncIterable<RedactedDispatch>): Promise<RedactedDispatch[]> {
  const all: RedactedDispatch[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function eventsOf(log: DispatchLog): Promise<CapturedEvent[]> {
  const events: CapturedEvent[] = [];
  for await (const { event } of log.events()) events.push(event);
  return events;
}

function memoryStore() {
  const store = openDispatchStore(createMemoryStore());
  onTestFinished(() => store.close());
  return store;
}

/** A random value in which canaries are counted. */
function valueWith(random: () => number, planted: () => string): JsonValue {
  const choice = random();
  if (choice < 0.2) return `before ${planted()} after`;
  if (choice < 0.3) return { [planted()]: 1 };
  if (choice < 0.4) return [1, [planted(), planted()]];
  return choice < 0.7 ? 'plain' : { deep: { deeper: 'plain', list: [null, true, 0.5] } };
}

it.each([1, 2, 3, 4, 5])(
  'replaces each secret of a random log, and keeps everything else (seed %s)',
  async (seed) => {
    const random = randomFrom(seed);
    let canaries = 0;
    const planted = () => {
      canaries += 1;
      return `canary-${String(canaries).padStart(8, '0')}`;
    };
    const store = memoryStore();
    const ref = { taskDir: 'lab/tasks/one', dispatchId: 'A' };
    const title = random() < 0.5 ? `Deploy ${planted()}` : 'Deploy';
    const dispatch = await store.beginDispatch(ref.taskDir, {
      role: 'worker',
      fidelity: 'full',
      dispatchId: ref.dispatchId,
      title,
    });
    const events = Array.from({ length: 1_500 }, (_, at) =>
      random() < 0.05
        ? newEvent('agent:tool_call', {
            tool: 'Bash',
            toolCallId: `c${at}`,
            metadata: {},
            input: { command: valueWith(random, planted) },
          })
        : newEvent('agent:text', { text: `text ${at}` }),
    );
    await dispatch.append(events);
    await dispatch.end({ status: 'completed' });
    const before = await eventsOf(dispatch);

    const [answer, ...more] = await collect(redactDispatches(store, redactor, ref));
    expect(more).toEqual([]);
    expect(answer?.error).toBeNull();
    expect(answer?.redaction?.counts).toEqual({ canary: canaries });
    expect(answer?.redaction?.hasEnvelope).toBe(title !== 'Deploy');

    const log = await store.openDispatch(ref);
    const after = await eventsOf(log);
    const notice = after.at(-1) as CapturedEvent;
    expect(replacedBy(notice)).toEqual({ canary: canaries });
    expect(JSON.stringify([log.envelope, after])).not.toMatch(/canary-/);
    const plain = (event: CapturedEvent) => ({ ...event, data: null });
    expect(after.slice(0, -1).map(plain)).toEqual(before.map(plain));
    // What had no secret is as it was, with the order of its keys.
    let changed = 0;
    for (const [at, event] of before.entries()) {
      if (JSON.stringify(event).includes('canary-')) changed += 1;
      else expect(JSON.stringify(after[at])).toBe(JSON.stringify(event));
    }
    expect(answer?.redaction?.events).toBe(changed);
    expect(changed).toBeGreaterThan(10);

    // Again there is nothing to replace, and nothing changes.
    const [again] = await collect(redactDispatches(store, redactor, ref));
    expect(again?.redaction).toEqual({
      counts: {},
      events: 0,
      hasEnvelope: false,
      letters: 0,
      remains: [],
      unread: [],
    });
    expect(await eventsOf(log)).toEqual(after);
  },
);

it('skips what is running or written, and continues with the next one', async () => {
  const store = memoryStore();
  const begin = (dispatchId: string) => store.beginDispatch('lab/tasks/one', { role: 'worker', dispatchId });
  const secret = newEvent('agent:text', { text: 'canary-00000001' });
  const running = await begin('A');
  await running.append(secret);
  const left = await begin('B');
  await left.append(secret);
  await left.release();
  const ended = await begin('C');
  await ended.append(secret);
  await ended.end({ status: 'completed' });
  const answers = await collect(redactDispatches(store, redactor));
  expect(
    answers.map(({ dispatchId, redaction, error }) => [dispatchId, redaction?.events, error?.code]),
  ).toEqual([
    ['A', undefined, 'STORE_LOCKED'],
    ['B', undefined, 'STORE_LOCKED'],
    ['C', 1, undefined],
  ]);
  for (const dispatchId of ['A', 'B']) {
    const log = await store.openDispatch({ taskDir: 'lab/tasks/one', dispatchId });
    expect(JSON.stringify(await eventsOf(log))).toContain('canary-00000001');
  }
  await expect(
    collect(redactDispatches(store, redactor, { taskDir: 'lab/tasks/one', dispatchId: 'none' })),
  ).rejects.toMatchObject({ code: 'STORE_DISPATCH_NOT_FOUND' });
});

it('finds and replaces the secrets of task records, of one task or of all', async () => {
  const store = memoryStore();
  const created = '2026-03-01T10:00:00.000Z';
  const record = (slug: string, name: string) => ({ slug, name, project: 'lab', status: 'open', created });
  await store.putTask('lab/tasks/one', record('one', 'Deploy canary-00000001 with canary-00000002'));
  await store.putTask('lab/tasks/two', record('two', 'Deploy canary-00000003'));
  await store.putTask('lab/tasks/three', record('three', 'Deploy'));
  const found = async (scope: { readonly taskDir?: string } = {}) => {
    const places: string[] = [];
    for await (const { secret } of scanSecrets(store, redactor, scope))
      if (secret !== undefined)
        places.push(
          `${secret.taskDir} ${secret.dispatchId} ${secret.position} ${secret.field} ${secret.count}`,
        );
    return places;
  };
  expect(await found()).toEqual(['lab/tasks/one null null /name 2', 'lab/tasks/two null null /name 1']);
  expect(await found({ taskDir: 'lab/tasks/two' })).toEqual(['lab/tasks/two null null /name 1']);
  const replaced = async (scope: { readonly taskDir?: string } = {}) => {
    const tasks = [];
    for await (const task of redactTasks(store, redactor, scope)) tasks.push(task);
    return tasks;
  };
  expect(await replaced({ taskDir: 'lab/tasks/one' })).toEqual([
    { taskDir: 'lab/tasks/one', counts: { canary: 2 }, kept: {}, error: null },
  ]);
  expect(await found()).toEqual(['lab/tasks/two null null /name 1']);
  expect(await replaced()).toEqual([
    { taskDir: 'lab/tasks/two', counts: { canary: 1 }, kept: {}, error: null },
  ]);
  expect(await found()).toEqual([]);
  expect(await store.findTask('lab/tasks/one')).toEqual(
    record('one', 'Deploy [REDACTED:canary] with [REDACTED:canary]'),
  );
  expect(await store.findTask('lab/tasks/three')).toEqual(record('three', 'Deploy'));
});
