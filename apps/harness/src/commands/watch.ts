import { type Harness, listAll, readableOf } from '@hansard/compose';
import { formatBytes } from '@hansard/events/plain';
import { formatCount } from '@hansard/facts';
import {
  excludeFromWatch,
  type ImportItem,
  includeInWatch,
  type KnownWatcher,
  readWatchers,
  type SourceWatcher,
  type WatchExclusion,
  type WatchState,
} from '@hansard/import';
import { storeErrors } from '@hansard/provider';
import { type Command, Option } from 'commander';
import { withHarness } from '../harness.ts';
import { importLine, importRow, leftOutLine } from '../import/import-answer.ts';
import { homeOf, machineOf, toAbsolute } from '../import/import-home.ts';
import { addWatchService } from '../import/watch-service.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions, withExamples } from '../terminal/command.ts';
import { type CliContext, note, printJson, printLine } from '../terminal/context.ts';
import { explainError } from '../terminal/explain-error.ts';
import { shownTime } from '../terminal/shown-time.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface WatchOptions extends CommonOptions {
  readonly once?: boolean;
  readonly quiet?: boolean;
  readonly exclude?: readonly string[];
  readonly include?: readonly string[];
}

const help = `
Follows the folders in which Claude Code, Codex and the other products of
\`hansard import ~\` keep their sessions, until Ctrl-C, and imports each write
a moment later. What a product deletes stays here, marked as gone.
What you deleted from the store or left out is not imported. One process watches
for a store on a machine. Where the system reports no changes, it looks every
30 seconds.

Examples:
  hansard watch
  hansard watch --once
  hansard watch --exclude codex --exclude ~/private --once
  hansard watch status
  hansard watch install --write`;

const words = (word: string, before: readonly string[] = []) => [...before, word];

export const addWatch: AddCommand = (command, context) => {
  withCommonOptions(command.enablePositionalOptions())
    .option('--once', 'import what is new and end, for cron and for hooks')
    .option('--quiet', 'print problems only')
    .addOption(
      new Option(
        '--exclude <word>',
        'leave out from now on: a product such as codex, a project or folder name, or a path (repeatable)',
      ).argParser(words),
    )
    .addOption(
      new Option('--include <word>', 'import again what --exclude left out (repeatable)').argParser(words),
    )
    .addHelpText('after', help)
    .action((options: WatchOptions) =>
      withHarness(context, { ...options, load: 'record' }, (harness) => watch(context, harness, options)),
    );
  addStatus(command, context);
  addWatchService(command, context);
};

async function watch(context: CliContext, harness: Harness, options: WatchOptions): Promise<void> {
  const { once = false, json = false, quiet = false, exclude = [], include = [] } = options;
  await changeWords(context, harness, exclude, include);
  const onItem = (item: ImportItem) => {
    if (item.kind === 'imported' && !quiet)
      if (json) printJson(context, importRow(item));
      else printLine(context, importLine(item));
    if (item.kind === 'failed') note(context, `hansard: ${explainError(item.error).message}`);
    if (item.kind === 'left-out' && !quiet && item.reason !== 'excluded' && item.reason !== 'exclude')
      note(context, `hansard: ${leftOutLine(item)}`);
  };
  const onFailure = (error: unknown) =>
    note(context, `hansard: ${explainError(error).message} The watch continues and tries again.`);
  const place = { home: homeOf(context), machine: machineOf(context) };
  let watcher: SourceWatcher;
  try {
    watcher = await harness.watch({ ...place, onItem, onFailure });
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_LOCKED')) throw error;
    // A hook or cron has nothing to do then, and neither has a change of words.
    if (!once && exclude.length + include.length === 0) throw watchedElsewhere(error);
    if (!quiet) note(context, 'hansard: another process watches already, and imports what is new.');
    return;
  }
  try {
    if (!once) {
      if (!quiet) note(context, 'hansard: watching until Ctrl-C. `hansard watch status` says more.');
      return await watcher.run();
    }
    const { imported, gone } = await watcher.once();
    const parts = [
      `${formatCount(imported, 'session')} imported`,
      ...(gone === 0 ? [] : [`${formatCount(gone, 'source')} gone`]),
    ];
    if (json) printJson(context, { imported, gone });
    else if (!quiet) printLine(context, `${parts.join(', ')}.`);
  } finally {
    await watcher.close();
  }
}

function watchedElsewhere(cause: Error): CliError {
  return new CliError(
    exitCode.failed,
    `Another process watches for this store already. ${cause.message}`,
    'One process is enough: it imports what all products write. `hansard watch status` names it.',
    { cause },
  );
}

async function changeWords(
  context: CliContext,
  { store }: Harness,
  exclude: readonly string[],
  include: readonly string[],
): Promise<void> {
  const wordOf = (word: string) => (/[\\/]|^[.~]/.test(word) ? toAbsolute(context, word) : word);
  for (const word of exclude.map(wordOf)) await excludeFromWatch(store, word);
  for (const word of include.map(wordOf))
    if (!(await includeInWatch(store, word)))
      throw new CliError(
        exitCode.failed,
        `${word} is not left out.`,
        '`hansard watch status` lists what is.',
      );
}

function addStatus(parent: Command, context: CliContext): void {
  const command = parent
    .command('status')
    .description(
      'print who watches and how, what is kept, what is gone from its source, and what is left out',
    );
  withExamples(withCommonOptions(command), 'watch status', 'watch status --json').action(() =>
    answerFromStore(context, command.optsWithGlobals<CommonOptions>(), async ({ store }) => {
      const { watchers, exclusions } = await readWatchers(store);
      const kept = keptIn(readableOf(await listAll(store, {})).envelopes, context.now?.() ?? Date.now());
      return {
        rows: [{ watchers: watchers.map(rowOf), ...kept, exclusions }],
        text: statusText(context, watchers, exclusions, kept),
      };
    }),
  );
}

interface Kept {
  /** The imported sessions. */
  readonly sessions: number;
  /** The bytes of their sources that the store has. */
  readonly bytesKept: number;
  /** Of sessions that began in the last 30 days; fewer days if the first began later. */
  readonly bytesPerDay: number;
  readonly sourcesGone: number;
}

const dayMs = 86_400_000;
const recentDays = 30;

type Envelopes = ReturnType<typeof readableOf>['envelopes'];

function keptIn(envelopes: Envelopes, now: number): Kept {
  const imported = envelopes.flatMap(({ source, startedAt }) =>
    source === null
      ? []
      : {
          bytes: source.balance?.bytes.recorded ?? 0,
          at: startedAt === null ? null : Date.parse(startedAt),
          isGone: source.gone !== undefined,
        },
  );
  const recent = imported.filter(({ at }) => at !== null && at > now - recentDays * dayMs);
  const first = recent.reduce((time, { at }) => Math.min(time, at ?? time), now);
  const days = Math.max(1, Math.ceil((now - first) / dayMs));
  const sumOf = (some: typeof imported) => some.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    sessions: imported.length,
    bytesKept: sumOf(imported),
    bytesPerDay: Math.round(sumOf(recent) / days),
    sourcesGone: imported.filter(({ isGone }) => isGone).length,
  };
}

function rowOf({ state, claim }: KnownWatcher): object {
  const { known = null, digest: _, ...facts } = state ?? ({} as Partial<WatchState>);
  return {
    isRunning: claim?.state === 'running',
    owner: claim?.owner ?? null,
    ...facts,
    logs: known?.length ?? null,
  };
}

function statusText(
  context: CliContext,
  watchers: readonly KnownWatcher[],
  exclusions: readonly WatchExclusion[],
  { sessions, bytesKept, bytesPerDay, sourcesGone }: Kept,
): string {
  const lines = watchers.flatMap((watcher) => watcherLines(context, watcher));
  return [
    ...(lines.length === 0 ? ['No watcher has run for this store. `hansard watch` starts one.'] : lines),
    `kept: ${formatCount(sessions, 'imported session')}, ${formatBytes(bytesKept)} of their sources, ${formatBytes(bytesPerDay)} a day`,
    `gone from their sources: ${formatCount(sourcesGone, 'session')}`,
    ...(exclusions.length === 0 ? [] : [`left out: ${exclusions.map(({ word }) => word).join(', ')}`]),
  ].join('\n');
}

function watcherLines(context: CliContext, { state, claim }: KnownWatcher): string[] {
  const isRunning = claim?.state === 'running';
  const who = isRunning ? `watched by ${claim.owner}` : 'not watched now';
  if (state === null) return [who];
  const { machine, home, mode, pollsBecause, keptAt, lastImportAt, files, folders, problems, failure } =
    state;
  const time = (at: string) => shownTime(context, at).slice(0, 19).replace('T', ' ');
  const how = { events: 'by events', polling: `every 30 s: ${pollsBecause}`, once: 'with --once' }[mode];
  return [
    `${machine}, ${home}: ${who}, ${isRunning ? how : `last ${how}`}`,
    `  as of ${time(keptAt)}: ${formatCount(files, 'file')} in ${formatCount(folders.length, 'folder')}; last import ${lastImportAt === null ? 'never' : time(lastImportAt)}`,
    ...(failure === null ? [] : [`  not finished: ${failure}`]),
    ...problems.map(({ path, message }) => `  ${path}: ${message}`),
  ];
}
