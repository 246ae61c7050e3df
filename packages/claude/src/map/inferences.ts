import { hash } from 'node:crypto';
import { type EventOf, isId, type JsonObject, type JsonValue } from '@hansard/events';
import { asObject, hasFields, withoutNull } from '../lines/json-fields.ts';
import { RecentMap } from './horizon.ts';
import type { SubAgent } from './sub-agents.ts';
import { hasTokens, usageOnTop } from './usage.ts';

/** One model message while its lines arrive. */
export interface Inference {
  readonly agent: SubAgent | undefined;
  readonly messageId: string | undefined;
  /** The id of its event. Undefined: neither the message nor its first line has an id. */
  readonly id: string | undefined;
  model: string | undefined;
  /** The last known figures, in the spelling of the source. */
  usage: JsonObject;
  /** Whether `usage` is final. The lines of the blocks have preliminary figures. */
  isFinal: boolean;
  stopReason: string | undefined;
  details: JsonObject;
  /** The time of the last line with a time and other figures than the line before. Null: no such line has one. */
  timestamp: string | null;
}

/** Usage of a model message that no event has. It counts as an open call, because events never change. */
export interface LateUsage {
  readonly agentId: string | undefined;
  readonly messageId: string;
  readonly id: string;
  readonly model: string | undefined;
  readonly usage: JsonObject;
  readonly timestamp: string | null;
  /** Whether an event has the message, which used more than that event says. */
  readonly isMore?: true;
}

/** A call that the events do not have; with `isMore`, what a call of the events used more. */
export type OpenCallEvent = EventOf<'agent:inference'> & { readonly isMore?: true };

const mostCounted = 2_000;

/** The facts of one line about a model message. */
export interface InferenceNews {
  readonly model?: string | undefined;
  readonly usage?: JsonObject | undefined;
  readonly isFinal?: boolean;
  readonly stopReason?: string | undefined;
  readonly details?: JsonObject;
  readonly timestamp: string | null;
}

/**
 * Joins the lines of one model message, so that its usage counts once. A message is over with its last line (`isLastLine`),
 * when the next message of its agent begins, when its stream stops, or when its agent ends. A tool result does not end a message: a tool may answer
 * while other blocks of the message still arrive.
 */
export class Inferences {
  readonly #open = new Map<string | undefined, Inference>();
  #over: Inference[] = [];
  /** The usage of the latest messages that have ended, by agent and message. */
  readonly #counted = new RecentMap<JsonObject>(mostCounted);
  /** The usage that later lines add to a message that had ended. By id; a later line replaces an earlier one. */
  readonly #again = new Map<string, LateUsage>();
  /** The usage of messages in the records of another agent. By id. */
  readonly #elsewhere = new Map<string, LateUsage>();
  /** The last message of each agent that is over. */
  readonly #latest = new Map<string | undefined, Inference>();

  /** Adds the facts of a line, which has an id of its own. A message without an id is new each time. */
  hear(
    agent: SubAgent | undefined,
    messageId: string | undefined,
    lineId: string | undefined,
    news: InferenceNews,
  ): void {
    let inference = this.#open.get(agent?.id);
    if (inference === undefined || messageId === undefined || inference.messageId !== messageId) {
      this.end(agent);
      inference = {
        agent,
        messageId,
        id: inferenceIdOf(messageId ?? lineId),
        model: undefined,
        usage: {},
        isFinal: false,
        stopReason: undefined,
        details: {},
        timestamp: news.timestamp,
      };
      this.#open.set(agent?.id, inference);
    }
    // Lines with a reason to stop all have the final figures, so the first of them counts.
    if (inference.stopReason !== undefined && isSame(inference.usage, news.usage)) return;
    if (news.usage !== undefined && (news.isFinal || !inference.isFinal)) {
      inference.usage = joined(inference.usage, withoutNull(news.usage));
    }
    inference.isFinal ||= news.isFinal ?? false;
    inference.model ??= news.model;
    inference.stopReason = news.stopReason ?? inference.stopReason;
    if (news.details !== undefined) inference.details = joined(inference.details, news.details);
    inference.timestamp = news.timestamp ?? inference.timestamp;
  }

  /** Ends the agent's message. */
  end(agent: SubAgent | undefined): void {
    const inference = this.#open.get(agent?.id);
    if (inference === undefined) return;
    this.#open.delete(agent?.id);
    this.#over.push(inference);
    this.#latest.set(agent?.id, inference);
    this.#counted.set(`${agent?.id ?? ''} ${inference.messageId}`, inference.usage);
  }

  /**
   * Adds a later line of a message that had ended, because another message came between its lines: the last line
   * counts. Null: done. Otherwise why the line cannot count.
   */
  hearAgain(
    agent: SubAgent | undefined,
    messageId: string,
    { model, usage = {}, timestamp }: InferenceNews,
  ): 'unknown' | 'less' | null {
    const counted = this.#counted.get(`${agent?.id ?? ''} ${messageId}`);
    if (counted === undefined) return 'unknown';
    const more = usageOnTop(counted, withoutNull(usage));
    if (more === null) return 'less';
    if (!hasTokens(more)) return null;
    const id = `${inferenceIdOf(messageId)}:again`;
    this.#again.set(id, { agentId: agent?.id, messageId, id, model, usage: more, timestamp });
    return null;
  }

  /** Adds a message of an agent that a record of another agent holds. Its own record counts, if the source has it. */
  hearElsewhere(agentId: string, messageId: string, { model, usage = {}, timestamp }: InferenceNews): void {
    const id = inferenceIdOf(messageId) ?? messageId;
    this.#elsewhere.set(id, { agentId, messageId, id, model, usage: withoutNull(usage), timestamp });
  }

  /** The usage that no event has. `isEvent`: whether an event has an id. */
  lateUsage(isEvent: (id: string) => boolean): LateUsage[] {
    const more = [...this.#again.values()].map((late) => ({ ...late, isMore: true as const }));
    return [...more, ...this.onlyElsewhere(isEvent)];
  }

  /** The usage of messages that only the records of other agents hold. */
  onlyElsewhere(isEvent: (id: string) => boolean): LateUsage[] {
    const open = new Set([...this.#open.values()].map(({ id }) => id));
    return [...this.#elsewhere.values()].filter(({ id }) => !isEvent(id) && !open.has(id));
  }

  /** The usage of later lines, for a reading that continues this one. */
  get again(): readonly LateUsage[] {
    return [...this.#again.values()];
  }

  set again(again: readonly LateUsage[]) {
    this.#again.clear();
    for (const late of again) this.#again.set(late.id, late);
  }

  /** Whether a line only continues the agent's last message, which is over, with the same usage. */
  isContinued(agent: SubAgent | undefined, messageId: string, usage: JsonObject): boolean {
    const latest = this.#latest.get(agent?.id);
    return latest?.messageId === messageId && isSame(latest.usage, usage);
  }

  endAll(): void {
    for (const { agent } of [...this.#open.values()]) this.end(agent);
  }

  /** The messages that are not over. */
  get open(): readonly Inference[] {
    return [...this.#open.values()];
  }

  /** Drops messages other than these, each named by agent and message. */
  retain(open: ReadonlySet<string>): void {
    for (const [agentId = '', { messageId = '' }] of [...this.#open])
      if (!open.has(`${agentId} ${messageId}`)) this.#open.delete(agentId === '' ? undefined : agentId);
  }

  /** Removes and returns the messages that are over. */
  takeOver(): Inference[] {
    const over = this.#over;
    if (over.length > 0) this.#over = [];
    return over;
  }
}

function isSame(before: JsonObject, usage: JsonObject | undefined): boolean {
  return usage === undefined || JSON.stringify(before) === JSON.stringify(withoutNull(usage));
}

/** The id of the `agent:inference` of a message with this id, or with this first line. */
export function inferenceIdOf(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const id = `${name}:inference`;
  return isId(id) ? id : `${hash('sha256', name, 'hex').slice(0, 40)}:inference`;
}

/**
 * Whether a line is the last of its message: it has a reason to stop, and ends with a text. After a tool call, further
 * calls of the message may follow.
 */
export function isLastLine(stopReason: string | undefined, blocks: readonly JsonValue[]): boolean {
  const last = asObject(blocks.at(-1));
  return stopReason !== undefined && stopReason !== 'tool_use' && last?.type === 'text';
}

function joined(before: JsonObject, more: JsonObject): JsonObject {
  return hasFields(before) ? { ...before, ...more } : more;
}

const messageKeys = new Set(['id', 'type', 'role', 'model', 'content', 'usage', 'stop_reason']);

/** The fields of a model message that are not in the events of its blocks. */
export function otherMessageFields(message: JsonObject): JsonObject {
  return withoutNull(message, messageKeys);
}
