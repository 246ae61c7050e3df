import type { DispatchEntry } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import {
  addParts,
  explainEstimates,
  type LoggedPart,
  LoggedUsage,
  quarterMs,
  type UsageFigures,
  type UsagePart,
  type UsageRow,
  UsageSums,
  usageParts,
} from '@hansard/facts';
import type { StoreError } from '@hansard/provider';
import { Option } from 'commander';
import { interruptedPages } from '../tasks/filter-options.ts';
import { findScope, listAll, listingsOf } from '../tasks/find-session.ts';
import { type LimitOptions, timeLimitsOf, withTimeLimits } from '../tasks/time-limits.ts';
import type { Answer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';
import { explainError } from '../terminal/explain-error.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { createProgress } from '../terminal/progress.ts';
import { shownTime } from '../terminal/shown-time.ts';
import { answerFromStore } from '../terminal/with-store.ts';
import { isTimeKey, needsLog, parseUsageKeys, type UsageKey, UsageKeys, usageKeys } from './usage-keys.ts';
import { notKnown, usageTable } from './usage-table.ts';

interface UsageOptions extends CommonOptions, LimitOptions {
  readonly by: readonly UsageKey[];
  readonly limit?: number;
}

/** Between the values of two keys. No value has it: names have no control characters, and times none. */
const between = '\u0000';

export const addUsage: AddCommand = (command, context) => {
  withTimeLimits(withCommonOptions(command), 'count only calls')
    .addOption(
      new Option('--by <keys>', `a row for each of these, one key or two: ${usageKeys.join(', ')}`)
        .argParser(parseUsageKeys)
        .default(['model'], 'model'),
    )
    .option('--limit <n>', 'print only the n rows that used the most', parseCount({ from: 1, example: 10 }))
    .addHelpText(
      'after',
      [
        '',
        'Every call counts at its own time, in quarters of an hour. Days, weeks (by their Monday) and months are those of',
        'the local time zone, or of UTC with --utc. A block is five hours of a Claude subscription, from the full hour of',
        'its first call. The envelopes of the sessions are enough for all keys except agent and tool, for which',
        'every event is read. A named session includes its workers.',
        '',
        'Model calls gave an answer; failed ones did not, and are not among them. Tool calls include the failed ones.',
        `${notKnown} means that nothing recorded says it. Estimates are never in the cost.`,
        '',
        'Examples:',
        '  hansard usage',
        '  hansard usage research/route-models --by tool',
        '  hansard usage --by day,model --since 7d',
        '  hansard usage --by block --since yesterday',
        '  hansard usage --by month --since 2026-01-01 --utc --json',
      ].join('\n'),
    )
    .action((word: string | undefined, options: UsageOptions) =>
      answerFromStore(context, options, async ({ store }) => {
        const listings =
          word === undefined
            ? await listAll(store, {})
            : await listingsOf(store, await findScope(store, word));
        const failures = listings.flatMap((one) => ('error' in one ? one.error : []));
        const limits = limitsOf(context, options);
        const used = await sumUp(context, { listings, by: options.by, limits, failures });
        return answerOf(context, used, options, limits, failures);
      }),
    );
};

/** The limits of what is counted: full quarters of an hour from `since` on and before `until`. */
interface Limits {
  readonly since: number;
  readonly until: number;
  /** Whether the options name a time within a quarter. */
  readonly isRounded: boolean;
}

/** Both limits are moved to the beginning of their quarters, so what is counted before a time and after it adds up. */
function limitsOf(context: CliContext, options: LimitOptions): Limits {
  const { since = -Infinity, until = Infinity } = timeLimitsOf(context, options, null);
  const [from, to] = [since, until + 1].map((time) =>
    Number.isFinite(time) ? Math.floor(time / quarterMs) * quarterMs : time,
  ) as [number, number];
  return { since: from, until: to, isRounded: from !== since || to !== until + 1 };
}

interface Used {
  readonly sums: UsageSums;
  readonly keys: UsageKeys;
  /** The dispatches that are counted. */
  readonly envelopes: DispatchEnvelope[];
}

interface Asked {
  readonly listings: readonly DispatchEntry[];
  readonly by: readonly UsageKey[];
  readonly limits: Limits;
  /** Gets the dispatches that cannot be read. */
  readonly failures: StoreError[];
}

type Part = UsagePart & Partial<Pick<LoggedPart, 'agent' | 'tool'>>;

async function sumUp(context: CliContext, { listings, by, limits, failures }: Asked): Promise<Used> {
  const sums = new UsageSums();
  const keys = new UsageKeys(by, context.zone ?? 'local');
  const envelopes: DispatchEnvelope[] = [];
  const isLimited = Number.isFinite(limits.since) || Number.isFinite(limits.until);
  const isOfDispatches = !isLimited && by.every((key) => key === 'task' || key === 'project');
  if (by.includes('block')) keys.learn(timesOf(listings));
  const progress = createProgress(context, 'reading sessions');
  try {
    for (const [at, listing] of listings.entries()) {
      const parts = await partsOf(context, listing, by, failures);
      if (needsLog(by)) progress.update(at, listings.length);
      const counted = parts.filter((part) => part.at >= limits.since && part.at < limits.until);
      if (counted.length === 0 || 'error' in listing) continue;
      const { taskDir, envelope } = listing;
      envelopes.push(envelope);
      const keyOf = (part: Part) => keys.valuesOf(part, taskDir).join(between);
      addParts(sums, counted, keyOf);
      // The time of a dispatch is not known by quarters.
      const [one] = counted;
      if (isOfDispatches && one !== undefined)
        sums.add(keyOf(one), { durationMs: envelope.usage?.durationMs ?? null });
    }
  } finally {
    progress.end();
  }
  return { sums, keys, envelopes };
}

function* timesOf(listings: readonly DispatchEntry[]): Generator<number> {
  for (const listing of listings)
    if (!('error' in listing)) for (const { at } of usageParts(listing.envelope)) yield at;
}

/** The parts of a dispatch. One that is damaged in the middle adds nothing. */
async function partsOf(
  context: CliContext,
  listing: DispatchEntry,
  by: readonly UsageKey[],
  failures: StoreError[],
): Promise<readonly Part[]> {
  if ('error' in listing) return [];
  const { envelope, log } = listing;
  if (!needsLog(by)) return usageParts(envelope);
  const used = new LoggedUsage(envelope);
  try {
    for await (const events of interruptedPages(context, log))
      for (const event of events) used.observe(event);
  } catch (error) {
    if (explainError(error).exitCode !== exitCode.damaged) throw error;
    failures.push(error as StoreError);
    return [];
  }
  return by.includes('tool') ? used.parts.filter(({ tool }) => tool !== null) : used.parts;
}

async function answerOf(
  context: CliContext,
  { sums, keys, envelopes }: Used,
  { by, limit = Infinity }: UsageOptions,
  limits: Limits,
  failures: readonly StoreError[],
): Promise<Answer> {
  const most = sums.rows('most').slice(0, limit);
  const [first = ''] = by.filter(isTimeKey);
  const timed = by.indexOf(first as UsageKey);
  const timeOf = ({ key }: UsageRow) => key.split(between)[timed] ?? '';
  const rows =
    timed < 0
      ? most
      : most.toSorted((one, other) =>
          timeOf(one) < timeOf(other) ? -1 : timeOf(one) > timeOf(other) ? 1 : 0,
        );
  const estimates = needsLog(by) ? null : explainEstimates(envelopes);
  const hidden = sums.rows('key').length - rows.length;
  const zone = context.zone === 'utc' ? 'UTC' : localZone();
  const document = (values: readonly string[] | null, figures: UsageFigures) => ({
    by: by.join(','),
    key: values === null || values.length > 1 ? values : values[0],
    zone,
    ...figures,
  });
  const total = { ...sums.total, dispatches: envelopes.length };
  return {
    rows: [
      ...rows.map(({ key, ...figures }) => document(key.split(between), figures)),
      document(null, total),
    ],
    text:
      rows.length === 0
        ? 'Nothing is recorded that used a model or a tool.'
        : await usageTable(context, rows, total, { by, keys, between }),
    notesAfter: [
      ...(estimates === null ? [] : [neutraliseControlsInLine(estimates)]),
      ...(limits.isRounded
        ? [`hansard: usage is counted in quarters of an hour${limitsInWords(context, limits)}.`]
        : []),
      ...(hidden === 0
        ? []
        : [`hansard: the total includes ${hidden} more rows; --limit ${rows.length + hidden} prints all.`]),
    ],
    failure: failures[0] === undefined ? null : notCounted(failures, failures[0]),
  };
}

function limitsInWords(context: CliContext, { since, until }: Limits): string {
  const time = (at: number) => shownTime(context, new Date(at).toISOString()).slice(0, 16).replace('T', ' ');
  return `${Number.isFinite(since) ? `, from ${time(since)} on` : ''}${Number.isFinite(until) ? `, before ${time(until)}` : ''}`;
}

/** The name of the zone that local times are of, such as `Europe/Berlin`. */
function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'local';
}

function notCounted(failures: readonly StoreError[], first: StoreError): CliError {
  const explained = failures.map(explainError);
  const { exitCode: code, advice } =
    explained.find((one) => one.exitCode === exitCode.damaged) ?? explainError(first);
  const count = `${failures.length} ${failures.length === 1 ? 'session' : 'sessions'} can't be read and are not counted.`;
  return new CliError(code, [count, ...explained.map(({ message }) => message)].join('\n  '), advice);
}
