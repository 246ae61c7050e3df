import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { type JsonValue, newEvent } from '@hansard/events';
import { redactDispatches, type ScanItem, scanSecrets } from '@hansard/maintenance';
import { createRedactor } from '@hansard/redaction';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { expect, it, onTestFinished } from 'vitest';

const seed = 23;
const random = randomFrom(seed);
const patterns = { canary: 'canary-[a-z0-9]{8}' };
const redactor = createRedactor({ patterns });

async function collect(items: AsyncIterable<ScanItem>): Promise<ScanItem[]> {
  const all: ScanItem[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function memoryStore() {
  const store = openDispatchStore(createMemoryStore());
  onTestFinished(() => store.close());
  return store;
}

it(`each planted secret is found at its address, and nothing else is (seed ${seed})`, async () => {
  const store = memoryStore();
  const planted: string[] = [];
  const secrets: string[] = [];
  const secret = () => {
    const one = `canary-${Math.floor(random() * 36 ** 8)
      .toString(36)
      .padStart(8, '0')}`;
    secrets.push(one);
    return one;
  };
  for (const taskDir of ['lab/tasks/one', 'lab/tasks/two']) {
    for (const dispatchId of ['A', 'B', 'C']) {
      const dispatch = await store.beginDispatch(taskDir, {
        role: 'worker',
        fidelity: 'full',
        dispatchId,
        title: `title ${secret()}`,
      });
      planted.push(`${taskDir} ${dispatchId} null null /title canary 1`);
      const events = Array.from({ length: 1_200 }, (_, position) => {
        const place = (field: string, kind: string, count = 1) =>
          planted.push(`${taskDir} ${dispatchId} ${position} agent:tool_call ${field} ${kind} ${count}`);
        const input: Record<string, JsonValue> = { command: 'ls', 'a/b~c': ['x', 'y'] };
        const where = Math.floor(random() * 100);
        if (where === 0) {
          input.command = `echo ${secret()} ${secret()}`;
          place('/data/input/command', 'canary', 2);
        } else if (where === 1) {
          input['a/b~c'] = ['x', secret()];
          place('/data/input/a~1b~0c/1', 'canary');
        } else if (where === 2) {
          input[secret()] = 'as a key';
          place('/data/input', 'canary');
        } else if (where === 3) {
          const value = 'k3Jx9vQ2mZ7w';
          secrets.push(value);
          input.password = value;
          place('/data/input/password', 'secret-value');
        }
        return newEvent('agent:tool_call', { toolCallId: `t${position}`, tool: 'bash', metadata: {}, input });
      });
      await dispatch.append(events);
      await dispatch.end({ status: 'completed' });
    }
  }
  const items = await collect(scanSecrets(store, redactor));
  const found = items.flatMap(({ secret: one }) =>
    one === undefined
      ? []
      : `${one.taskDir} ${one.dispatchId} ${one.position} ${one.type} ${one.field} ${one.kind} ${one.count}`,
  );
  expect(found.sort()).toEqual(planted.sort());
  expect(found.length).toBeGreaterThan(150);
  const text = JSON.stringify(items);
  expect(secrets.filter((one) => text.includes(one))).toEqual([]);
  expect(items.reduce((sum, { read = 0 }) => sum + read, 0)).toBe(6 * 1_200);
  expect(items.flatMap(({ scanned }) => (scanned === undefined ? [] : scanned.events))).toEqual(
    Array(6).fill(1_200),
  );
});

it('only the task or the dispatch that is named is scanned, and a signal ends the scan', async () => {
  const store = memoryStore();
  for (const [taskDir, dispatchId] of [
    ['lab/tasks/one', 'A'],
    ['lab/tasks/one', 'B'],
    ['lab/tasks/two', 'C'],
  ] as const) {
    const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId });
    await dispatch.append(newEvent('agent:text', { text: 'canary-00000000' }));
    await dispatch.end({ status: 'completed' });
  }
  const idsIn = async (scope: Parameters<typeof scanSecrets>[2]) =>
    (await collect(scanSecrets(store, redactor, scope)))
      .flatMap(({ secret }) => secret?.dispatchId ?? [])
      .sort();
  expect(await idsIn({})).toEqual(['A', 'B', 'C']);
  expect(await idsIn({ taskDir: 'lab/tasks/one' })).toEqual(['A', 'B']);
  expect(await idsIn({ taskDir: 'lab/tasks/one', dispatchId: 'B' })).toEqual(['B']);
  await expect(idsIn({ taskDir: 'lab/tasks/one', dispatchId: 'NONE' })).rejects.toMatchObject({
    code: 'STORE_DISPATCH_NOT_FOUND',
  });
  await expect(idsIn({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
});

it.each(['memory', 'jsonfile'] as const)(
  'a secret in a letter is found beside the event that repeats it, and both are replaced with the session (%s)',
  async (kind) => {
    const root = mkdtempSync(join(tmpdir(), 'hansard-letters-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const store = openDispatchStore(kind === 'memory' ? createMemoryStore() : openJsonFileStore({ root }));
    onTestFinished(() => store.close());
    const place = { taskDir: 'lab/tasks/one', dispatchId: 'A' };
    const dispatch = await store.beginDispatch(place.taskDir, {
      role: 'worker',
      dispatchId: 'A',
      title: 'A',
    });
    const sent = await store.sendLetter(place, { text: 'canary-00000001', agentId: 'canary-agentid0' });
    const source = { kind: 'user' } as const;
    await dispatch.append(newEvent('user:message', { text: 'canary-00000001', source }, { id: sent.from }));
    await store.sendLetter(place, { text: 'canary-00000002' });
    await store.sendLetter(place, { text: 'Nothing.' });
    await dispatch.end({ status: 'completed' });
    const placesOf = (items: readonly ScanItem[]) =>
      items.flatMap(({ secret }) => {
        if (secret === undefined) return [];
        const { taskDir, dispatchId, position, letterId, field, isKept } = secret;
        return [`${taskDir} ${dispatchId} ${position ?? letterId} ${field}${isKept ? ' stays' : ''}`];
      });
    const letterIds = new Set<string>();
    for await (const { letterId } of store.readLetters()) letterIds.add(String(letterId));
    const other = [...letterIds].sort()[1];
    const stays = `lab/tasks/one A ${sent.from} /letter/agentId stays`;
    const expected = [
      'lab/tasks/one A 0 /data/text',
      `lab/tasks/one A ${sent.from} /letter/text`,
      stays,
      `lab/tasks/one A ${other} /letter/text`,
    ].sort();
    expect(placesOf(await collect(scanSecrets(store, redactor))).sort()).toEqual(expected);
    const ofOne = await collect(scanSecrets(store, redactor, place));
    expect(placesOf(ofOne).sort()).toEqual(expected);
    expect(ofOne.filter(({ scannedLetter }) => scannedLetter?.error === null)).toHaveLength(3);
    for await (const { redaction, kept } of redactDispatches(store, redactor))
      expect([redaction?.letters, redaction?.events, kept]).toEqual([2, 1, { canary: 1 }]);
    await store.removeRemains();
    expect(placesOf(await collect(scanSecrets(store, redactor)))).toEqual([stays]);
    const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    for (const file of files) {
      const bytes = readFileSync(join(file.parentPath, file.name), 'latin1');
      expect(bytes.match(/canary-0000000\d/)?.[0], file.name).toBeUndefined();
    }
  },
);
