import {
  type EventLinks,
  findNotJson,
  type IdSource,
  isTimestamp,
  type JsonObject,
  type NewEvent,
  newEvent,
} from '@hansard/events';
import type { Awaitable, HookDecision, HookProvider, HookQuestion, PersonQuestion } from '@hansard/provider';
import { untilAborted } from '../async/until-aborted.ts';
import { describeFailure } from '../describe-failure.ts';
import type { HookPart } from '../hooks/hook-part.ts';
import { type AnswerTime, answerInTime } from './answer-in-time.ts';

/** The hooks to ask, and when to stop. */
export interface HookAsking extends AnswerTime {
  readonly hooks: readonly HookProvider[];
  /** The part of a hook in a question. `causes`: the events that brought the question about. Null: it is not asked. */
  part(hook: HookProvider, question: HookQuestion, causes: readonly string[]): HookPart | null;
  readonly createId: IdSource;
  /** Whether the log has an event or a message with this id, so that a decision can name it as its cause. */
  isLogged(id: string): Awaitable<boolean>;
}

export interface HookInquiry<T> {
  /** The value that the hooks decide on; an alteration replaces it. */
  readonly value: T;
  ask(value: T): HookQuestion;
  /** The value that an alteration contains; undefined if it has none. */
  alteredBy(decision: Extract<HookDecision, { decision: 'alter' }>): T | undefined;
  /** The value of an alteration as data of its event. */
  made(value: T): JsonObject;
  /** Data of decision events besides the hook, the question and the answer. */
  readonly data: JsonObject;
  /** Further data of the first decision: the value that it was given, if no event has it. */
  readonly given?: JsonObject | undefined;
  /** The decision before the first one: the last one on the same call. */
  readonly previous?: string | null;
  /** The causes of what a hook does while it decides. Absent: those of the links. */
  readonly causes?: readonly string[];
  readonly links: EventLinks;
  /** Whether a person can be asked. Absent: no; a hook that wants that denies. */
  readonly canAsk?: boolean | undefined;
  /** Whether a hook can have the value made again. Absent: no; a hook that wants that denies. */
  readonly canRetry?: boolean | undefined;
}

export interface HookVerdict<T> {
  /** The decisions, except plain allows, and the failures of hooks, to be recorded in this order. */
  readonly events: readonly NewEvent[];
  readonly value: T;
  readonly denied: HookDenial | null;
  /** Whether the value that was denied is to be made again. */
  readonly retries: boolean;
  /** What a person is to be asked before the call is made. Null: nothing, or the call was denied. */
  readonly asked: (PersonQuestion & { readonly by: string }) | null;
  /** The id of the last decision of the chain: those of this inquiry, or the `previous` of the inquiry. */
  readonly via: string | null;
}

export interface HookDenial {
  readonly hook: string;
  readonly reason: string;
}

/** Asks the hooks one after the other (see `HookProvider`). Rejects only when the signal aborts. */
export async function askHooks<T>(asking: HookAsking, inquiry: HookInquiry<T>): Promise<HookVerdict<T>> {
  const { hooks, signal } = asking;
  const chain = new DecisionChain(asking, inquiry);
  const { on } = inquiry.ask(inquiry.value);
  for (const hook of hooks) {
    if (!decides(hook, on)) continue;
    let checked: CheckedDecision<T> | null;
    try {
      checked = await decisionOf(asking, hook, inquiry, chain.value);
    } catch (error) {
      signal.throwIfAborted();
      chain.fail(hook, error);
      if (hook.required !== true) continue;
      return chain.deny(hook, 'this hook must be asked, and it failed');
    }
    if (checked === null) continue;
    if (checked.decision === 'allow') continue;
    if (checked.decision === 'ask') {
      if (inquiry.canAsk !== true)
        return chain.deny(hook, `${checked.question.reason} (nobody can be asked here)`);
      chain.ask(hook, checked.question);
      continue;
    }
    const cause = await untilAborted(signal, () => chain.causeOf(hook, checked.cause));
    if (checked.decision !== 'alter')
      return chain.deny(
        hook,
        checked.reason,
        cause,
        checked.decision === 'retry' && inquiry.canRetry === true,
      );
    chain.alter(hook, checked, cause);
  }
  return chain.verdict();
}

type DecidingHook = HookProvider & Required<Pick<HookProvider, 'decide'>>;

const usual: readonly HookQuestion['on'][] = ['tool_call', 'tool_result', 'delivery'];

/** Whether a hook is asked questions of this kind. */
export function decides(hook: HookProvider, on: HookQuestion['on']): hook is DecidingHook {
  return hook.decide !== undefined && (hook.decidesOn ?? usual).includes(on);
}

/** Null: the hook is not asked. */
async function decisionOf<T>(
  asking: HookAsking,
  hook: DecidingHook,
  inquiry: HookInquiry<T>,
  value: T,
): Promise<CheckedDecision<T> | null> {
  const question = structuredClone(inquiry.ask(value));
  const part = asking.part(hook, question, inquiry.causes ?? [inquiry.links.cause ?? []].flat());
  if (part === null) return null;
  try {
    const decide = () => hook.decide(question, part.host);
    return checkDecision(await answerInTime(asking, hook, 'it gave no decision within', decide), inquiry);
  } finally {
    part.end();
  }
}

/** The text that an agent gets as the result of a call that a hook denied. */
export function blockedText({ hook, reason }: HookDenial): string {
  return `Error: Action blocked by hook '${hook}': ${reason}`;
}

/** The decisions on one question. Each names the one before it, whose value it was given. */
class DecisionChain<T> {
  value: T;
  readonly #asking: HookAsking;
  readonly #inquiry: HookInquiry<T>;
  readonly #events: NewEvent[] = [];
  #hasDecision = false;
  #last: string | null;
  #asked: HookVerdict<T>['asked'] = null;

  constructor(asking: HookAsking, inquiry: HookInquiry<T>) {
    this.#asking = asking;
    this.#inquiry = inquiry;
    this.value = inquiry.value;
    this.#last = inquiry.previous ?? null;
  }

  alter(
    hook: HookProvider,
    { reason, value }: Extract<CheckedDecision<T>, { decision: 'alter' }>,
    cause: string | undefined,
  ): void {
    this.value = value;
    this.#decide(
      hook,
      'alter',
      { ...(reason === undefined ? {} : { reason }), ...this.#inquiry.made(value) },
      cause,
    );
  }

  ask({ name }: HookProvider, question: PersonQuestion): void {
    this.#asked ??= { ...question, by: `${name}` };
  }

  deny(hook: HookProvider, reason: string, cause?: string, retries = false): HookVerdict<T> {
    this.#decide(hook, retries ? 'retry' : 'deny', { reason }, cause);
    return this.verdict({ hook: hook.name, reason }, retries);
  }

  fail(hook: HookProvider, error: unknown): void {
    const failure = describeFailure(error);
    const message = `The hook ${hook.name} could not decide on a ${this.#question}: ${failure.message}`;
    const withheld = this.#question === 'utterance' ? { withheld: true } : {};
    const data = { ...failure, message, hook: `${hook.name}`, ...withheld };
    this.#events.push(newEvent('harness:error', data, this.#inquiry.links));
  }

  /** The event that a hook names as the cause of its decision. An unknown one is recorded as an error, and the decision counts. */
  async causeOf({ name }: HookProvider, cause: unknown): Promise<string | undefined> {
    if (cause === undefined) return undefined;
    if (typeof cause === 'string' && (await this.#asking.isLogged(cause))) return cause;
    const message = `The hook ${name} named as the cause of its decision on a ${this.#question} an event that is not in the log.`;
    this.#events.push(newEvent('harness:error', { message, hook: `${name}` }, this.#inquiry.links));
    return undefined;
  }

  verdict(denied: HookDenial | null = null, retries = false): HookVerdict<T> {
    const asked = denied === null ? this.#asked : null;
    return { events: this.#events, value: this.value, denied, retries, asked, via: this.#last };
  }

  get #question(): HookQuestion['on'] {
    return this.#inquiry.ask(this.value).on;
  }

  #decide(
    { name }: HookProvider,
    decision: 'deny' | 'alter' | 'retry',
    more: JsonObject,
    cause: string | undefined,
  ): void {
    const { data, given, links } = this.#inquiry;
    const id = this.#asking.createId();
    this.#events.push({
      ...links,
      ...(cause === undefined ? {} : { cause: [...[links.cause ?? []].flat(), cause] }),
      id,
      type: 'harness:hook_decision',
      data: {
        hook: `${name}`,
        on: this.#question,
        decision,
        ...data,
        ...(this.#last === null ? {} : { previous: this.#last }),
        ...(this.#hasDecision ? {} : given),
        ...more,
      },
    });
    this.#hasDecision = true;
    this.#last = id;
  }
}

type CheckedDecision<T> =
  | { readonly decision: 'allow' }
  | { readonly decision: 'ask'; readonly question: PersonQuestion }
  | { readonly decision: 'deny' | 'retry'; readonly reason: string; readonly cause: unknown }
  | {
      readonly decision: 'alter';
      readonly reason: string | undefined;
      readonly value: T;
      readonly cause: unknown;
    };

/** @throws TypeError if it is not a decision on the question */
function checkDecision<T>(decision: HookDecision, inquiry: HookInquiry<T>): CheckedDecision<T> {
  switch (decision?.decision) {
    case 'allow':
      return { decision: 'allow' };
    case 'ask':
      return { decision: 'ask', question: checkQuestion(decision) };
    case 'deny':
    case 'retry': {
      const { reason, cause } = decision;
      if (typeof reason === 'string') return { decision: decision.decision, reason, cause };
      throw new TypeError('it denied without a reason.');
    }
    case 'alter': {
      const value = inquiry.alteredBy(decision);
      if (value === undefined || findNotJson(value) !== null)
        throw new TypeError('it altered without saying into what.');
      const { reason, cause } = decision;
      return { decision: 'alter', reason: typeof reason === 'string' ? reason : undefined, value, cause };
    }
    default:
      throw new TypeError('it gave no decision.');
  }
}

/** @throws TypeError */
function checkQuestion({ reason, choices, deadline, ...more }: PersonQuestion): PersonQuestion {
  if (typeof reason !== 'string') throw new TypeError('it asked a person without a reason.');
  if (choices !== undefined && !(Array.isArray(choices) && choices.every((one) => typeof one === 'string')))
    throw new TypeError('it asked a person with choices that are not a list of texts.');
  if (deadline !== undefined && !isTimestamp(deadline))
    throw new TypeError('it asked a person with a deadline that is not a UTC time with milliseconds.');
  if (more.default !== undefined && !['approve', 'refuse'].includes(more.default))
    throw new TypeError('it asked a person with a default that is not approve or refuse.');
  return {
    reason,
    ...(choices === undefined ? {} : { choices: [...choices] }),
    ...(deadline === undefined ? {} : { deadline }),
    ...(more.default === undefined ? {} : { default: more.default }),
  };
}
