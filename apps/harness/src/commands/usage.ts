import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { UsageKey } from '@hansard/dispatch';
import { InvalidArgumentError, Option } from 'commander';
import { withTimeLimits } from '../tasks/filter-options.ts';
import type { RecentUsage, UsageOptions } from '../tasks/usage-answer.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, printLine } from '../terminal/context.ts';
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
        'print one line for a prompt: the session that Claude Code names on standard input, today, the open block and the month, at most a minute old',
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

/** What Claude Code writes to the standard input of a status line, as far as the line uses it. */
interface StatusInput {
  readonly sessionId: string | null;
  readonly model: string | null;
  readonly costUsd: number | null;
  /** The folder that the session works in. Null: none that exists. */
  readonly cwd: string | null;
}

const longestInput = 256 * 1024;
/** An agent writes at once. Another caller can leave its input open. */
const inputMs = 100;

/** Null: the input has no such document. */
async function readStatusInput({ stdin }: CliContext): Promise<StatusInput | null> {
  if (stdin.isTTY === true) return null;
  let text = '';
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, inputMs);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    stdin.on('data', (chunk) => {
      text += chunk;
      timer.refresh();
      if (text.length > longestInput) end();
    });
    stdin.once('end', end).once('error', end);
  });
  stdin.removeAllListeners('data').pause();
  try {
    const given = JSON.parse(text) as Record<string, Record<string, unknown> | string | null | undefined>;
    const within = (key: string, name: string) => {
      const value = given[key];
      return typeof value === 'object' && value !== null ? value[name] : undefined;
    };
    const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
    const cost = within('cost', 'total_cost_usd');
    const cwd = textOf(within('workspace', 'current_dir')) ?? textOf(given.cwd);
    return {
      sessionId: textOf(given.session_id),
      model: textOf(within('model', 'display_name')) ?? textOf(within('model', 'id')),
      costUsd: typeof cost === 'number' && Number.isFinite(cost) && cost >= 0 ? cost : null,
      cwd: cwd !== null && isAbsolute(cwd) && existsSync(cwd) ? cwd : null,
    };
  } catch {
    // The input is not a JSON document of this form.
    return null;
  }
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
async function printStatusline(given: CliContext, options: CommonOptions, isRefresh: boolean): Promise<void> {
  const input = isRefresh ? null : await readStatusInput(given);
  const { stdout, stderr } = given;
  const context: CliContext = { ...given, stdout, stderr, cwd: input?.cwd ?? given.cwd };
  const now = context.now?.() ?? Date.now();
  const file = keptFile(context, options);
  const kept = isRefresh ? null : readKept(file);
  if (kept !== null && kept.madeAt <= now && kept.day === dayOf(context, now)) {
    if (now - kept.madeAt > freshMs) refreshLater(context, options, file, now);
    printLine(context, lineOf(kept, now, input));
    return;
  }
  const { recentUsage } = await import('../tasks/usage-answer.ts');
  const made = { ...(await recentUsage(context, options, now)), madeAt: now };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, JSON.stringify(made));
  renameSync(`${file}.new`, file);
  rmSync(`${file}.busy`, { force: true });
  printLine(context, lineOf(made, now, input));
}

function lineOf(kept: KeptUsage, now: number, input: StatusInput | null): string {
  const { today, block, month, madeAt } = kept;
  const left = block === null ? 0 : Math.ceil((block.endsAt - now) / 60_000);
  const time = left >= 60 ? `${Math.floor(left / 60)}h ${left % 60}m` : `${left}m`;
  return [
    ...(input === null ? [] : sessionParts(kept, input)),
    `today ${today}`,
    ...(block === null || left <= 0 ? [] : [`block ${block.used}, ${time} left`]),
    `month ${month}`,
    ...(now - madeAt > oldMs ? [`${Math.round((now - madeAt) / 60_000)}m old`] : []),
  ].join(' · ');
}

/** The model and the session of an agent. Its own cost is newer than what the store has. */
function sessionParts({ sessions }: KeptUsage, { sessionId, model, costUsd }: StatusInput): string[] {
  const kept = sessionId !== null && Object.hasOwn(sessions, sessionId) ? sessions[sessionId] : undefined;
  const words = [
    costUsd === null ? kept?.cost : `$${costUsd.toFixed(2)}`,
    kept === undefined ? undefined : kept.tokens,
  ].filter((word) => word !== undefined && word !== '');
  return [...(model === null ? [] : [model]), ...(words.length === 0 ? [] : [`session ${words.join(' ')}`])];
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
