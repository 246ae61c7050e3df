import type { Harness } from '@hansard/compose';
import {
  envelopeOf,
  type ListedTask,
  listAllTasks,
  listingsOf,
  noSession,
  projectOf,
  resolveScope,
  type ShownStatus,
  shownStatus,
  sortTasks,
  storePlace,
  taskFigures,
  taskTitle,
  tokensOf,
  toTaskName,
} from '@hansard/compose';
import type { DispatchEntry, DispatchStore, ListedDispatch } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import {
  dispatchDuration,
  explainEstimates,
  formatDuration,
  formatSpending,
  formatTokens,
  shortIds,
  spendingOf,
} from '@hansard/facts';
import type { StoreError } from '@hansard/provider';
import { Option } from 'commander';
import { unreadableSessions, unreadableTasks } from '../tasks/unreadable.ts';
import type { Answer } from '../terminal/answer.ts';
import { type AddCommand, type CommonOptions, withCommonOptions, withExamples } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { answerFromStore } from '../terminal/with-store.ts';
import { ago, listing } from './listing.ts';

interface LsOptions extends CommonOptions {
  readonly project?: string;
  readonly sort: Order;
  readonly limit?: number;
  readonly tasks?: boolean;
}

export const addLs: AddCommand = (command, context) => {
  withExamples(
    withCommonOptions(command)
      .option('--tasks', 'list the tasks, with the sums of their sessions')
      .option('--project <text>', 'list only projects whose name contains this text, ignoring case')
      .addOption(new Option('--sort <order>', 'the order').choices(Object.keys(orders)).default('newest'))
      .option('--limit <n>', 'list only the first n', parseCount({ from: 1, example: 20 })),
    'ls',
    'ls --project devenv --sort cost --limit 10',
    'ls research/route-models --json',
    'ls --tasks',
  ).action((word: string | undefined, options: LsOptions) =>
    answerFromStore(context, options, (harness) =>
      options.tasks === true
        ? tasksAnswer(context, harness, word, options)
        : sessionsAnswer(context, harness, word, options),
    ),
  );
};

const orders = {
  newest: () => 0,
  active: (one, other) => compareTexts(activeAt(other), activeAt(one)),
  cost: (one, other) => costOf(other) - costOf(one),
  tokens: (one, other) => (tokensOf(other.envelope) ?? 0) - (tokensOf(one.envelope) ?? 0),
  duration: (one, other) => (dispatchDuration(other.envelope) ?? 0) - (dispatchDuration(one.envelope) ?? 0),
  title: (one, other) => compareTexts(titleOfSession(one), titleOfSession(other)),
} as const satisfies Record<string, (one: ListedDispatch, other: ListedDispatch) => number>;

type Order = keyof typeof orders;

async function sessionsAnswer(
  context: CliContext,
  harness: Harness,
  word: string | undefined,
  { project, sort, limit = Number.POSITIVE_INFINITY }: LsOptions,
): Promise<Answer> {
  const { store } = harness;
  const named = word === undefined ? null : await resolveScope(store, word);
  const all =
    named === null
      ? await newest(store, project, sort === 'newest' ? limit : Number.POSITIVE_INFINITY)
      : { listings: (await listingsOf(store, named)).toSorted(byStart), isMore: false };
  if (named !== null && all.listings.length === 0) throw noSession(named.taskDir);
  const readable = all.listings.filter((one): one is ListedDispatch => !('error' in one));
  const sorted = readable.toSorted(orders[sort]);
  const shown = sorted.slice(0, limit);
  const hidden = sorted.length - shown.length;
  return {
    rows: shown.map(({ taskDir, lastActiveAt, envelope }) => ({
      taskDir,
      lastActiveAt,
      ...envelope,
      ...spendingOf(envelope),
    })),
    text: shown.length === 0 ? nothing(harness, project) : await sessionTable(context, store, shown),
    notesAfter: moreThan(limit, hidden, all.isMore),
    failure: unreadableSessions(all.listings, named === null ? null : named.taskDir, 'listed'),
  };
}

/** The newest sessions of projects, and those that cannot be read, if the limit is not reached before. */
async function newest(
  store: DispatchStore,
  project: string | undefined,
  limit: number,
): Promise<{ readonly listings: readonly DispatchEntry[]; readonly isMore: boolean }> {
  const listings: DispatchEntry[] = [];
  const options = {
    order: 'newest',
    ...(limit < 1_000 && project === undefined && { limit: limit + 1 }),
  } as const;
  for await (const one of store.dispatches(options)) {
    if (!isOfProject(one, project)) continue;
    if (listings.length >= limit) return { listings, isMore: true };
    listings.push(one);
  }
  return { listings, isMore: false };
}

function byStart(one: DispatchEntry, other: DispatchEntry): number {
  return compareTexts(envelopeOf(other)?.startedAt ?? '', envelopeOf(one)?.startedAt ?? '');
}

function isOfProject({ taskDir }: { readonly taskDir: string }, project: string | undefined): boolean {
  return project === undefined || projectOf(taskDir).toLowerCase().includes(project.toLowerCase());
}

function nothing(harness: Harness, project: string | undefined): string {
  const place = storePlace(harness);
  if (project === undefined)
    return `No sessions yet in ${place}. \`hansard demo\` records some, \`hansard import PATH\` imports those of other tools.`;
  return `No project in ${place} contains ${JSON.stringify(project)}.`;
}

function moreThan(limit: number, hidden: number, isMore: boolean): string[] {
  if (isMore) return [`hansard: there are more; --limit ${limit * 10} lists up to that many.`];
  return hidden <= 0 ? [] : [`hansard: ${hidden} more; --limit ${limit + hidden} lists all.`];
}

async function sessionTable(
  context: CliContext,
  store: DispatchStore,
  listings: readonly ListedDispatch[],
): Promise<string> {
  const statusOf = await statusesOf(store, listings);
  const ids = shortIds(listings.map(({ envelope }) => envelope.dispatchId));
  const cells = (cell: (envelope: DispatchEnvelope, listed: ListedDispatch) => string | null) =>
    listings.map((listed) => cell(listed.envelope, listed) ?? '');
  const table = await listing(
    context,
    [
      { name: 'title', cells: cells((_, listed) => titleOfSession(listed)), least: 20 },
      { name: 'project', cells: cells((_, { taskDir }) => projectOf(taskDir)), least: 8, keep: 'end' },
      { name: 'when', cells: cells((_, listed) => ago(context, activeAt(listed))) },
      { name: 'cost', cells: cells((envelope) => formatSpending(spendingOf(envelope))) },
      { name: 'tokens', cells: cells((envelope) => inWords(tokensOf(envelope), formatTokens)), least: 0 },
      {
        name: 'duration',
        cells: cells((envelope) => inWords(dispatchDuration(envelope), formatDuration)),
        least: 0,
      },
      { name: 'status', cells: cells(statusOf), least: 8 },
      { name: 'role', cells: cells(({ role }) => role), least: 0 },
      { name: 'id', cells: ids },
    ],
    ['role', 'project', 'status', 'duration', 'title', 'tokens'],
  );
  return withNote(
    table,
    listings.map(({ envelope }) => envelope),
  );
}

/** The statuses in words: whether those that run are claimed is asked once for a task. */
async function statusesOf(store: DispatchStore, listings: readonly ListedDispatch[]): Promise<ShownStatus> {
  const byTask = Map.groupBy(listings, ({ taskDir }) => taskDir);
  const words = new Map<DispatchEnvelope, string>();
  for (const [taskDir, own] of byTask) {
    const envelopes = own.map(({ envelope }) => envelope);
    const statusOf = await shownStatus(store, taskDir, envelopes);
    for (const envelope of envelopes) words.set(envelope, statusOf(envelope));
  }
  return (envelope) => words.get(envelope) ?? envelope.status;
}

function titleOfSession({ taskDir, envelope: { title, parentDispatchId } }: ListedDispatch): string {
  const words = title ?? toTaskName(taskDir).split('/').at(-1) ?? '';
  return parentDispatchId === null ? words : `↳ ${words}`;
}

function activeAt({ lastActiveAt, envelope: { startedAt } }: ListedDispatch): string {
  return lastActiveAt ?? startedAt;
}

function costOf({ envelope }: ListedDispatch): number {
  const { costUsd, estimatedUsd } = spendingOf(envelope);
  return costUsd ?? estimatedUsd ?? 0;
}

function inWords(figure: number | null, format: (figure: number) => string): string | null {
  return figure === null ? null : format(figure);
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

async function tasksAnswer(
  context: CliContext,
  harness: Harness,
  word: string | undefined,
  { project, sort, limit = Number.POSITIVE_INFINITY }: LsOptions,
): Promise<Answer> {
  const { store } = harness;
  const taskDir = word === undefined ? undefined : (await resolveScope(store, word)).taskDir;
  const all = (await listAllTasks(store)).filter(
    (one) => isOfProject(one, project) && (taskDir ?? one.taskDir) === one.taskDir,
  );
  const tasks = sortTasks(all, sort).slice(0, limit);
  return {
    rows: tasks.map(toJson),
    text: tasks.length === 0 ? nothing(harness, project) : await taskTable(context, tasks),
    notesAfter: moreThan(limit, all.length - tasks.length, false),
    failure: unreadableTasks(tasks, 'listed'),
  };
}

function toJson(listed: ListedTask): object {
  const { taskDir, task, errors } = listed;
  const reported = errors.map(({ code, message, details }) => ({ code, message, ...details }));
  return {
    taskDir,
    task,
    title: taskTitle(listed) || null,
    ...taskFigures(listed),
    lastActiveAt: listed.lastActiveAt,
    ...(reported.length === 0 ? {} : { errors: reported }),
  };
}

async function taskTable(context: CliContext, tasks: readonly ListedTask[]): Promise<string> {
  const cells = (cell: (listed: ListedTask) => string | null) => tasks.map((listed) => cell(listed) ?? '');
  const known = (cell: (listed: ListedTask) => string | null) =>
    cells((listed) => (listed.envelopes === null ? '?' : cell(listed)));
  const table = await listing(
    context,
    [
      { name: 'title', cells: cells((listed) => taskTitle(listed) || null), least: 20 },
      { name: 'task', cells: cells(({ taskDir }) => toTaskName(taskDir)), least: 24, keep: 'end' },
      {
        name: 'when',
        cells: known(({ lastActiveAt }) => (lastActiveAt === null ? null : ago(context, lastActiveAt))),
      },
      { name: 'cost', cells: known((listed) => formatSpending(taskFigures(listed))) },
      { name: 'sessions', cells: known(sessionsOf) },
      {
        name: 'status',
        cells: cells(({ task, errors }) => (errors.length === 0 ? (task?.status ?? null) : stateOf(errors))),
      },
    ],
    ['title', 'task'],
  );
  return withNote(
    table,
    tasks.flatMap(({ envelopes }) => envelopes ?? []),
  );
}

function sessionsOf(listed: ListedTask): string {
  const { dispatches, running } = taskFigures(listed);
  return running === 0 ? String(dispatches) : `${dispatches} (${running} running)`;
}

/** Says what estimated costs come from, where there are some. */
function withNote(table: string, envelopes: readonly DispatchEnvelope[]): string {
  const note = explainEstimates(envelopes);
  return note === null ? table : `${table}\n${neutraliseControlsInLine(note)}`;
}

function stateOf(errors: readonly StoreError[]): string {
  return errors.some(({ code }) => code === 'STORE_CORRUPT') ? 'damaged' : 'unreadable';
}
