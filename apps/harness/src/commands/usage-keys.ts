import { toTaskName } from '@hansard/compose';
import { type UsageKey, usageKeys } from '@hansard/dispatch';
import { blockMs, timeNotRecorded } from '@hansard/facts';
import { InvalidArgumentError } from 'commander';
import { shownTime } from '../terminal/shown-time.ts';

/** Stands for what nothing recorded says. */
export const notKnown = '–';

const timeKeys: readonly UsageKey[] = ['day', 'week', 'month', 'block'];

export function isTimeKey(key: UsageKey | undefined): boolean {
  return timeKeys.some((one) => one === key);
}

/** The value of `--by`: a key, or two. */
export function parseUsageKeys(text: string): readonly UsageKey[] {
  const words = text.split(',').map((word) => word.trim());
  const keys = words.flatMap((word) => usageKeys.find((key) => key === word) ?? []);
  if (keys.length === words.length && keys.length <= 2 && new Set(keys).size === keys.length) return keys;
  throw new InvalidArgumentError(
    `Give one key, or two with a comma, such as day,model: ${usageKeys.join(', ')}.`,
  );
}

/** A value as JSON has it: tasks have their short names, and a time that is not recorded is null. */
export function usageValue(key: UsageKey | undefined, value: string): string | null {
  if (value === '' && isTimeKey(key)) return null;
  return key === 'task' ? toTaskName(value) : value;
}

/** A value as people read it. */
export function usageValueInWords(key: UsageKey, value: string, zone: 'utc' | 'local'): string {
  if (value === '' && isTimeKey(key)) return timeNotRecorded;
  if (value === '') return notKnown;
  // A scenario is named by its path, whose end says more.
  if (key === 'model') return value.replace(/^(scripted:).*[\\/](?=[^\\/]+[\\/][^\\/]+$)/, '$1');
  if (key !== 'block') return usageValue(key, value) ?? notKnown;
  const end = new Date(Date.parse(value) + blockMs).toISOString();
  const [from, to] = [value, end].map((time) => shownTime({ zone }, time));
  return `${from?.slice(0, 16).replace('T', ' ')}–${to?.slice(11, 16)}`;
}
