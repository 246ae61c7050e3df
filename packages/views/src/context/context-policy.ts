/**
 * What becomes of output (`agent:output`) that an agent observed before its last action. `omitted`: it is left out; only
 * the output since the last action is shown, as the unified event log has it. `kept`: it stays where it was.
 */
export type EarlierOutput = 'omitted' | 'kept';

/** Everything. */
export interface FullPolicy {
  readonly name: 'full';
  /** Absent: `omitted`. */
  readonly earlierOutput?: EarlierOutput;
}

/** The system prompts and the last messages. An answer stays together with the results of its calls. */
export interface LastMessagesPolicy {
  readonly name: 'lastMessages';
  /** The most messages beside system prompts; more only where the newest answer with its results has more. */
  readonly count: number;
  /** How many messages are dropped at once, so that the beginning stays the same in between. Absent: 1. */
  readonly step?: number;
  /** Absent: `omitted`. */
  readonly earlierOutput?: EarlierOutput;
}

/**
 * Faded memory: the older, the less detail (high, medium, low, omitted), within a budget. System prompts and the newest
 * message are never shortened. Fading goes in steps: when the budget is full, a share of it is made free at once, so that
 * the beginning of the prompt stays the same, and in the provider's cache, until it is full again.
 */
export interface FadedPolicy {
  readonly name: 'faded';
  /** Tokens. */
  readonly budget: number;
  /** Tokens of the budget that are kept free, such as for tool definitions and the answer. Absent: 0. */
  readonly reserve?: number;
  /** The share of the budget that a step makes free, from 0 (fade as little as possible, each time) to below 1. Absent: 0.25. */
  readonly step?: number;
  /** Absent: `kept`; it fades with the rest. */
  readonly earlierOutput?: EarlierOutput;
}

export type ContextPolicy = FullPolicy | LastMessagesPolicy | FadedPolicy;

/** @throws TypeError for a policy that makes no sense */
export function checkContextPolicy(policy: ContextPolicy): void {
  switch (policy.name) {
    case 'full':
      return;
    case 'lastMessages':
      assertCount('count', policy.count, 1);
      assertCount('step', policy.step ?? 1, 1);
      if ((policy.step ?? 1) > policy.count)
        throw new TypeError(
          `A policy that shows ${policy.count} messages can't drop ${policy.step} at once.`,
        );
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
        `There is no context policy ${JSON.stringify(policy)}; there are full, lastMessages and faded.`,
      );
  }
}

/**
 * The policy that a short text names: `full`, `last:20` (messages), `faded:24000` or `faded:24000:4096` (tokens, reserve).
 * @throws TypeError for any other text
 */
export function parseContextPolicy(text: string): ContextPolicy {
  const [name, first, second, ...more] = text.split(':');
  const policy = more.length > 0 ? null : policyOf(name, countIn(first), countIn(second));
  if (policy === null)
    throw new TypeError(
      `${JSON.stringify(text)} is no context policy; write full, last:MESSAGES, faded:TOKENS or faded:TOKENS:RESERVE.`,
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

/** NaN for what is no number, which no policy takes. */
function countIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}

function assertCount(name: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw new TypeError(`${name} must be a whole number from ${least}; it is ${value}.`);
}
