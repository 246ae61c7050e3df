import type { DispatchStore } from '@hansard/dispatch';
import { createViewer, type RunningViewer, type Viewer } from '@hansard/viewer';
import { findDispatchId } from '../tasks/find-dispatch.ts';
import { findTask } from '../tasks/find-task.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { note, printJson, printLine } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { withStore } from '../terminal/with-store.ts';
import { openAddress } from '../view/open-address.ts';

interface ViewOptions extends CommonOptions {
  readonly port: number;
  readonly open?: boolean;
}

/** Milliseconds. A page says that the store does not answer, and asks again itself. */
const retryMs = 2_000;

export const addView: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option(
      '--port <n>',
      'listen at this port of 127.0.0.1 (default: any free one)',
      parseCount({ example: 4700 }),
      0,
    )
    .option('--open', 'open the page in your browser')
    .addHelpText(
      'after',
      '\nThe page reads the log and changes nothing. Who has the printed address can read everything in the store; it is valid until the command ends.\n\nExamples:\n  hansard view\n  hansard view research/route-models\n  hansard view research/route-models latest --port 4700\n  hansard view --open',
    )
    .action((task: string | undefined, dispatch: string | undefined, options: ViewOptions) =>
      withStore(context, { ...options, retryMs }, async ({ store }) => {
        const place = await placeOf(store, task, dispatch);
        const running = await start(createViewer({ store }), options.port);
        try {
          const address = `${running.url}${place}`;
          if (options.json === true) printJson(context, { address });
          else printLine(context, address);
          if (options.open === true) openAddress(context, `${running.openOnce()}${place}`);
          note(context, 'Open this address in a browser of this machine. Ctrl-C ends the viewer.');
          await aborted(context.readSignal);
        } finally {
          await running.close();
        }
      }),
    );
};

/** The part of the address that says what the page shows. */
async function placeOf(
  store: DispatchStore,
  task: string | undefined,
  dispatch: string | undefined,
): Promise<string> {
  if (task === undefined) return '';
  const taskDir = await findTask(store, task);
  if (dispatch === undefined) return `#/t/${encodeURIComponent(taskDir)}`;
  const id = await findDispatchId(store, taskDir, dispatch);
  return `#/d/${encodeURIComponent(taskDir)}/${encodeURIComponent(id)}`;
}

async function start(viewer: Viewer, port: number): Promise<RunningViewer> {
  try {
    return await viewer.start({ port });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new CliError(exitCode.failed, `Port ${port} is in use.`, 'Give another --port, or none.', {
      cause: error,
    });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
