import {
  blockMs,
  type DateKeys,
  dateKeys,
  type LoggedPart,
  type UsagePart,
  usageBlocks,
} from '@hansard/facts';
import { InvalidArgumentError } from 'commander';
import { projectOf, toTaskName } from '../tasks/task-name.ts';
import { shownTime } from '../terminal/shown-time.ts';

const timeKeys = ['day', 'week', 'month', 'block'] as const;
/** Keys that envelopes do not have: the log is read. */
const loggedKeys = ['agent', 'tool'] as const;
export const usageKeys = [...timeKeys, 'project', 'task', 'model', ...loggedKeys] as const;
export type UsageKey = (typeof usageKeys)[number];

type Zone = 'utc' | 'local';
type Part = UsagePart & Partial<Pick<LoggedPart, 'agent' | 'tool'>>;

export function isTimeKey(key: UsageKey | undefined): boolean {
  return timeKeys.some((one) => one === key);
}

export function needsLog(keys: readonly UsageKey[]): boolean {
  return loggedKeys.some((key) => keys.includes(key));
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

/** The values of keys for the parts of dispatches, as JSON has them. */
export class UsageKeys {
  readonly #keys: readonly UsageKey[];
  readonly #zone: Zone;
  readonly #dates: DateKeys;
  #blocks: ReadonlyMap<number, number> = new Map();

  constructor(keys: readonly UsageKey[], zone: Zone) {
    this.#keys = keys;
    this.#zone = zone;
    this.#dates = dateKeys(zone);
  }

  /** The times of all use, also outside of the limits: a block depends on what was used before. */
  learn(times: Iterable<number>): void {
    this.#blocks = usageBlocks(times);
  }

  valuesOf(part: Part, taskDir: string): string[] {
    return this.#keys.map((key) => this.#valueOf(key, part, taskDir));
  }

  /** A value as people read it. */
  inWords(key: UsageKey, value: string): string {
    if (key !== 'block') return value;
    const end = new Date(Date.parse(value) + blockMs).toISOString();
    const [from, to] = [value, end].map((time) => shownTime({ zone: this.#zone }, time));
    return `${from?.slice(0, 16).replace('T', ' ')}–${to?.slice(11, 16)}`;
  }

  #valueOf(key: UsageKey, { at, model, agent = '', tool }: Part, taskDir: string): string {
    if (key === 'model') return model;
    if (key === 'agent') return agent;
    if (key === 'tool') return tool ?? '';
    if (key === 'task') return toTaskName(taskDir);
    if (key === 'project') return projectOf(taskDir);
    if (key === 'block') return new Date(this.#blocks.get(at) ?? at).toISOString();
    return this.#dates[key](at);
  }
}
