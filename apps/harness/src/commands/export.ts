import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type SessionFormatId, sessionFormats } from '@hansard/formats';
import { Option } from 'commander';
import { CliError, exitCode } from '../cli-error.ts';
import {
  type AddCommand,
  type CommonOptions,
  dispatchHelp,
  taskHelp,
  withCommonOptions,
  withStore,
} from '../command.ts';
import { note, printJson } from '../context.ts';
import { findDispatch } from '../find-dispatch.ts';
import { toTaskDir } from '../task-name.ts';
import { formatIds } from './import.ts';

interface ExportOptions extends CommonOptions {
  readonly as: SessionFormatId;
  readonly out?: string;
}

export const addExport: AddCommand = (program, context) => {
  withCommonOptions(program.command('export'))
    .argument('<task>', taskHelp)
    .argument('[dispatch]', dispatchHelp, 'latest')
    .description('write a session in another format')
    .addOption(new Option('--as <format>', 'the format').choices(formatIds).makeOptionMandatory())
    .option('--out <file>', 'a new file to write it to (default: standard output)')
    .addHelpText(
      'after',
      '\nExample:\n  hansard export research/cafe latest --as session-v2 --out session.jsonl',
    )
    .action((task: string, dispatch: string, options: ExportOptions) =>
      withStore(context, options, async ({ store }) => {
        const taskDir = toTaskDir(task);
        const { dispatchId } = await findDispatch(store, taskDir, dispatch);
        const { text, leftOut } = sessionFormats[options.as].write(
          await store.getDispatchEvents(taskDir, dispatchId),
        );
        if (options.out === undefined) context.stdout.write(text);
        else {
          const file = resolve(context.cwd, options.out);
          writeNewFile(file, text);
          if (options.json) printJson(context, { file, leftOut });
        }
        for (const [type, count] of Object.entries(leftOut))
          note(context, `hansard: ${count} of ${type} left out: ${options.as} has no place for them.`);
      }),
    );
};

/** Never over a file that is there. */
function writeNewFile(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (cause) {
    throw new CliError(
      exitCode.failed,
      `${file} can't be written: ${(cause as Error).message}`,
      'Name a new file in a folder that you may write to.',
      { cause },
    );
  }
}
