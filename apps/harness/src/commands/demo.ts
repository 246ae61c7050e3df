import { resolve } from 'node:path';
import { toTimestamp } from '@hansard/events';
import { playCafe } from '../demo/cafe-scene.ts';
import { playStreams, type Say } from '../demo/streams-scene.ts';
import { type Harness, withHarness } from '../harness.ts';
import { ensureTask } from '../tasks/ensure-task.ts';
import { toTaskName } from '../tasks/task-name.ts';
import { type AddCommand, withPlaceOptions } from '../terminal/command.ts';
import { printLine } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';

interface DemoOptions {
  readonly config?: string;
  readonly root?: string;
  readonly delay: number;
}

export const addDemo: AddCommand = (command, context) => {
  withPlaceOptions(command)
    .option('--delay <ms>', 'wait this long before each message', parseCount({ example: 500 }), 110)
    .addHelpText('after', '\nExample:\n  hansard demo')
    .action(async (options: DemoOptions) => {
      const { signal } = context;
      const { config, root } = options;
      const say: Say = (line = '') => printLine(context, line);
      await withHarness(context, { config, root, load: 'live' }, async (harness) => {
        const stamp = toTimestamp(Date.now()).slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
        const taskDir = `demo/tasks/tour-${stamp}`;
        const cafeDir = `demo/tasks/cafe-${stamp}`;
        await ensureTask(context, harness.store, taskDir, 'Find out how long a.txt is');
        const analyst = await playStreams({ harness, taskDir, delayMs: options.delay, signal, say });
        if (!signal.aborted) {
          await ensureTask(context, harness.store, cafeDir, 'A table in a café');
          await playCafe(harness, cafeDir, signal, say);
        }

        const folder = dispatchesFolder(harness, taskDir);
        if (folder !== null) say(`\nThe files, one readable file per dispatch, are in ${folder}`);
        say('\nTry next:');
        const inRepository = context.env.npm_package_name === 'hansard-workspace';
        const hansard = inRepository ? 'npx pnpm@12 hansard' : 'hansard';
        say(`  ${hansard} show ${analyst.dispatchId.slice(-8)}`);
        say(`  ${hansard} perspective ${toTaskName(cafeDir)} --agent jill`);
        if (folder === null) say(`  ${hansard} show ${toTaskName(taskDir)} --type 'agent:tool_*'`);
        else say(`  grep -rn '"status":"error"' ${folder}`);
      });
    });
};

/** Null with a store of another kind. */
function dispatchesFolder({ loaded, plugins }: Harness, taskDir: string): string | null {
  const [store] = plugins.providers('DispatchStoreProvider');
  if (store?.id !== 'store-jsonfile') return null;
  const { root } = store.config as { readonly root: string };
  return `${resolve(loaded.baseDir, root)}/${taskDir}/dispatches`;
}
