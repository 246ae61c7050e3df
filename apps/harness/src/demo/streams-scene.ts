import { createReplayAgent } from '@hansard/agent-claude';
import type { Harness } from '@hansard/compose';
import { type DispatchRun, startDispatch } from '@hansard/dispatch';
import { definedOnly } from '@hansard/events';
import { formatCost } from '@hansard/facts';
import { demoFile } from './demo-file.ts';

/** Prints a line of a scene. */
export type Say = (line?: string) => void;

const workers = [
  { role: 'ts-dev', stream: 'tools-and-thinking.jsonl' },
  { role: 'reviewer', stream: 'hook-deny.jsonl' },
] as const;

export interface StreamsScene {
  readonly harness: Harness;
  readonly taskDir: string;
  readonly delayMs: number;
  readonly signal: AbortSignal;
  readonly say: Say;
}

/** Plays an analyst and its two workers into the log, and prints a line for each. Returns the run of the last worker. */
export async function playStreams(scene: StreamsScene): Promise<DispatchRun> {
  const analyst = await start(scene, 'product-analyst', 'subagent.jsonl');
  const started = [{ role: 'product-analyst', run: analyst }];
  for (const { role, stream } of workers)
    started.push({ role, run: await start(scene, role, stream, analyst.dispatchId) });
  for (const { role, run } of started) {
    const { status, cost } = await run.ended;
    scene.say(`  ${role.padEnd(15)}  ${status}, ${cost === null ? 'cost not recorded' : formatCost(cost)}`);
  }
  return started.at(-1)?.run ?? analyst;
}

function start(
  { harness: { store, communication }, taskDir, delayMs, signal }: StreamsScene,
  role: string,
  stream: string,
  parentDispatchId?: string,
): Promise<DispatchRun> {
  return startDispatch({
    store,
    communication,
    taskDir,
    role,
    signal,
    agent: createReplayAgent({ path: demoFile(stream), delayMs }),
    ...definedOnly({ parentDispatchId }),
  });
}
