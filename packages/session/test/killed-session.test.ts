import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeAbandonedDispatches } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { describe, expect, it, onTestFinished } from 'vitest';
import { dispatchId, prepare, taskDir } from './prepare.ts';
import { answers, says } from './scripted.ts';

/** A store with a session whose process was killed between its `session:complete` and its envelope. */
function endedAndKilled(status: 'completed' | 'aborted') {
  const root = mkdtempSync(join(tmpdir(), 'hansard-killed-session-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const script = join(import.meta.dirname, 'end-until-killed.ts');
  const args = ['--conditions=@hansard/source', script, root, taskDir, dispatchId, status];
  expect(spawnSync(process.execPath, args, { encoding: 'utf8' })).toMatchObject({
    signal: 'SIGKILL',
    stderr: '',
  });
  const prepared = prepare(openJsonFileStore({ root }));
  onTestFinished(() => prepared.store.close());
  return prepared;
}

describe('a session whose process was killed before its envelope was complete', () => {
  it.each(['completed', 'aborted'] as const)(
    'is %s, as its log says, and can be resumed like any other',
    async (status) => {
      const { store, envelope, events, load } = endedAndKilled(status);
      expect(await envelope()).toMatchObject({ status: 'running', cost: null });
      const left = await events();
      const [closed] = await closeAbandonedDispatches(store, taskDir);
      expect(closed).toMatchObject({
        status,
        completedAt: left.at(-1)?.timestamp,
        cost: 0.5,
        usage: { inputTokens: 10, outputTokens: 2, turns: 1 },
      });
      expect(await envelope()).toEqual(closed);
      expect(await events()).toEqual(left);

      const { root, session } = await load({ model: answers(says('Twice.', { costUsd: 0.25 })) });
      await root.harken('How often?');
      expect(String(await root.response())).toBe('Twice.');
      await session.close();
      expect(await envelope()).toMatchObject({ status: 'completed', cost: 0.75 });
    },
  );
});
