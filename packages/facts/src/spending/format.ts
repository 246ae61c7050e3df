import type { Usage } from '@hansard/events';
import { termsInWords } from '../totals/call-terms.ts';

// A format takes milliseconds to create, so each is created at its first use.
const compact = lazily({ notation: 'compact', maximumFractionDigits: 1 });
const cents = lazily({ style: 'currency', currency: 'USD' });
const fractionsOfCents = lazily({ style: 'currency', currency: 'USD', maximumFractionDigits: 4 });

/** Milliseconds as `340ms`, `1.2s`, `1m 05s` or `2h 03m`. */
export function formatDuration(milliseconds: number): string {
  const whole = Math.round(milliseconds);
  if (whole < 1_000) return `${whole}ms`;
  if (whole < 59_950) return `${(whole / 1_000).toFixed(1)}s`;
  const seconds = Math.round(whole / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${twoDigits(seconds % 60)}s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)}h ${twoDigits(minutes % 60)}m`;
}

/** A number of tokens as `940`, `12.3K` or `1.2M`. */
export function formatTokens(count: number): string {
  return compact().format(count);
}

/** US dollars as `$0.15`; below a dollar with fractions of cents, such as `$0.0018`; `<$0.0001` for less than that. */
export function formatCost(usd: number): string {
  if (usd > 0 && usd < 0.0001) return '<$0.0001';
  const text = String(usd);
  // An amount without rounding and separators needs no format.
  const [, whole, fraction = ''] = /^(\d{1,3})(?:\.(\d{1,4}))?$/.exec(text) ?? [];
  if (whole !== undefined && fraction.length <= (usd < 1 ? 4 : 2))
    return `$${whole}.${fraction.padEnd(2, '0')}`;
  return usd < 1 ? fractionsOfCents().format(usd) : cents().format(usd);
}

/** Usage in words: `300 in, 60 out (20 reasoning), 5.2K cache read, 2K cache written (1K for 1h), 1 web search, 3 turns, fast`. */
export function formatUsage(usage: Usage): string {
  const { cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, reasoningTokens } = usage;
  const part = (count: number | undefined, words: string) =>
    count ? ` (${formatTokens(count)} ${words})` : '';
  const parts = [
    `${formatTokens(usage.inputTokens)} in`,
    `${formatTokens(usage.outputTokens)} out${part(reasoningTokens, 'reasoning')}`,
  ];
  if (cacheReadTokens) parts.push(`${formatTokens(cacheReadTokens)} cache read`);
  if (cacheWriteTokens)
    parts.push(`${formatTokens(cacheWriteTokens)} cache written${part(cacheWrite1hTokens, 'for 1h')}`);
  if (usage.webSearchRequests) parts.push(formatCount(usage.webSearchRequests, 'web search', 'web searches'));
  if (usage.webFetchRequests) parts.push(formatCount(usage.webFetchRequests, 'web fetch', 'web fetches'));
  if (usage.turns !== undefined) parts.push(formatCount(usage.turns, 'turn'));
  return [...parts, ...termsInWords(usage)].join(', ');
}

/** `1 turn`, `3 turns`. */
export function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** How every surface says that the source of an event or a session does not record its time. */
export const timeNotRecorded = 'time not recorded';

/** The time of day of a timestamp, `HH:MM:SS` in UTC. Dashes of the same width stand for a time that is not recorded. */
export function formatTime(timestamp: string | null): string {
  return timestamp === null ? '--:--:--' : timestamp.slice(11, 19);
}

/** The day of a timestamp, `YYYY-MM-DD`, or that the time is not recorded. */
export function formatDay(timestamp: string | null): string {
  return timestamp === null ? timeNotRecorded : timestamp.slice(0, 'YYYY-MM-DD'.length);
}

/**
 * The heading above an event in a list by days, after the heading `before` ('': none yet). Null: it needs none. An event without a
 * recorded time stays where the log has it, so that only the first heading of a list says that the time is not recorded.
 */
export function dayHeading(timestamp: string | null, before: string): string | null {
  if (timestamp === null && before !== '') return null;
  const day = formatDay(timestamp);
  return day === before ? null : day;
}

/** A timestamp as people of a zone read it: unchanged in UTC, otherwise with the local offset at that time, such as `2026-11-23T16:04:05.678+02:00`. */
export function timeInZone(timestamp: string, zone?: 'utc' | 'local'): string;
export function timeInZone(timestamp: string | null, zone?: 'utc' | 'local'): string | null;
export function timeInZone(timestamp: string | null, zone: 'utc' | 'local' = 'local'): string | null {
  if (timestamp === null) return null;
  if (zone === 'utc') return timestamp;
  const time = new Date(timestamp);
  // Minutes that local clocks are behind UTC.
  const behind = time.getTimezoneOffset();
  if (behind === 0) return timestamp;
  const local = new Date(time.getTime() - behind * 60_000).toISOString().slice(0, -1);
  const minutes = Math.abs(behind);
  return `${local}${behind > 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

function lazily(options: Intl.NumberFormatOptions): () => Intl.NumberFormat {
  let format: Intl.NumberFormat | undefined;
  return () => {
    format ??= new Intl.NumberFormat('en-US', options);
    return format;
  };
}

function twoDigits(count: number): string {
  return String(count).padStart(2, '0');
}

/** How many of the last characters of an id are printed at least. */
const leastOfId = 8;

/** The ends of ids that name them: each is the end of no other. */
export function shortIds(ids: readonly string[]): string[] {
  const all = [...new Set(ids)];
  return ids.map((id) => {
    for (let length = leastOfId; length < id.length - 4; length += 1) {
      const end = id.slice(-length);
      if (all.every((other) => other === id || !other.endsWith(end))) return end;
    }
    return id;
  });
}

/** The end of an id that names it, without others beside it. */
export function shortId(id: string): string {
  return shortIds([id])[0] ?? id;
}
