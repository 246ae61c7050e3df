import {
  type EventLinks,
  findNotJson,
  type IdSource,
  type JsonObject,
  type NewEvent,
  newEvent,
} from '@hansard/events';
import type { HookDecision, HookProvider, HookQuestion } from '@hansard/provider';
import { untilAborted } from '../async/until-aborted.ts';
import { describeFailure } from '../describe-failure.ts';

/** The hooks to ask, and when to stop. */
export interface HookAsking {
  readonly hooks: readonly HookProvider[];
  /** Stops the asking, even if a hook hangs. */
  readonly signal: AbortSignal;
  readonly createId: IdSource;
}

export interface HookInquiry<T> {
  /** The value that the hooks decide on; an alteration replaces it. */
  readonly value: T;
  ask(value: T): HookQuestion;
  /** The value that an alteration contains; undefined if it has none. */
  alteredBy(decision: Extract<HookDecision, { decision: 'alter' }>): T | undefined;
  /** Data of decision events besides the hook, the question and the answer. */
  readonly data: JsonObject;
  /** Further data of an alteration that the log would not contain elsewhere. */
  alterationData?(value: T): JsonObject;
  readonly links: EventLinks;
}

export interface HookVerdict<T> {
  /** The decisions, except plain allows, and the failures of hooks, to be recorded in this order. */
  readonly events: readonly NewEvent[];
  readonly value: T;
  readonly denied: HookDenial | null;
  /** The id of the last decision that altered or denied. */
  readonly via: string | null;
}

export interface HookDenial {
  readonly hook: string;
  readonly reason: string;
}

/** Asks the hooks one after the other (see `HookProvider`). Rejects only when the signal aborts. */
export async function askHooks<T>(asking: HookAsking, inquiry: HookInquiry<T>): Promise<HookVerdict<T>> {
  const { hooks, signal, createId } = asking;
  const events: NewEvent[] = [];
  let { value } = inquiry;
  let via: string | null = null;
  const decide = (hook: HookProvider, decision: 'deny' | 'alter', more: JsonObject): void => {
    const { on } = inquiry.ask(value);
    via = createId();
    const data = { hook: `${hook.name}`, on, decision, ...inquiry.data, ...more };
    events.push({ ...inquiry.links, id: via, type: 'harness:hook_decision', data });
  };
  for (const hook of hooks) {
    try {
      const decision = await untilAborted(signal, () => hook.decide(structuredClone(inquiry.ask(value))));
      const checked = checkDecision(decision, inquiry);
      if (checked.decision === 'deny') {
        decide(hook, 'deny', { reason: checked.reason });
        return { events, value, denied: { hook: hook.name, reason: checked.reason }, via };
      }
      if (checked.decision === 'alter') {
        value = checked.value;
        const reason = checked.reason === undefined ? {} : { reason: checked.reason };
        decide(hook, 'alter', { ...reason, ...inquiry.alterationData?.(value) });
      }
    } catch (error) {
      signal.throwIfAborted();
      const { on } = inquiry.ask(value);
      const failure = describeFailure(error);
      const message = `The hook ${hook.name} could not decide on a ${on}: ${failure.message}`;
      events.push(newEvent('harness:error', { ...failure, message }, inquiry.links));
      if (hook.required !== true) continue;
      const reason = 'this hook must be asked, and it failed';
      decide(hook, 'deny', { reason });
      return { events, value, denied: { hook: hook.name, reason }, via };
    }
  }
  return { events, value, denied: null, via };
}

/** The text that an agent gets as the result of a call that a hook denied. */
export function blockedText({ hook, reason }: HookDenial): string {
  return `Error: Action blocked by hook '${hook}': ${reason}`;
}

type CheckedDecision<T> =
  | { readonly decision: 'allow' }
  | { readonly decision: 'deny'; readonly reason: string }
  | { readonly decision: 'alter'; readonly reason: string | undefined; readonly value: T };

/** @throws TypeError if it is not a decision on the question */
function checkDecision<T>(decision: HookDecision, inquiry: HookInquiry<T>): CheckedDecision<T> {
  switch (decision?.decision) {
    case 'allow':
      return decision;
    case 'deny':
      if (typeof decision.reason === 'string') return decision;
      throw new TypeError('it denied without a reason.');
    case 'alter': {
      const value = inquiry.alteredBy(decision);
      if (value === undefined || findNotJson(value) !== null)
        throw new TypeError('it altered without saying into what.');
      const { reason } = decision;
      return { decision: 'alter', reason: typeof reason === 'string' ? reason : undefined, value };
    }
    default:
      throw new TypeError('it gave no decision.');
  }
}
