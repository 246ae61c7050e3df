import { type CapturedEvent, type Diagnostic, isEvent, isEventOf } from '@hansard/events';

const lostInput = 'The input was not kept: the log of this session is a narrative.';

const lostOutput = '[The result was not kept: the log of this session is a narrative.]';

export type SessionDiagnosticCode =
  | 'unreadable_event'
  | 'unknown_agent'
  | 'agent_created_twice'
  | 'second_root'
  | 'reference_ahead'
  | 'reference_to_nowhere'
  | 'not_in_log'
  | 'content_not_kept'
  | 'tools_gone';

/** Something in a log that a session would not have written. The event is kept, and the session continues. */
export interface SessionDiagnostic extends Diagnostic<SessionDiagnosticCode> {
  readonly eventId: string;
  /** Of `not_in_log`: the length of the log. */
  readonly position: number;
}

interface Reference {
  /** The event that refers. */
  readonly event: Pick<CapturedEvent, 'type' | 'id'>;
  readonly position: number;
  readonly field: string;
  /** How many ids were read before it. */
  readonly after: number;
}

/**
 * Reads the events of a log in order and collects diagnostics. References are resolved at the end, because a look-up for each
 * event would take longer than all the rest.
 */
export class DiagnosticFinder {
  readonly #diagnostics: SessionDiagnostic[] = [];
  /** The ids of events and messages, in the order of the log. */
  readonly #ids: string[] = [];
  readonly #created = new Set<string>();
  readonly #unknownAgents = new Set<string>();
  /** The references, by the id that they name, except those to the event before. */
  readonly #references = new Map<string, Reference[]>();
  #hasRoot = false;
  #length = 0;
  /** What a narrative does not have. */
  readonly #lost = { input: 0, output: 0, text: 0 };
  #firstLoss: { readonly eventId: string; readonly position: number } | null = null;
  /** The events that the log should have and that were not read yet. */
  readonly #expected: Set<string>;

  constructor(expected: readonly CapturedEvent[] = []) {
    this.#expected = new Set(expected.map(({ id }) => id));
  }

  /** Returns false for an event that this version cannot read. */
  observe(event: CapturedEvent, position: number): boolean {
    const isReadable = isEvent(event);
    if (!isReadable)
      this.#note('unreadable_event', event, position, 'its data has a shape that this version does not know');
    else if (event.type === 'agent:created') this.#observeCreation(event, position);
    else this.#observeOwner(event, position);
    this.#observeReferences(event, position);
    const lost = isReadable ? lostContent(event) : null;
    if (lost !== null) {
      this.#lost[lost] += 1;
      this.#firstLoss ??= { eventId: event.id, position };
    }
    this.#expected.delete(event.id);
    this.#length = position + 1;
    this.#ids.push(event.id);
    if (event.messageId !== undefined && event.messageId !== event.id) this.#ids.push(event.messageId);
    return isReadable;
  }

  /** The diagnostics of the whole log, in its order. */
  finish(): readonly SessionDiagnostic[] {
    for (const [place, id] of this.#ids.entries()) {
      if (this.#references.size === 0) break;
      this.#resolve(id, 'reference_ahead', 'which comes later', place);
    }
    for (const id of [...this.#references.keys()])
      this.#resolve(id, 'reference_to_nowhere', 'which is not in this log', this.#ids.length);
    if (this.#firstLoss !== null) {
      const { input, output, text } = this.#lost;
      const texts = text === 0 ? '' : ` Parts of ${text} messages or observations are missing.`;
      const message = `The log is a narrative: it does not have the inputs of tool calls (${input}) and their outputs (${output}).${texts} Models read in their place that they were not kept.`;
      this.#diagnostics.push({ code: 'content_not_kept', message, ...this.#firstLoss });
    }
    const [eventId] = this.#expected;
    if (eventId !== undefined) {
      const message = `${this.#expected.size} of the given events, ${eventId} first, are not in the session. It was continued without them.`;
      this.#diagnostics.push({ code: 'not_in_log', eventId, position: this.#length, message });
    }
    return this.#diagnostics.toSorted((one, other) => one.position - other.position);
  }

  #observeCreation(event: CapturedEvent, position: number): void {
    const { agentId = '', cause, data } = event;
    const isRoot = cause === undefined && data.peer !== true;
    if (this.#created.has(agentId))
      this.#note('agent_created_twice', event, position, `${agentId} was created before; that one counts`);
    else if (isRoot && this.#hasRoot)
      this.#note('second_root', event, position, `${agentId} has no cause, and there is a root already`);
    this.#created.add(agentId);
    // The first agent without a cause decides whether the log has a root.
    this.#hasRoot ||= cause === undefined;
  }

  #observeOwner(event: CapturedEvent, position: number): void {
    const { agentId } = event;
    if (agentId === undefined || this.#created.has(agentId) || this.#unknownAgents.has(agentId)) return;
    this.#unknownAgents.add(agentId);
    this.#note('unknown_agent', event, position, `${agentId} was not created before`);
  }

  #observeReferences(event: CapturedEvent, position: number): void {
    const { substance, cause, via } = event;
    if (typeof cause === 'string') this.#refer(cause, event, position, 'cause');
    else if (cause !== undefined) for (const id of cause) this.#refer(id, event, position, 'cause');
    if (substance !== undefined) this.#refer(substance, event, position, 'substance');
    if (via !== undefined) this.#refer(via, event, position, 'via');
  }

  #refer(id: string, { type, id: eventId }: CapturedEvent, position: number, field: string): void {
    const after = this.#ids.length;
    if (id === this.#ids[after - 1]) return;
    const reference = { event: { type, id: eventId }, position, field, after };
    const others = this.#references.get(id);
    if (others === undefined) this.#references.set(id, [reference]);
    else others.push(reference);
  }

  /** The id is at `place` for the first time. Notes the references to it that were read before. */
  #resolve(id: string, code: SessionDiagnosticCode, what: string, place: number): void {
    const references = this.#references.get(id);
    if (references === undefined) return;
    this.#references.delete(id);
    for (const { event, position, field, after } of references)
      if (after <= place) this.#note(code, event, position, `its ${field} is ${id}, ${what}`);
  }

  #note(code: SessionDiagnosticCode, event: Reference['event'], position: number, what: string): void {
    const message = `${event.type} ${event.id} (position ${position}): ${what}.`;
    this.#diagnostics.push({ code, eventId: event.id, position, message });
  }
}

/** What a narrative does not have of an event that is part of a prompt. Null: nothing. */
function lostContent(event: CapturedEvent): 'input' | 'output' | 'text' | null {
  const { leftOut } = event.data;
  if (typeof leftOut !== 'object' || leftOut === null) return null;
  if (event.type === 'agent:tool_call') return 'input' in leftOut ? 'input' : null;
  if (event.type === 'agent:tool_result') return 'output' in leftOut ? 'output' : null;
  return event.type === 'user:message' || event.type === 'agent:output' ? 'text' : null;
}

/** An event that was read from the log, for a prompt: the model reads that a content was not kept, and takes nothing for an empty one. */
export function sayLoss(event: CapturedEvent): CapturedEvent {
  switch (lostContent(event)) {
    case 'input':
      return { ...event, data: { ...event.data, input: { notKept: lostInput } } };
    case 'output': {
      const error = isEventOf(event, 'agent:tool_result') ? event.data.error : undefined;
      const output = error === undefined ? lostOutput : `${error}\n${lostOutput}`;
      return { ...event, data: { ...event.data, output } };
    }
    default:
      return event;
  }
}
