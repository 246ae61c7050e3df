import { toTaskName } from '@hansard/compose';
import { fidelities } from '@hansard/events';
import { formatCount, shortId } from '@hansard/facts';
import {
  findImportRun,
  type ImportRunRecord,
  logImporters,
  type UndoneSession,
  undoImport,
} from '@hansard/import';
import { type CopiesElsewhere, findCopiesElsewhere } from '@hansard/maintenance';
import { Option } from 'commander';
import { withHarness } from '../harness.ts';
import { toAbsolute } from '../import/import-home.ts';
import { type RunImportOptions, runImport } from '../import/run-import.ts';
import { printAnswer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { confirm, yesOption } from '../terminal/confirm.ts';
import { type CliContext, note } from '../terminal/context.ts';
import { parseDuration } from '../terminal/parse-duration.ts';
import { shownTime } from '../terminal/shown-time.ts';

type AllOptions = RunImportOptions & { readonly undo?: string | true };

const help = `
Your home folder stands for the folders in which Claude Code, Codex and other
products keep their sessions: they are listed, and you are asked before anything
is imported. No other folder is read.

Examples:
  hansard import ~
  hansard import ~/.claude/projects --since 7d --dry-run
  hansard import ~ --yes --project ~/work/shop --exclude node_modules
  hansard import --undo
  hansard import --mirrored
  hansard import --from-git ~/work/shop
  hansard import session.jsonl --as session-v2 --task research/cafe
  hansard import game_events.jsonl chat.jsonl --task lab/games`;

export const addImport: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option(
      '--task <project/slug>',
      'import into this task (default: derived from the session; required for session logs and games)',
    )
    .option(
      '--as <format>',
      `set the format (default: detected from the records): ${logImporters.map(({ id }) => id).join(', ')}, or one from a plugin`,
    )
    .addOption(
      new Option(
        '--fidelity <fidelity>',
        'keep tool input and output (full, the default) or omit it (narrative)',
      ).choices(fidelities),
    )
    .option('--reread', 'read files again that have not changed since their last import')
    .option(
      '--quiet-after <duration>',
      'end a session without an end after this time without a record, such as 30m (default: 1h)',
      parseDuration,
    )
    .option(
      '--since <time>',
      'import only sessions whose files have changed since then, such as 2026-03-01 or 7d',
    )
    .option(
      '--project <folder>',
      'import only sessions that worked in this folder or below, or in one of this name',
    )
    .addOption(
      new Option(
        '--exclude <path>',
        'leave out this file or folder, or all of this name (repeatable)',
      ).argParser((path: string, before: readonly string[] = []) => [...before, path]),
    )
    .option('--mirrored', 'import the sessions that the Agent SDK has mirrored into this store, not paths')
    .option(
      '--from-git [folder]',
      'import the sessions that entire.io has kept in this Git repository (default: the current folder), and link their commits',
    )
    .option('--again', 'import sessions that were deleted here, too')
    .option('--dry-run', 'record nothing: print what an import would record, with its cost')
    .option('--undo [run]', 'delete the sessions that the last import created, or that run of import')
    .option(...yesOption)
    .addHelpText('after', help)
    .action((names: readonly string[], { undo, ...options }: CommonOptions & AllOptions) => {
      if (undo !== undefined) {
        const others = Object.keys(options).filter((name) => !ofUndo.has(name));
        if (names.length > 0 || others.length > 0) throw onlyUndo();
        return runUndo(context, { ...options, undo });
      }
      if (options.mirrored === true) {
        if (names.length > 0 || options.as !== undefined || options.exclude !== undefined)
          throw onlyMirrored();
        return runImport(context, [], options);
      }
      if (options.fromGit !== undefined) {
        if (names.length > 0) throw onlyFromGit();
        return runImport(context, [], options);
      }
      if (names.length === 0) throw noPath();
      return runImport(
        context,
        names.map((name) => toAbsolute(context, name)),
        options,
      );
    });
};

function noPath(): CliError {
  return new CliError(
    exitCode.usage,
    'There is nothing to import.',
    'Name a file or a folder, or your home folder: hansard import ~',
  );
}

function onlyFromGit(): CliError {
  return new CliError(
    exitCode.usage,
    '--from-git takes no other paths: it imports what the repository has kept.',
    'Import files and folders with another command.',
  );
}

function onlyMirrored(): CliError {
  return new CliError(
    exitCode.usage,
    '--mirrored takes no paths, no --as and no --exclude: it imports what the Agent SDK has mirrored into this store.',
    '--since and --project select sessions.',
  );
}

/** The options that `--undo` takes, by their names in the code. An option that selects sessions would not protect the others. */
const ofUndo: ReadonlySet<string> = new Set(['config', 'root', 'json', 'utc', 'yes']);

function onlyUndo(): CliError {
  return new CliError(
    exitCode.usage,
    '--undo takes no paths, and no option that says what or how to import.',
    'Name the run at most: hansard import --undo RUN. Nothing was deleted.',
  );
}

interface UndoOptions extends CommonOptions {
  /** The run; true: the newest. */
  readonly undo: string | true;
  readonly yes?: boolean;
}

/** Deletes the sessions that one run of `import` created, if the user confirms it. */
function runUndo(context: CliContext, { undo, yes, ...options }: UndoOptions): Promise<void> {
  const { config, root } = options;
  return withHarness(context, { config, root, load: 'store' }, async ({ store }) => {
    const run = await findImportRun(store, undo === true ? undefined : undo);
    note(context, describeRun(context, run));
    const names = new Set(run.sessions.map((one) => `${one.taskDir} ${one.dispatchId}`));
    const isOfRun = ({ taskDir, dispatchId }: UndoneSession['ref']) => names.has(`${taskDir} ${dispatchId}`);
    const copies = await findCopiesElsewhere(store, isOfRun, { signal: context.signal });
    for (const line of copiesInWords(copies)) note(context, line);
    if (
      !(await confirm(context, 'Delete them? Their sources stay, and can be imported again.', {
        yes: yes === true,
      }))
    )
      return printAnswer(context, options, { rows: [], text: 'Nothing was deleted.' });
    const undone: UndoneSession[] = [];
    for await (const session of undoImport(store, run)) {
      undone.push(session);
      if (context.signal.aborted) break;
    }
    const kept = undone.filter((one) => one.kept !== null);
    const open = run.sessions.length - undone.length;
    await printAnswer(context, options, {
      rows: undone.map(({ ref, kept: reason }) => ({
        ...ref,
        deleted: reason === null,
        copies: copies
          .filter(({ of }) => of.dispatchId === ref.dispatchId && of.taskDir === ref.taskDir)
          .map(({ of: _, ...copy }) => copy),
        ...(reason === null ? {} : { reason: typeof reason === 'string' ? reason : reason.code }),
      })),
      text: `${formatCount(undone.length - kept.length, 'session')} deleted.`,
      notesAfter: kept.map(({ ref, kept: reason }) => `hansard: ${nameOf(ref)} stays: ${inWords(reason)}`),
      failure:
        open === 0
          ? null
          : new CliError(
              exitCode.failed,
              `The undo was interrupted: ${formatCount(open, 'session')} left.`,
              `Repeat it: hansard import --undo ${run.run}`,
            ),
    });
  });
}

function describeRun(context: CliContext, { run, startedAt, sessions }: ImportRunRecord): string {
  const tasks = new Set(sessions.map(({ taskDir }) => taskDir)).size;
  const time = shownTime(context, startedAt).slice(0, 16).replace('T', ' ');
  const what = `${formatCount(sessions.length, 'session')} in ${formatCount(tasks, 'task')}`;
  return `The import ${run} (${time}) created ${what}, which the store still has.`;
}

const mostNamed = 10;

/** The sessions that keep events of a run. */
function copiesInWords(copies: readonly CopiesElsewhere[]): string[] {
  const kept = new Map<string, number>();
  for (const { events, ...copy } of copies) kept.set(nameOf(copy), (kept.get(nameOf(copy)) ?? 0) + events);
  const named = [...kept].slice(0, mostNamed);
  const more = kept.size - named.length;
  return [
    ...named.map(
      ([name, events]) =>
        `${formatCount(events, 'of their events is', 'of their events are')} also in ${name}, and ${events === 1 ? 'stays' : 'stay'} there.`,
    ),
    ...(more === 0 ? [] : [`${formatCount(more, 'more session')} keep copies; --json names them.`]),
  ];
}

function nameOf({ taskDir, dispatchId }: UndoneSession['ref']): string {
  return `${toTaskName(taskDir)} ${shortId(dispatchId)}`;
}

function inWords(reason: UndoneSession['kept']): string {
  if (reason === 'continued') return 'it has events that no import wrote.';
  return reason === null ? '' : reason.message;
}
