import { hash } from 'node:crypto';
import { asCount, asObject } from '@hansard/claude';
import type { EventData, JsonObject, JsonValue } from '@hansard/events';

type Usage = EventData<'agent:inference'>['usage'];

/** The counts of a usage of Codex. A missing count is 0. Null: one of them cannot be read. */
function countsOf(usage: JsonObject) {
  const names = [
    'input_tokens',
    'cached_input_tokens',
    'cache_write_input_tokens',
    'output_tokens',
    'reasoning_output_tokens',
  ];
  const counts = names.map((name) => asCount(usage[name] ?? 0));
  return counts.some((count) => count === undefined) ? null : (counts as number[]);
}

/**
 * A usage of Codex as Hansard counts it: `input_tokens` includes what was read from and written to a cache. Null: it cannot be read.
 */
function usageOf(value: JsonValue | undefined): Usage | null {
  const usage = asObject(value);
  const counts = usage === undefined ? null : countsOf(usage);
  if (counts === null) return null;
  const [input = 0, cached = 0, written = 0, output = 0, reasoning = 0] = counts;
  if (cached + written > input) return null;
  return {
    inputTokens: input - cached - written,
    outputTokens: output,
    ...(cached === 0 ? {} : { cacheReadTokens: cached }),
    ...(written === 0 ? {} : { cacheWriteTokens: written }),
    ...(reasoning === 0 ? {} : { reasoningTokens: reasoning }),
  };
}

/** What a record adds to the usage of its thread. */
export type CountedUsage =
  | { readonly kind: 'call'; readonly usage: Usage }
  /** The record states a call that was counted, or none. */
  | { readonly kind: 'again' }
  | { readonly kind: 'unreadable' };

const again = { kind: 'again' } as const;

/**
 * Counts each model call of a thread once. Codex repeats `token_count` without a call, so a call is a new pair of total and last usage. Newer
 * versions write `token_usage_record` for each response, and `token_count` states the same calls later.
 */
export class UsageCounter {
  readonly #pairs = new Set<string>();
  readonly #responses = new Set<string>();
  #hasRecords: boolean;

  /** `refersToOrigin`: the thread began after the head of another one, whose usage its first `token_count` can repeat. */
  constructor(refersToOrigin: boolean) {
    this.#hasRecords = refersToOrigin;
  }

  takeRecord({
    usage: value,
    response_id: response = null,
    thread_token_usage: total = null,
  }: JsonObject): CountedUsage {
    this.#hasRecords = true;
    const key = digestOf([response, value, total]);
    if (this.#responses.has(key)) return again;
    this.#responses.add(key);
    return counted(value);
  }

  takeCount(info: JsonObject): CountedUsage {
    const { total_token_usage: total, last_token_usage: last } = info;
    if (this.#hasRecords) return again;
    const key = digestOf([total, last]);
    if (this.#pairs.has(key)) return again;
    this.#pairs.add(key);
    return counted(last);
  }
}

function counted(value: JsonValue | undefined): CountedUsage {
  const usage = usageOf(value);
  if (usage === null) return { kind: 'unreadable' };
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens === 0
    ? again
    : { kind: 'call', usage };
}

/** A short name of a value. A thread can have a hundred thousand of them. */
export function digestOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64').slice(0, 22);
}
