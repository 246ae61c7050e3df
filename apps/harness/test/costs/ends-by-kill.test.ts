import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeAbandonedDispatches, openDispatchStore } from '@hansard/dispatch';
import { openSession } from '@hansard/session';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { randomFrom } from '@hansard/testing';
import { expect, it, onTestFinished } from 'vitest';
import { expectAgreement } from './expect-agreement.ts';
import { sessionOptions } from './scripted-session.ts';
import { logsOf } from './spending-oracle.ts';

const taskDir = 'lab/tasks/route-models';
const seed = Number(process.env.HANSARD_SEED ?? 12);

it('runs and sessions of a killed process have spent the sum of their events, at the next start and after a resume', async () => {
  const root = mkdtempSync(join(tmpdir(), 'hansard-killed-costs-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const script = join(import.meta.dirname, 'spend-until-killed.ts');
  const args = ['--conditions=@hansard/source', script, root, taskDir, String(seed)];
  const killed = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(killed).toMatchObject({ signal: 'SIGKILL', stderr: '' });

  const store = openDispatchStore(openJsonFileStore({ root }));
  onTestFinished(() => store.close());
  const before = await store.getDispatchEnvelopes(taskDir);
  expect(before.map(({ status, cost, usage }) => ({ status, cost, usage }))).toEqual(
    Array(12).fill({ status: 'running', cost: null, usage: null }),
  );
  const closed = await closeAbandonedDispatches(store, taskDir);
  expect(closed).toHaveLength(12);
  expect(await expectAgreement(store, taskDir, `HANSARD_SEED=${seed}`)).toBe(12 * 6);
  const spent = (await logsOf(store, taskDir)).filter(({ envelope }) => (envelope.cost ?? 0) > 0);
  expect(spent.length).toBeGreaterThan(4);

  const session = await openSession(sessionOptions(store, taskDir, 'S0', randomFrom(seed)));
  await session.root.response();
  await session.close();
  await expectAgreement(store, taskDir, `resumed, HANSARD_SEED=${seed}`);
});
