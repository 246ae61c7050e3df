import { listAll, listingsOf, resolveScope, toTaskName } from '@hansard/compose';
import { type RequestedTimes, timeLimitsOf } from '@hansard/compose/reading';
import {
  type DispatchEntry,
  type UsageKey,
  type UsageOfKeys,
  type UsageSummary,
  usageOf,
} from '@hansard/dispatch';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import {
  blockMs,
  callsIn,
  dateKeys,
  explainEstimates,
  formatCost,
  formatCount,
  formatDuration,
  formatTokens,
  quarterMs,
  shortId,
  timeNotRecorded,
  tokensIn,
  type UsageFigures,
} from '@hansard/facts';
import { copiesInWords, forkInWords } from '@hansard/views';
import type { Answer } from '../terminal/answer.ts';
import type { CommonOptions } from '../terminal/command.ts';
import { type CliContext, letInterrupt, terminalWidth } from '../terminal/context.ts';
import { plainTable } from '../terminal/plain-table.ts';
import { createProgress } from '../terminal/progress.ts';
import { shownTime } from '../terminal/shown-time.ts';
import { answerFromStore, withStore } from '../terminal/with-store.ts';
import { forksBeside } from './forks-beside.ts';
import { incomplete } from './unreadable.ts';

/** Stands for what nothing recorded says. */
const notKnown = '–';

const timeKeys: readonly UsageKey[] = ['day', 'week', 'month', 'block'];

const barColumns = 12;

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** From this width on, the heads of the counts are whole words. */
const wideColumns = 120;

const counts = ['calls', 'failed', 'tools', 'errors'];

const wideCounts = ['model calls', 'failed', 'tool calls', 'tool errors'];

export interface UsageOptions extends CommonOptions, RequestedTimes {
  readonly by: readonly UsageKey[];
  readonly limit?: number;
}

/** Prints what the sessions of a store used, or those that one word names. */
export function printUsage(
  context: CliContext,
  word: string | undefined,
  options: UsageOptions,
): Promise<void> {
  return answerFromStore(context, options, async ({ store }) => {
    const scope = word === undefined ? null : await resolveScope(store, word);
    const listings = scope === null ? await listAll(store, {}) : await listingsOf(store, scope);
    const limits = limitsOf(context, options);
    const progress = createProgress(context, 'reading sessions');
    const onPage = async (read: number, all: number) => {
      progress.update(read, all);
      await letInterrupt(context);
    };
    try {
      const zone = context.zone ?? 'local';
      const { since, until } = limits;
      const used = await usageOf(store, {
        ...{ by: options.by, dispatches: listings, since, until, zone, onPage },
        prices: standardTable,
      });
      const beside = scope === null ? [] : await forksBeside(store, scope, listings);
      return await answerOf(context, used, options, limits, notCounted(beside));
    } finally {
      progress.end();
    }
  });
}

const standardTable = async () => (await import('@hansard/import')).standardPrices;

/** What the sessions of a store used of late, for a line that is printed often. */
export interface RecentUsage {
  /** The day, in the zone of the line. */
  readonly day: string;
  readonly today: string;
  /** Null: no block of five hours is open. Its end is in milliseconds since 1970. */
  readonly block: { readonly used: string; readonly endsAt: number } | null;
  readonly month: string;
  /** The sessions of Claude Code that changed in the last day, by their ids in Claude Code. */
  readonly sessions: Readonly<Record<string, { readonly cost: string; readonly tokens: string }>>;
}

/** Sums up the day, the block and the month of a time. @throws the errors of the store */
export async function recentUsage(
  context: CliContext,
  options: CommonOptions,
  now: number,
): Promise<RecentUsage> {
  let recent: RecentUsage | null = null;
  await withStore(context, options, async ({ store }) => {
    const zone = context.zone ?? 'local';
    const dispatches = await listAll(store, {});
    const rowsBy = async (key: UsageKey) =>
      (await usageOf(store, { by: [key], dispatches, zone, prices: standardTable })).rows;
    const keys = dateKeys(zone);
    const usedIn = (rows: readonly UsageOfKeys[], value: string) => {
      const row = rows.find(({ values }) => values[0] === value);
      return row === undefined ? 'nothing' : usedInWords(row);
    };
    const blocks = await rowsBy('block');
    const open = blocks.find(({ values: [start = ''] }) => {
      const begun = Date.parse(start);
      return begun <= now && now < begun + blockMs;
    });
    recent = {
      day: keys.day(now),
      today: usedIn(await rowsBy('day'), keys.day(now)),
      block:
        open === undefined
          ? null
          : { used: usedInWords(open), endsAt: Date.parse(open.values[0] ?? '') + blockMs },
      month: usedIn(await rowsBy('month'), keys.month(now)),
      sessions: recentSessions(dispatches, await rowsBy('session'), now),
    };
  });
  if (recent === null) throw new Error('The store was not read.');
  return recent;
}

const recentMs = 86_400_000;

function recentSessions(
  dispatches: readonly DispatchEntry[],
  rows: readonly UsageOfKeys[],
  now: number,
): RecentUsage['sessions'] {
  const rowOf = new Map(rows.map((row) => [row.values[0], row]));
  const recent = dispatches.flatMap((entry) => {
    if ('error' in entry || entry.envelope.source?.format !== 'claude-transcript') return [];
    const { files } = entry.envelope.source;
    const [{ name = '', modifiedAt = 0 } = {}] = files;
    const row = rowOf.get(`${entry.taskDir}/${entry.dispatchId}`);
    if (row === undefined || now - modifiedAt > recentMs) return [];
    return [[name.replace(/\.jsonl$/, ''), { cost: costInWords(row), tokens: tokensInWords(row) }] as const];
  });
  return Object.fromEntries(recent);
}

/** Stated costs and estimates are apart, as everywhere. */
function usedInWords(figures: UsageFigures): string {
  const cost = costInWords(figures);
  return `${cost}${cost === '' ? '' : ' '}${tokensInWords(figures)}`;
}

function costInWords(figures: UsageFigures): string {
  const { costUsd, estimatedUsd } = figures;
  return [
    ...(costUsd === null ? [] : [formatCost(costUsd)]),
    ...(estimatedUsd === null ? [] : [`≈${formatCost(estimatedUsd)}${isLowerBound(figures) ? '+' : ''}`]),
  ].join(' ');
}

function tokensInWords(figures: UsageFigures): string {
  return `${formatTokens(tokensIn(figures))} tokens`;
}

/** The limits of what is counted: full quarters of an hour from `since` on and before `until`. */
interface Limits {
  readonly since: number;
  readonly until: number;
  /** Whether the options name a time within a quarter. */
  readonly isRounded: boolean;
}

/** Both limits are moved to the beginning of their quarters, so what is counted before a time and after it adds up. */
function limitsOf(context: CliContext, options: RequestedTimes): Limits {
  const { since = -Infinity, until = Infinity } = timeLimitsOf(context, options, null);
  const [from, to] = [since, until + 1].map((time) =>
    Number.isFinite(time) ? Math.floor(time / quarterMs) * quarterMs : time,
  ) as [number, number];
  return { since: from, until: to, isRounded: from !== since || to !== until + 1 };
}

/** The sessions beside those that are counted, which are not workers of these. */
function notCounted(beside: readonly DispatchEntry[]): string[] {
  const words = beside.flatMap((entry) => {
    if ('error' in entry) return [];
    const { envelope } = entry;
    return `${shortId(envelope.dispatchId)} ${forkInWords(envelope) ?? 'is the origin of a fork'}`;
  });
  return words.length === 0 ? [] : [`hansard: Not counted here: ${words.join('; ')}.`];
}

async function answerOf(
  context: CliContext,
  { rows: used, total, envelopes, copiedCalls, differing, untimed, unreadable }: UsageSummary,
  { by, limit = Infinity }: UsageOptions,
  limits: Limits,
  beside: readonly string[],
): Promise<Answer> {
  const most = used.slice(0, limit);
  const [first = ''] = by.filter(isTimeKey);
  const timed = by.indexOf(first as UsageKey);
  // What has no recorded time follows all times.
  const timeOf = ({ values }: UsageOfKeys) => values[timed] || '~';
  const rows =
    timed < 0
      ? most
      : most.toSorted((one, other) =>
          timeOf(one) < timeOf(other) ? -1 : timeOf(one) > timeOf(other) ? 1 : 0,
        );
  const isLogged = by.includes('agent') || by.includes('tool');
  const estimates = isLogged ? null : explainEstimates(envelopes);
  const hidden = used.length - rows.length;
  const zone = context.zone === 'utc' ? 'UTC' : localZone();
  const document = (values: readonly (string | null)[] | null, figures: UsageFigures) => ({
    by: by.join(','),
    key: values === null || values.length > 1 ? values : values[0],
    zone,
    ...figures,
  });
  return {
    rows: [
      ...rows.map(({ values, ...figures }) =>
        document(
          values.map((value, at) => usageValue(by[at], value)),
          figures,
        ),
      ),
      { ...document(null, total), total: true },
    ],
    text:
      rows.length === 0
        ? 'Nothing is recorded that used a model or a tool.'
        : await usageTable(context, rows, total, by, envelopes),
    notesAfter: [
      ...beside,
      ...copiesInWords(copiedCalls, differing).map((line) => `hansard: ${line}`),
      ...(estimates === null ? [] : [neutraliseControlsInLine(estimates)]),
      ...(limits.isRounded
        ? [`hansard: usage is counted in quarters of an hour${limitsInWords(context, limits)}.`]
        : []),
      ...(untimed === null ? [] : [untimedNote(untimed)]),
      ...(hidden === 0
        ? []
        : [`hansard: the total includes ${hidden} more rows; --limit ${rows.length + hidden} prints all.`]),
    ],
    failure: incomplete(
      `${formatCount(unreadable.length, 'session')} can't be read and ${unreadable.length === 1 ? 'is' : 'are'} not counted.`,
      unreadable.map(({ error }) => ({ error })),
    ),
  };
}

/** What the limits of time leave out. */
function untimedNote(untimed: UsageFigures): string {
  const { dispatches, modelCalls, toolCalls } = untimed;
  const parts = [
    ...(modelCalls ? [formatCount(modelCalls, 'model call')] : []),
    ...(toolCalls ? [formatCount(toolCalls, 'tool call')] : []),
    ...(tokensIn(untimed) === 0 ? [] : [`${formatTokens(tokensIn(untimed))} tokens`]),
  ];
  const used = parts.length === 0 ? '' : ` (${parts.join(', ')})`;
  return `hansard: --since and --until leave out what ${formatCount(dispatches ?? 0, 'session')} used${used}: ${timeNotRecorded}.`;
}

function limitsInWords(context: CliContext, { since, until }: Limits): string {
  const time = (at: number) => shownTime(context, new Date(at).toISOString()).slice(0, 16).replace('T', ' ');
  return `${Number.isFinite(since) ? `, from ${time(since)} on` : ''}${Number.isFinite(until) ? `, before ${time(until)}` : ''}`;
}

/** The name of the zone that local times are of, such as `Europe/Berlin`. */
function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'local';
}

/** Sums of usage for a terminal: the rows, then the total. */
async function usageTable(
  context: CliContext,
  rows: readonly UsageOfKeys[],
  total: UsageFigures,
  by: readonly UsageKey[],
  envelopes: UsageSummary['envelopes'],
): Promise<string> {
  const titles = new Map(envelopes.map(({ dispatchId, title }) => [dispatchId, title]));
  const width = terminalWidth(context);
  const zone = context.zone ?? 'local';
  const largest = Math.max(...rows.map(weightOf));
  const wide = width === undefined || width >= wideColumns;
  const head = [
    ...by,
    'sessions',
    ...(wide ? wideCounts : counts),
    ...['in', 'out', 'cache read', 'written', 'cost', 'estimated', 'time', ''],
  ];
  const lines = [
    ...rows.map((row) => [
      ...row.values.map((value, at) => inWords(by[at], value, zone, titles)),
      ...cells(row),
      bar(weightOf(row), largest),
    ]),
    [...by.map((_, at) => (at === 0 ? 'all' : '')), ...cells(total), ''],
  ];
  const always = by.length + 1 + counts.length;
  // Other columns without a known figure are left out.
  const shown = head.map(
    (_, index) => index < always || lines.some((line) => ![notKnown, ''].includes(line[index] ?? '')),
  );
  const keep = (line: readonly string[]) => line.filter((_, index) => shown[index]);
  return plainTable(keep(head), lines.map(keep), {
    width,
    cut: [
      ...['', 'time', 'sessions'].map((column) => ({ column, least: 0 })),
      ...keyCuts(by, 24),
      ...['written', 'cache read'].map((column) => ({ column, least: 0 })),
      ...keyCuts(by, 12),
    ],
  });
}

function inWords(
  key: UsageKey | undefined,
  value: string,
  zone: 'utc' | 'local',
  titles: ReadonlyMap<string, string | null>,
): string {
  if (key !== 'session') return key === undefined ? notKnown : usageValueInWords(key, value, zone);
  const at = value.lastIndexOf('/');
  const dispatchId = value.slice(at + 1);
  return `${shortId(dispatchId)} ${titles.get(dispatchId) ?? toTaskName(value.slice(0, at))}`;
}

/** Names of tasks differ at their ends, and those of models and tools at their beginnings. */
function keyCuts(by: readonly UsageKey[], least: number) {
  return by.map((key) => ({ column: key, least, keep: isPath(key) ? ('end' as const) : ('start' as const) }));
}

function isPath(key: UsageKey): boolean {
  return key === 'task' || key === 'project';
}

/** What the bars compare: tokens, or calls where no tokens are known. */
function weightOf(figures: UsageFigures): number {
  return tokensIn(figures) || callsIn(figures);
}

function cells(figures: UsageFigures): string[] {
  const count = (value: number | null) => (value === null ? notKnown : value.toLocaleString('en'));
  const tokens = (value: number | null) => (value === null ? notKnown : formatTokens(value));
  const cost = (value: number | null) => (value === null ? notKnown : formatCost(value));
  return [
    count(figures.dispatches),
    ...[count(figures.modelCalls), count(figures.failedModelCalls)],
    ...[count(figures.toolCalls), count(figures.failedToolCalls)],
    ...[tokens(figures.inputTokens), tokens(figures.outputTokens)],
    ...[tokens(figures.cacheReadTokens), tokens(figures.cacheWriteTokens)],
    // A lower bound is marked as in every other listing.
    ...[cost(figures.costUsd), `${cost(figures.estimatedUsd)}${isLowerBound(figures) ? '+' : ''}`],
    figures.durationMs === null ? notKnown : formatDuration(figures.durationMs),
  ];
}

function isLowerBound({ estimatedUsd, unpriced }: UsageFigures): boolean {
  return estimatedUsd !== null && unpriced.length > 0;
}

function bar(value: number, largest: number): string {
  if (largest === 0 || value === 0) return '';
  const parts = Math.max(1, Math.round((value / largest) * barColumns * 8));
  return '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '');
}

function isTimeKey(key: UsageKey | undefined): boolean {
  return timeKeys.some((one) => one === key);
}

/** A value as JSON has it: tasks have their short names, and a time that is not recorded is null. A session is `TASK/ID`. */
function usageValue(key: UsageKey | undefined, value: string): string | null {
  if (value === '' && isTimeKey(key)) return null;
  const slash = value.lastIndexOf('/');
  if (key === 'session') return `${toTaskName(value.slice(0, slash))}${value.slice(slash)}`;
  return key === 'task' ? toTaskName(value) : value;
}

/** A value as people read it. */
function usageValueInWords(key: UsageKey, value: string, zone: 'utc' | 'local'): string {
  if (value === '' && isTimeKey(key)) return timeNotRecorded;
  if (value === '') return notKnown;
  // A scenario is named by its path, whose end says more.
  if (key === 'model') return value.replace(/^(scripted:).*[\\/](?=[^\\/]+[\\/][^\\/]+$)/, '$1');
  if (key !== 'block') return usageValue(key, value) ?? notKnown;
  const end = new Date(Date.parse(value) + blockMs).toISOString();
  const [from, to] = [value, end].map((time) => shownTime({ zone }, time));
  return `${from?.slice(0, 16).replace('T', ' ')}–${to?.slice(11, 16)}`;
}
