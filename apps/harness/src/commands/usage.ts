import { listAll, listingsOf, resolveScope } from '@hansard/compose';
import { type RequestedTimes, timeLimitsOf } from '@hansard/compose/reading';
import {
  type DispatchEntry,
  type UsageKey,
  type UsageOfKeys,
  type UsageSummary,
  usageKeys,
  usageOf,
} from '@hansard/dispatch';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import {
  explainEstimates,
  formatCount,
  formatTokens,
  quarterMs,
  shortId,
  timeNotRecorded,
  tokensIn,
  type UsageFigures,
} from '@hansard/facts';
import { copiesInWords, forkInWords } from '@hansard/views';
import { Option } from 'commander';
import { withTimeLimits } from '../tasks/filter-options.ts';
import { forksBeside } from '../tasks/forks-beside.ts';
import { incomplete } from '../tasks/unreadable.ts';
import type { Answer } from '../terminal/answer.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, letInterrupt } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { createProgress } from '../terminal/progress.ts';
import { shownTime } from '../terminal/shown-time.ts';
import { answerFromStore } from '../terminal/with-store.ts';
import { isTimeKey, notKnown, parseUsageKeys, usageValue } from './usage-keys.ts';
import { usageTable } from './usage-table.ts';

interface UsageOptions extends CommonOptions, RequestedTimes {
  readonly by: readonly UsageKey[];
  readonly limit?: number;
}

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
          const { by } = options;
          const prices = async () => (await import('@hansard/import')).standardPrices;
          const used = await usageOf(store, { by, dispatches: listings, since, until, zone, onPage, prices });
          const beside = scope === null ? [] : await forksBeside(store, scope, listings);
          return await answerOf(context, used, options, limits, notCounted(beside));
        } finally {
          progress.end();
        }
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
        : await usageTable(context, rows, total, by),
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
