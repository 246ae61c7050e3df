import type { Harness } from '@hansard/compose';
import { type Command, Option } from 'commander';
import { type ChosenTask, chooseTasks } from '../exports/choose-tasks.ts';
import { openExportSource } from '../exports/export-source.ts';
import { type OpenedTarget, openExportTarget } from '../exports/export-target.ts';
import { redactionNotes, sumOfCounts } from '../exports/redaction-notes.ts';
import type { ExportSource, ExportSummary, StoreExport, TaskExport } from '../exports/task-export.ts';
import { taskExports } from '../exports/task-exports.ts';
import { printAnswer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';
import { createProgress, type Progress } from '../terminal/progress.ts';
import { withStore } from '../terminal/with-store.ts';

interface ExportOptions extends CommonOptions {
  readonly as: string;
  readonly out?: string;
  readonly project?: string;
}

export const addExport: AddCommand = (command, context) => {
  withCommonOptions(command)
    .addOption(
      new Option('--as <format>', 'write this format; see below')
        .choices(taskExports.map(({ id }) => id))
        .makeOptionMandatory(),
    )
    .option('--out <path>', 'write to this new file or folder (default for a text: standard output)');
  addOwnOptions(command);
  command
    .addHelpText('after', `\nFormats:\n${formatList()}`)
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  hansard export research/cafe --as html --out cafe.html',
        '  hansard export latest --as session-v2 --out session.jsonl',
        '  hansard export village/game --as streams --mapping game.yaml --out streams',
        '  hansard export research/cafe --as markdown | less',
        '  hansard export --as pages --project research --out site',
        '',
        'An existing file or folder is never overwritten. Until an export is complete,',
        'the name of its file or folder ends in .part; a failed export leaves no files.',
      ].join('\n'),
    )
    .action((word: string | undefined, options: ExportOptions) =>
      withStore(context, options, async (harness) => {
        const format = taskExports.find(({ id }) => id === options.as);
        if (format === undefined) throw new TypeError(`Unknown format ${options.as}.`);
        assertOwnOptions(command, format);
        const chosen = await chooseTasks(harness.store, format, { word, ...options });
        const target = openExportTarget(context, options.out, format);
        const progress = createExportProgress(context, word ?? `${chosen.tasks.length} tasks`, target);
        try {
          const opened: ExportSource[] = [];
          const sources = openSources(context, harness, chosen.tasks, progress, opened);
          const { summary, notes } = await writeFormat(format, sources, target, options);
          await target.close();
          progress.end();
          const redactions = sumOfCounts(opened.map((source) => source.redactions()));
          await printAnswer(context, options, {
            rows: target.isOnOutput
              ? []
              : [{ format: format.id, ...pathOf(target.path), ...summary, redactions }],
            text: target.path === null ? [] : `${format.id}: ${target.path}`,
            notesAfter: [...notes, ...redactionNotes(redactions)].map((line) => `hansard: ${line}`),
            failure: chosen.failure,
          });
        } finally {
          progress.end();
          await target.discard();
        }
      }),
    );
};

/** The sources of tasks, each opened when the one before has been read, and then added to `opened`. */
async function* openSources(
  context: CliContext,
  harness: Harness,
  tasks: readonly ChosenTask[],
  progress: Progress,
  opened: ExportSource[],
): AsyncGenerator<ExportSource> {
  let before = 0;
  for (const { taskDir, envelopes } of tasks) {
    let events = 0;
    const ownProgress: Progress = {
      ...progress,
      update(count) {
        events = count;
        progress.update(before + count);
      },
    };
    const source = await openExportSource(context, harness, taskDir, envelopes, ownProgress);
    opened.push(source);
    yield source;
    before += events;
  }
}

async function writeFormat(
  format: TaskExport | StoreExport,
  sources: AsyncGenerator<ExportSource>,
  target: OpenedTarget,
  options: ExportOptions,
): Promise<ExportSummary> {
  if (format.scope === 'store') return format.write(sources, target, { ...options });
  const { value } = await sources.next();
  return format.write(value as ExportSource, target, { ...options });
}

/** Shows no progress on a terminal that shows the export itself. */
function createExportProgress(context: CliContext, task: string, target: OpenedTarget): Progress {
  const progress = createProgress(context, `exporting ${task}: events`);
  const isInTheWay = () => target.isOnOutput && context.stdout.isTTY === true;
  return {
    update(count, of) {
      if (!isInTheWay()) progress.update(count, of);
    },
    end: progress.end,
  };
}

function pathOf(path: string | null): { path?: string } {
  return path === null ? {} : { path };
}

/** Refuses an option of another format. @throws CliError */
function assertOwnOptions(command: Command, { id, options = [] }: TaskExport | StoreExport): void {
  const own = new Set(options.map((option) => option.attributeName()));
  const others = taskExports.flatMap((format) => format.options ?? []);
  const strange = others.find((option) => {
    const name = option.attributeName();
    return !own.has(name) && command.getOptionValueSource(name) === 'cli';
  });
  if (strange === undefined) return;
  throw new CliError(
    exitCode.usage,
    `--${strange.name()} does not apply to ${id}.`,
    'Remove it; `hansard help export` lists the options of each format.',
  );
}

function addOwnOptions(command: Command): void {
  const added = new Set<string>();
  for (const option of taskExports.flatMap(({ options = [] }) => options)) {
    if (added.has(option.attributeName())) continue;
    added.add(option.attributeName());
    command.addOption(option);
  }
}

function formatList(): string {
  const width = Math.max(...taskExports.map(({ id }) => id.length));
  return taskExports.map(({ id, description }) => `  ${id.padEnd(width)}  ${description}`).join('\n');
}
