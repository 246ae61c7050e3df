import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type DispatchRun,
  openDispatchStore,
  type RunDispatchOptions,
  startDispatch,
} from '@hansard/dispatch';
import type {
  AgentActivity,
  AgentRunRequest,
  DispatchHost,
  DispatchStoreProvider,
  NewWorker,
} from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { ManualClock } from '@hansard/testing';
import { onTestFinished } from 'vitest';
import { type Gate, turn } from '../support/gate.ts';
import { agent, says, stopped } from '../support/scripted-agent.ts';
import { done, tools, use } from '../tools/scripted-tools.ts';

export const taskDir = 'lab/tasks/route-models';

export type Script = (request: AgentRunRequest, host: DispatchHost) => AsyncIterable<AgentActivity>;

/** Agents who do what the script of their role says, each with the host of its workers. */
export function prepare(
  scripts: Readonly<Record<string, Script>>,
  provider: DispatchStoreProvider = createMemoryStore(),
) {
  const clock = new ManualClock();
  const store = openDispatchStore(provider, { clock });
  const hosts = new Map<string, DispatchHost>();
  const giveHost = tools({
    host({ dispatches, dispatchId }) {
      if (dispatches !== undefined) hosts.set(dispatchId, dispatches);
      return done('');
    },
  });
  const byRole = agent(async function* (request) {
    await use(request, 'host');
    yield* scripts[request.role]?.(request, hosts.get(request.dispatchId) as DispatchHost) ?? [];
  });
  const alone = { store, taskDir, clock, role: 'lead', dispatchId: 'LEAD', agent: byRole, tools: [giveHost] };
  const start = (more: Partial<RunDispatchOptions> = {}) => startDispatch({ ...alone, workers: {}, ...more });
  const envelopes = async () =>
    Object.fromEntries((await store.getDispatchEnvelopes(taskDir)).map((one) => [one.role, one]));
  const statuses = async () =>
    Object.fromEntries(Object.entries(await envelopes()).map(([role, { status }]) => [role, status]));
  const log = async (role: string) =>
    store.getDispatchEvents(taskDir, (await envelopes())[role]?.dispatchId ?? '');
  return { clock, store, alone, start, envelopes, statuses, log };
}

export const worker = (role: string, more: Partial<NewWorker> = {}): NewWorker => ({
  role,
  prompt: `Be ${role}.`,
  ...more,
});

/** Starts workers and ends. */
export const starts = (...roles: string[]): Script =>
  async function* (_request, host) {
    for (const role of roles) await host.startWorker(worker(role));
    yield says('started');
  };

/** Starts workers, then continues until it is stopped. */
export const staysWith = (...roles: string[]): Script =>
  async function* (request, host) {
    for (const role of roles) await host.startWorker(worker(role));
    yield says('working');
    await stopped(request);
  };

export const waits = (gate: Gate): Script =>
  async function* () {
    yield says('working');
    await gate.opened;
    yield says('done');
  };

export async function settled(run: DispatchRun): Promise<boolean> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  run.ended.then(settle, settle);
  for (let count = 0; count < 10; count += 1) await turn();
  return isSettled;
}

export const stores: readonly (readonly [string, () => Promise<DispatchStoreProvider>])[] = [
  ['memory', async () => createMemoryStore()],
  [
    'jsonfile',
    async () => {
      const root = await mkdtemp(join(tmpdir(), 'hansard-workers-'));
      onTestFinished(() => rm(root, { recursive: true, force: true }));
      return openJsonFileStore({ root });
    },
  ],
];
