import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { UsageKey } from '@hansard/dispatch';
import { InvalidArgumentError, Option } from 'commander';
import { withTimeLimits } from '../tasks/filter-options.ts';
import type { RecentUsage, UsageOptions } from '../tasks/usage-answer.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';

/** What the sums need is loaded when it is asked for: a status line is printed often. */
const usageKeys = Object.keys({
  ...{ day: 0, week: 0, month: 0, block: 0, session: 0, project: 0, task: 0, model: 0, agent: 0, tool: 0 },
} satisfies Record<UsageKey, 0>) as UsageKey[];

type AllOptions = UsageOptions & { readonly statusline?: boolean; readonly refresh?: boolean };

export const addUsage: AddCommand = (command, context) => {
  withTimeLimits(withCommonOptions(command), 'count only calls')
    .addOption(
      new Option('--by <keys>', `a row for each of these, one key or two: ${usageKeys.join(', ')}`)
        .argParser(parseUsageKeys)
        .default(['model'], 'model'),
    )
    .option('--limit <n>', 'print only the n rows that used the most', parseCount({ from: 1, example: 10 }))
    .addOption(
      new Option(
        '--statusline',
        'print one line for a prompt: today, the open block and the month, at most a minute old',
      ).conflicts(['since', 'until', 'limit', 'json']),
    )
    .addOption(new Option('--refresh', 'with --statusline: sum up now').hideHelp())
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
        '– means that nothing recorded says it. Estimates are never in the cost.',
        '',
        'Examples:',
        '  hansard usage',
        '  hansard usage research/route-models --by tool',
        '  hansard usage --by day,model --since 7d',
        '  hansard usage --by session --limit 10',
        '  hansard usage --by block --since yesterday',
        '  hansard usage --by month --since 2026-01-01 --utc --json',
        '  hansard usage --statusline',
      ].join('\n'),
    )
    .action(
      async (word: string | undefined, { statusline = false, refresh = false, ...options }: AllOptions) => {
        if (statusline) return printStatusline(context, options, refresh);
        const { printUsage } = await import('../tasks/usage-answer.ts');
        return printUsage(context, word, options);
      },
    );
};

/** The value of `--by`: a key, or two. */
function parseUsageKeys(text: string): readonly UsageKey[] {
  const words = text.split(',').map((word) => word.trim());
  const keys = words.flatMap((word) => usageKeys.find((key) => key === word) ?? []);
  if (keys.length === words.length && keys.length <= 2 && new Set(keys).size === keys.length) return keys;
  throw new InvalidArgumentError(
    `Give one key, or two with a comma, such as day,model: ${usageKeys.join(', ')}.`,
  );
}

interface KeptUsage extends RecentUsage {
  /** Milliseconds since 1970. */
  readonly madeAt: number;
}

/** An older line is made again, by another process. */
const freshMs = 60_000;
/** A line that is older than this says so. */
const oldMs = 600_000;

/** Prints the kept line, and lets another process make it again if it is old. Without a line of this day it is made first. */
async function printStatusline(
  context: CliContext,
  options: CommonOptions,
  isRefresh: boolean,
): Promise<void> {
  const now = context.now?.() ?? Date.now();
  const file = keptFile(context, options);
  const kept = isRefresh ? null : readKept(file);
  if (kept !== null && kept.madeAt <= now && kept.day === dayOf(context, now)) {
    if (now - kept.madeAt > freshMs) refreshLater(context, options, file, now);
    context.stdout.write(`${lineOf(kept, now)}\n`);
    return;
  }
  const { recentUsage } = await import('../tasks/usage-answer.ts');
  const made = { ...(await recentUsage(context, options, now)), madeAt: now };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, JSON.stringify(made));
  renameSync(`${file}.new`, file);
  rmSync(`${file}.busy`, { force: true });
  context.stdout.write(`${lineOf(made, now)}\n`);
}

function lineOf({ today, block, month, madeAt }: KeptUsage, now: number): string {
  const left = block === null ? 0 : Math.ceil((block.endsAt - now) / 60_000);
  const time = left >= 60 ? `${Math.floor(left / 60)}h ${left % 60}m` : `${left}m`;
  return [
    `today ${today}`,
    ...(block === null || left <= 0 ? [] : [`block ${block.used}, ${time} left`]),
    `month ${month}`,
    ...(now - madeAt > oldMs ? [`${Math.round((now - madeAt) / 60_000)}m old`] : []),
  ].join(' · ');
}

function dayOf({ zone }: CliContext, now: number): string {
  const shown = zone === 'utc' ? now : now - new Date(now).getTimezoneOffset() * 60_000;
  return new Date(shown).toISOString().slice(0, 10);
}

/** The line of a store is kept in the cache folder of the user. It has sums only. */
function keptFile({ cwd, env, zone = 'local' }: CliContext, { config, root }: CommonOptions): string {
  const place = JSON.stringify([cwd, config, root, env.HANSARD_ROOT, zone, env.TZ]);
  const name = createHash('sha256').update(place).digest('hex').slice(0, 16);
  const home = env.HOME || env.USERPROFILE || cwd;
  return join(env.XDG_CACHE_HOME || join(home, '.cache'), 'hansard', `statusline-${name}.json`);
}

function readKept(file: string): KeptUsage | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as KeptUsage;
  } catch {
    // There is no line yet, or it was cut off.
    return null;
  }
}

/** At most one process makes a line at a time; one that was killed is waited for five minutes. */
function refreshLater(context: CliContext, { config, root }: CommonOptions, file: string, now: number): void {
  const busy = `${file}.busy`;
  const since = statSync(busy, { throwIfNoEntry: false })?.mtimeMs;
  if (since !== undefined && now - since < 300_000) return;
  openSync(busy, 'w');
  const place = [
    ...(config === undefined ? [] : ['--config', config]),
    ...(root === undefined ? [] : ['--root', root]),
  ];
  const zone = context.zone === 'utc' ? ['--utc'] : [];
  const [, script = ''] = process.argv;
  const args = [...process.execArgv, script, 'usage', '--statusline', '--refresh', ...place, ...zone];
  const { cwd, env } = context;
  spawn(process.execPath, args, { cwd, env: { ...env }, detached: true, stdio: 'ignore' }).unref();
}
