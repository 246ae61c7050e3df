import { fileURLToPath } from 'node:url';
import { createReplayAgent } from '@hansard/agent-claude';
import { type DispatchRun, startDispatch } from '@hansard/dispatch';
import { toTimestamp } from '@hansard/events';
import { dispatchTree, renderDispatchTree } from '@hansard/views';
import type { AddCommand } from '../command.ts';
import { printLine } from '../context.ts';
import { ensureTask } from '../ensure-task.ts';
import { type Harness, openHarness } from '../harness.ts';
import { toTaskName } from '../task-name.ts';

interface DemoOptions {
  readonly config?: string;
  readonly delay: number;
}

const workers = [
  { role: 'ts-dev', stream: 'tools-and-thinking.jsonl' },
  { role: 'reviewer', stream: 'hook-deny.jsonl' },
] as const;

export const addDemo: AddCommand = (program, context) => {
  program
    .command('demo')
    .description('record a small task from real agent streams, and show what can be seen of it')
    .option('--config <file>', 'the configuration to use (default: hansard.config.json, or none)')
    .option('--delay <ms>', 'wait that long before each message', Number, 110)
    .addHelpText('after', '\nExample:\n  hansard demo')
    .action(async (options: DemoOptions) => {
      const harness = await openHarness(context, { config: options.config, load: 'live' });
      const say = (line = '') => printLine(context, line);
      try {
        const slug = `tour-${toTimestamp(Date.now()).slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}`;
        const taskDir = `demo/tasks/${slug}`;
        const task = toTaskName(taskDir);
        await ensureTask(harness.store, taskDir, 'Find out how long a.txt is');
        say('Recording three real agents: an analyst asks its tester, while two workers write and review.\n');
        await harness.communication.start();
        const analyst = await startDemoDispatch(
          harness,
          taskDir,
          'product-analyst',
          'subagent.jsonl',
          options.delay,
          context.signal,
        );
        const started = [analyst];
        for (const { role, stream } of workers) {
          started.push(
            await startDemoDispatch(
              harness,
              taskDir,
              role,
              stream,
              options.delay,
              context.signal,
              analyst.dispatchId,
            ),
          );
        }
        await Promise.all(started.map(({ ended }) => ended));
        await harness.communication.close();

        say(`\nWho dispatched whom, and what it took (hansard tree ${task}):\n`);
        say(renderDispatchTree(dispatchTree(await harness.store.getDispatchEnvelopes(taskDir))));
        const reviewer = started.at(-1) ?? analyst;
        say(`\nThe reviewer's session (hansard show ${task} ${reviewer.dispatchId.slice(-6)}):\n`);
        say(await harness.store.renderSessionView(taskDir, reviewer.dispatchId));
        say(`\nWhere it lies: ${whereItLies(harness, taskDir)}`);
        say('\nTry next:');
        say(`  pnpm hansard show ${task} ${analyst.dispatchId.slice(-6)}`);
        say(`  pnpm hansard events ${task} latest --type 'agent:tool_*'`);
        say(`  grep -rn '"status":"error"' .projects/${taskDir}/dispatches`);
      } finally {
        await harness.close();
      }
    });
};

function startDemoDispatch(
  { store, communication }: Harness,
  taskDir: string,
  role: string,
  stream: string,
  delayMs: number,
  signal: AbortSignal,
  parentDispatchId?: string,
): Promise<DispatchRun> {
  const path = fileURLToPath(new URL(`../demo/${stream}`, import.meta.url));
  const agent = createReplayAgent({ path, delayMs });
  return startDispatch({
    store,
    communication,
    taskDir,
    role,
    agent,
    signal,
    ...(parentDispatchId === undefined ? {} : { parentDispatchId }),
  });
}

function whereItLies({ loaded }: Harness, taskDir: string): string {
  const { store } = loaded.config;
  return store === '@hansard/store-jsonfile'
    ? `${loaded.baseDir}/.projects/${taskDir}/dispatches/ (one readable file per dispatch)`
    : `in the store ${typeof store === 'string' ? store : store.plugin}`;
}
