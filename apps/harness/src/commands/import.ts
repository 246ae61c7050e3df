import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { toTimestamp } from '@hansard/events';
import { detectSessionFormat, type SessionFormatId, sessionFormats } from '@hansard/formats';
import { Option } from 'commander';
import { CliError, exitCode } from '../cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions, withStore } from '../command.ts';
import { note, printJson, printLine } from '../context.ts';
import { ensureTask } from '../ensure-task.ts';
import { toTaskDir, toTaskName } from '../task-name.ts';

interface ImportOptions extends CommonOptions {
  readonly as?: SessionFormatId;
  readonly task: string;
}

export const formatIds = Object.keys(sessionFormats);

export const addImport: AddCommand = (program, context) => {
  withCommonOptions(program.command('import'))
    .argument('<file>', 'a session log')
    .description('bring a session log of another format into the log, with its own ids')
    .requiredOption('--task <project/slug>', 'the task that it belongs to')
    .addOption(new Option('--as <format>', 'the format (default: told from the records)').choices(formatIds))
    .addHelpText('after', '\nExample:\n  hansard import session.jsonl --as session-v2 --task research/cafe')
    .action((name: string, options: ImportOptions) =>
      withStore(context, options, async ({ store }) => {
        const file = resolve(context.cwd, name);
        const bytes = readSource(file);
        const format = options.as ?? detectSessionFormat(bytes) ?? unknownFormat(file);
        const { events, report } = sessionFormats[format].read(bytes, { file });
        const taskDir = toTaskDir(options.task);
        await ensureTask(store, taskDir);
        const { dispatchId } = await store.createDispatch(taskDir, { role: 'imported', fidelity: 'full' });
        await store.appendEvents(taskDir, dispatchId, events);
        const completedAt = toTimestamp(Date.now());
        await store.updateDispatch(taskDir, dispatchId, { status: 'completed', completedAt });
        for (const { line, message } of report.oddities) note(context, `${file}:${line}: ${message}`);
        const { records, oddities } = report;
        if (options.json)
          printJson(context, { taskDir, dispatchId, format, records, events: events.length, oddities });
        else {
          printLine(
            context,
            `${toTaskName(taskDir)} ${dispatchId}: ${format}, records: ${records}, events: ${events.length}, oddities: ${oddities.length}`,
          );
        }
      }),
    );
};

function readSource(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new CliError(
      exitCode.failed,
      `${file} can't be read: ${(cause as Error).message}`,
      'Check the path. Nothing was imported.',
      { cause },
    );
  }
}

function unknownFormat(file: string): never {
  throw new CliError(
    exitCode.usage,
    `${file} does not show which format it has.`,
    `Say it: --as ${formatIds.join(' or --as ')}.`,
  );
}
