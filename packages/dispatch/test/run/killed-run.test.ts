import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeAbandonedDispatches, openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { describe, expect, it, onTestFinished } from 'vitest';
import { statedBy, statedIn } from './stated-totals.ts';

const taskDir = 'lab/tasks/route-models';

/** What the next start finds of a run whose process was killed between its last event and its envelope. */
async function afterKill(ending: 'complete' | 'abort' | 'error' | 'calls') {
  const root = mkdtempSync(join(tmpdir(), 'hansard-killed-run-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const script = join(import.meta.dirname, 'run-until-killed.ts');
  const killed = spawnSync(
    process.execPath,
    ['--conditions=@hansard/source', script, root, taskDir, ending],
    { encoding: 'utf8' },
  );
  expect(killed).toMatchObject({ signal: 'SIGKILL', stderr: '' });
  const store = openDispatchStore(openJsonFileStore({ root }));
  onTestFinished(() => store.close());
  const left = await store.getDispatchEvents(taskDir, 'D1');
  expect(await store.getDispatchEnvelope(taskDir, 'D1')).toMatchObject({ status: 'running' });
  await closeAbandonedDispatches(store, taskDir);
  return {
    left,
    events: await store.getDispatchEvents(taskDir, 'D1'),
    envelope: await store.getDispatchEnvelope(taskDir, 'D1'),
  };
}

describe('a run whose process was killed before its envelope was complete', () => {
  it('has ended as its log says, with its cost and its result', async () => {
    const { left, events, envelope } = await afterKill('complete');
    expect(envelope).toMatchObject({
      status: 'completed',
      completedAt: left.at(-1)?.timestamp,
      cost: 0.25,
      usage: { inputTokens: 10, outputTokens: 2, turns: 3 },
      structuredResult: { route: 'north' },
    });
    expect(events).toEqual(left);
  });

  it('was aborted where its log says so', async () => {
    const { left, events, envelope } = await afterKill('abort');
    expect(left.at(-1)).toMatchObject({ type: 'harness:abort', data: { by: 'product-analyst' } });
    expect(envelope).toMatchObject({ status: 'aborted', completedAt: left.at(-1)?.timestamp });
    expect(events).toEqual(left);
  });

  it('that was killed between two model calls has cost what those in its log state, those of sub-agents included', async () => {
    const { events, envelope } = await afterKill('calls');
    expect(envelope).toMatchObject({ status: 'crashed', cost: 0.75 });
    expect(statedBy(envelope ?? { cost: null, usage: null })).toEqual(statedIn(events));
  });

  it('has crashed where its log ends with an error', async () => {
    const { envelope, events } = await afterKill('error');
    expect(envelope).toMatchObject({ status: 'crashed' });
    expect(events[1]).toMatchObject({ type: 'harness:error', data: { message: 'lost my way' } });
  });
});
