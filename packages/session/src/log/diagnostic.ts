import { type CapturedEvent, type Diagnostic, isEvent } from '@hansard/events';

export type SessionDiagnosticCode =
  | 'unreadable_event'
  | 'unknown_agent'
  | 'agent_created_twice'
  | 'second_root'
  | 'reference_ahead'
  | 'reference_to_nowhere';

/** Something in a log that a session would not have written. The event is kept, and the session continues. */
export interface SessionDiagnostic extends Diagnostic<SessionDiagnosticCode> {
  readonly eventId: string;
  readonly position: number;
}

interface Reference {
  readonly from: CapturedEvent;
  readonly position: number;
  readonly field: string;
}

/** Reads the events of a log in order and collects diagnostics. */
export class DiagnosticFinder {
  readonly #diagnostics: SessionDiagnostic[] = [];
  readonly #seen = new Set<string>();
  readonly #created = new Set<string>();
  readonly #unknownAgents = new Set<string>();
  /** References to events that were not read yet, by the id that they name. */
  readonly #open = new Map<string, Reference[]>();
  #hasRoot = false;

  /** Returns false for an event that this version cannot read. */
  observe(event: CapturedEvent, position: number): boolean {
    const isReadable = isEvent(event);
    if (!isReadable)
      this.#note('unreadable_event', event, position, 'its data has a shape that this version does not know');
    else if (event.type === 'agent:created') this.#observeCreation(event, position);
    else this.#observeOwner(event, position);
    this.#observeReferences(event, position);
    for (const id of [event.id, event.messageId ?? event.id]) {
      this.#seen.add(id);
      this.#closeReferences(id, 'reference_ahead', 'which comes later');
    }
    return isReadable;
  }

  /** The diagnostics of the whole log, in its order. */
  finish(): readonly SessionDiagnostic[] {
    for (const id of [...this.#open.keys()])
      this.#closeReferences(id, 'reference_to_nowhere', 'which is not in this log');
    return this.#diagnostics.toSorted((one, other) => one.position - other.position);
  }

  #observeCreation(event: CapturedEvent, position: number): void {
    const { agentId = '', cause } = event;
    if (this.#created.has(agentId))
      this.#note('agent_created_twice', event, position, `${agentId} was created before; that one counts`);
    else if (cause === undefined && this.#hasRoot)
      this.#note('second_root', event, position, `${agentId} has no cause, and there is a root already`);
    this.#created.add(agentId);
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
    for (const id of [cause ?? []].flat()) this.#refer(id, { from: event, position, field: 'cause' });
    if (substance !== undefined) this.#refer(substance, { from: event, position, field: 'substance' });
    if (via !== undefined) this.#refer(via, { from: event, position, field: 'via' });
  }

  #refer(id: string, reference: Reference): void {
    if (this.#seen.has(id)) return;
    const waiting = this.#open.get(id);
    if (waiting === undefined) this.#open.set(id, [reference]);
    else waiting.push(reference);
  }

  #closeReferences(id: string, code: SessionDiagnosticCode, what: string): void {
    for (const { from, position, field } of this.#open.get(id) ?? [])
      this.#note(code, from, position, `its ${field} is ${id}, ${what}`);
    this.#open.delete(id);
  }

  #note(code: SessionDiagnosticCode, event: CapturedEvent, position: number, what: string): void {
    const message = `${event.type} ${event.id} (position ${position}): ${what}.`;
    this.#diagnostics.push({ code, eventId: event.id, position, message });
  }
}
