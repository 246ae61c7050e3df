import { createReplayAgent } from '@hansard/agent-claude';
import { type DispatchRun, startDispatch } from '@hansard/dispatch';
import { definedOnly } from '@hansard/events';
import { dispatchTree, renderDispatchTree, renderSessionView } from '@hansard/views';
import type { Harness } from '../harness.ts';
import { toTaskName } from '../tasks/task-name.ts';
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

/** Plays an analyst and its two workers into the log, and prints their tree and one session. Returns the analyst's run. */
export async function playStreams(scene: StreamsScene): Promise<DispatchRun> {
  const { harness, taskDir, say } = scene;
  const { store, communication } = harness;
  const task = toTaskName(taskDir);
  say(
    'Three recorded streams of the Claude Agent SDK, played into the log with the times of the recording: an',
  );
  say('analyst asks its tester, while two workers write and review.\n');
  const analyst = await start(scene, 'product-analyst', 'subagent.jsonl');
  const started = [analyst];
  for (const { role, stream } of workers) started.push(await start(scene, role, stream, analyst.dispatchId));
  await Promise.all(started.map(({ ended }) => ended));
  await communication.close();

  say(`\nThe sessions with their workers and costs (hansard tree ${task}):\n`);
  say(renderDispatchTree(dispatchTree(await store.getDispatchEnvelopes(taskDir))));
  const reviewer = started.at(-1) ?? analyst;
  say(`\nThe reviewer's session (hansard show ${reviewer.dispatchId.slice(-8)}):\n`);
  say(await renderSessionView(store, taskDir, reviewer.dispatchId));
  return analyst;
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
