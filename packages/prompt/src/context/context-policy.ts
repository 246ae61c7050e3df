/**
 * Whether the prompt shows output (`agent:output`) that an agent observed before its last action. `omitted`: only the output
 * since the last action is shown. `kept`: earlier output stays in its place.
 */

interface OutputPolicy {
  /** Absent: `omitted`; of `faded`: `kept`, because output fades like other messages. */
  readonly earlierOutput?: 'omitted' | 'kept';
  /**
   * Whether messages have images, documents and sounds, or only their names. Absent: those of messages and results are sent, and those that an agent
   * observed are named.
   */
  readonly images?: 'named' | 'sent';
}

/** All messages. */
interface FullPolicy extends OutputPolicy {
  readonly name: 'full';
}

/** The system prompts and the last messages. An answer and the results of its calls are shown or dropped together. */
export interface LastMessagesPolicy extends OutputPolicy {
  readonly name: 'lastMessages';
  /** The largest number of messages without system prompts; exceeded only if the newest answer and its results are more. */
  readonly count: number;
  /** The number of messages that are dropped at once, so that the beginning is unchanged between two drops. Absent: 1. */
  readonly step?: number;
}

/**
 * Faded memory: older messages have less detail (high, medium, low, omitted), so that the prompt stays within a budget. System
 * prompts and the newest message are never shortened. When the budget is full, a share of it is freed in one step. Until it
 * is full again, the beginning of the prompt is unchanged and stays in the provider's cache.
 */
export interface FadedPolicy extends OutputPolicy {
  readonly name: 'faded';
  /** Tokens. */
  readonly budget: number;
  /** Tokens of the budget that are not used, for tool definitions and the answer. Absent: 0. */
  readonly reserve?: number;
  /** The share of the budget that a step frees, from 0 (as little as possible, each time) to below 1. Absent: 0.25. */
  readonly step?: number;
}

export type ContextPolicy = FullPolicy | LastMessagesPolicy | FadedPolicy;

/** @throws TypeError for an unknown policy, or a value out of its range */
export function checkContextPolicy(policy: ContextPolicy): void {
  const { images } = policy;
  if (images !== undefined && images !== 'named' && images !== 'sent')
    throw new TypeError(`images must be 'named' or 'sent'; it is ${JSON.stringify(images)}.`);
  switch (policy.name) {
    case 'full':
      return;
    case 'lastMessages':
      assertCount('count', policy.count, 1);
      assertCount('step', policy.step ?? 1, 1);
      if ((policy.step ?? 1) > policy.count)
        throw new TypeError(`step must be at most count, which is ${policy.count}; it is ${policy.step}.`);
      return;
    case 'faded': {
      const { budget, reserve = 0, step = 0.25 } = policy;
      assertCount('budget', budget, 1);
      assertCount('reserve', reserve, 0);
      if (!(step >= 0 && step < 1)) throw new TypeError(`step must be from 0 to below 1; it is ${step}.`);
      return;
    }
    default:
      throw new TypeError(
        `Unknown context policy ${JSON.stringify(policy)}; use full, lastMessages or faded.`,
      );
  }
}

/**
 * Parses the short form of a policy: `full`, `last:20` (messages), `faded:24000` or `faded:24000:4096` (tokens, reserve).
 *
 * @throws TypeError for any other text
 */
export function parseContextPolicy(text: string): ContextPolicy {
  const [name, first, second, ...more] = text.split(':');
  const policy = more.length > 0 ? null : policyOf(name, countIn(first), countIn(second));
  if (policy === null)
    throw new TypeError(
      `${JSON.stringify(text)} is not a context policy; write full, last:MESSAGES, faded:TOKENS or faded:TOKENS:RESERVE.`,
    );
  checkContextPolicy(policy);
  return policy;
}

function policyOf(
  name: string | undefined,
  first: number | undefined,
  second: number | undefined,
): ContextPolicy | null {
  if (name === 'full') return first === undefined && second === undefined ? { name } : null;
  if (first === undefined) return null;
  if (name === 'last') return second === undefined ? { name: 'lastMessages', count: first } : null;
  if (name !== 'faded') return null;
  return { name, budget: first, ...(second === undefined ? {} : { reserve: second }) };
}

/** NaN for a text that is not a whole number; every policy refuses it. */
function countIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}

function assertCount(name: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw new TypeError(`${name} must be a whole number from ${least}; it is ${value}.`);
}

/** Counts the tokens of a text. The same text has the same count, always. */
export interface TokenCounter {
  /** Names the counter in manifests, such as `gpt-tokenizer/o200k_base`: the same id means the same counts. */
  readonly id: string;
  count(text: string): number;
}
