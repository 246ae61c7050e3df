import { parseTimeLimit } from '@hansard/views';
import type { Command } from 'commander';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { CliContext } from '../terminal/context.ts';

/** The options that limit the time of what a command prints. */
export interface LimitOptions {
  readonly since?: string;
  readonly until?: string;
}

/** Milliseconds since 1970, both included. Absent: unlimited. */
export interface TimeLimits {
  readonly since?: number;
  readonly until?: number;
}

/** Adds `--since` and `--until`. `what` is what they select, such as `print only events`. */
export function withTimeLimits(command: Command, what: string): Command {
  return command
    .option(
      '--since <time>',
      `${what} from this time on, such as 2026-03-01, yesterday, 7d or 2026-03-01T15:04`,
    )
    .option('--until <time>', `${what} up to the end of this time`);
}

/**
 * The limits that the options name. `day`: the day of a time without a date; null refuses such a time.
 * @throws CliError for a text that is not a time
 */
export function timeLimitsOf(
  context: CliContext,
  { since, until }: LimitOptions,
  day: string | null,
): TimeLimits {
  return {
    ...(since !== undefined && { since: limit(context, '--since', since, day).from }),
    ...(until !== undefined && { until: limit(context, '--until', until, day).to }),
  };
}

function limit(
  { zone = 'local', now = Date.now }: CliContext,
  option: string,
  text: string,
  day: string | null,
) {
  const isRefused = day === null && /^@?\d{1,2}:/.test(text);
  const reading = { day: day ?? '1970-01-01T00:00:00.000Z', zone, now: now() };
  const found = isRefused ? null : parseTimeLimit(text.replace(/^@/, ''), reading);
  if (found !== null) return found;
  const time = day === null ? '' : '15:04, 15:04:05, ';
  throw new CliError(
    exitCode.usage,
    `${option} ${JSON.stringify(text)} is not a time${day === null ? ' with a date' : ''}.`,
    `Give a time such as ${time}2026-03-01, 2026-03-01T15:04, today, yesterday, 7d, 2w or 12h. Times are local; --utc or an offset such as +02:00 changes that.`,
  );
}
