import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCommunicationHub, openDispatchStore } from '@hansard/dispatch';
import { writeSessionV2 } from '@hansard/formats';
import { contractVersion, requiredMethods } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { canaryGame, canaryMapping } from '@hansard/testing';
import { expect, it } from 'vitest';
import plugin from '../src/index.ts';

const manifest = JSON.parse(readFileSync(new URL('../plugin.json', import.meta.url), 'utf8'));
const signal = new AbortController().signal;

it('is the plugin that its manifest describes', async () => {
  expect(manifest).toMatchObject({
    id: plugin.id,
    provides: plugin.provides,
    entry: './dist/index.js',
    apiVersion: contractVersion,
    configSchema: {
      additionalProperties: false,
      anyOf: [{ required: ['mapping'] }, { required: ['sessionLogs'] }],
    },
  });
  const provider = await plugin.create({ mapping: canaryMapping }, { baseDir: '/', signal });
  expect(requiredMethods.CommunicationProvider.filter((name) => !(name in provider))).toEqual([]);
});

it('refuses a mapping that is none, before anything runs', () => {
  const wrong = { ...canaryMapping, speech: {} };
  expect(() => plugin.create({ mapping: wrong }, { baseDir: '/', signal })).toThrow(
    expect.objectContaining({ code: 'FORMAT_MAPPING_INVALID' }),
  );
});

it('writes every event of a dispatch, however many notices the hub drops', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-comm-streams-'));
  await using store = openDispatchStore(createMemoryStore());
  const problems: unknown[] = [];
  const provider = await plugin.create(
    { folder: 'live', mapping: canaryMapping },
    { baseDir: folder, signal },
  );
  await using hub = createCommunicationHub([provider], {
    store,
    queueLimit: 1,
    onProblem: (one) => problems.push(one),
  });
  await hub.start();
  const dispatch = await store.beginDispatch(
    'village/tasks/game',
    { role: 'game', fidelity: 'full' },
    { communication: hub },
  );
  hub.dispatchStarted({ taskDir: 'village/tasks/game', envelope: dispatch.envelope });
  const { events } = canaryGame(7);
  await dispatch.append(events);
  await dispatch.end({ status: 'completed' });
  hub.dispatchEnded({ taskDir: 'village/tasks/game', envelope: dispatch.envelope });
  await hub.close();
  const thoughts = readFileSync(
    join(folder, 'live/village/tasks/game', dispatch.dispatchId, 'agent_reasoning.jsonl'),
    'utf8',
  );
  const calls = events.filter(({ type }) => type === 'agent:thinking').length;
  expect([problems.length > 0, thoughts.trimEnd().split('\n').length]).toEqual([true, calls]);
  rmSync(folder, { recursive: true });
});

it('writes on what it can, if a file is of another log, and reports it once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-comm-streams-'));
  await using store = openDispatchStore(createMemoryStore());
  const problems: unknown[] = [];
  const provider = await plugin.create(
    { folder: 'live', sessionLogs: ['session-v1', 'session-v2'] },
    { baseDir: folder, signal },
  );
  await using hub = createCommunicationHub([provider], { store, onProblem: (one) => problems.push(one) });
  await hub.start();
  const dispatch = await store.beginDispatch(
    'village/tasks/game',
    { role: 'game', fidelity: 'full' },
    { communication: hub },
  );
  const place = join(folder, 'live/village/tasks/game', dispatch.dispatchId);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'session-v1.jsonl'), '{"another":"log"}\n');
  const { events } = canaryGame(7);
  await dispatch.append(events);
  await dispatch.end({ status: 'completed' });
  await hub.close();
  expect(problems).toMatchObject([{ kind: 'call_failed', error: { code: 'FORMAT_FILE_DIFFERS' } }]);
  expect(readFileSync(join(place, 'session-v1.jsonl'), 'utf8')).toBe('{"another":"log"}\n');
  expect(readFileSync(join(place, 'session-v2.jsonl'), 'utf8')).toBe(writeSessionV2(events).text);
  rmSync(folder, { recursive: true });
});
