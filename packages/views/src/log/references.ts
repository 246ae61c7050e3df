import type { CapturedEvent } from '@hansard/events';
import type { LogDiagnostic } from './diagnostic.ts';
import type { EventIds } from './event-ids.ts';
import type { LogNode } from './log-node.ts';

export interface Reference {
  readonly kind: 'cause' | 'substance' | 'via' | 'subject' | 'previous';
  readonly id: string;
  /** The dispatch that sent a message, and in which the event may be. Absent: the event is in this log. */
  readonly dispatchId?: string;
}

const none: readonly Reference[] = [];

/** The references of an event to others, as recorded. */
export function referencesIn({ type, cause, substance, via, data }: CapturedEvent): readonly Reference[] {
  const isDecision = type === 'harness:hook_decision';
  if (cause === undefined && substance === undefined && via === undefined && !isDecision) return none;
  const references: Reference[] = [];
  const sender = senderOf(type, data);
  if (typeof cause === 'string') references.push({ kind: 'cause', id: cause, ...sender });
  else if (cause !== undefined) for (const id of cause) references.push({ kind: 'cause', id, ...sender });
  if (substance !== undefined) references.push({ kind: 'substance', id: substance, ...sender });
  if (via !== undefined) references.push({ kind: 'via', id: via });
  if (!isDecision) return references;
  if (typeof data.subject === 'string') references.push({ kind: 'subject', id: data.subject });
  if (typeof data.previous === 'string') references.push({ kind: 'previous', id: data.previous });
  for (const id of Array.isArray(data.madeFrom) ? data.madeFrom : [])
    if (typeof id === 'string') references.push({ kind: 'subject', id });
  return references;
}

/** The other dispatch that sent a message. */
export function senderOf(type: string, data: CapturedEvent['data']): { readonly dispatchId?: string } {
  if (type !== 'user:message') return {};
  const { source } = data;
  const dispatchId =
    typeof source === 'object' && source !== null && !Array.isArray(source) ? source.dispatchId : undefined;
  return typeof dispatchId === 'string' ? { dispatchId } : {};
}

/** The pass that checks references: one diagnostic for each that names an unknown id, or an event that is not earlier. */
export function checkReferences(
  nodes: readonly LogNode[],
  { find }: Pick<EventIds, 'find'>,
): readonly LogDiagnostic[] {
  return nodes.flatMap(({ event, position }) =>
    referencesIn(event).flatMap(
      (reference) => referenceProblem(event.id, position, reference, find(reference.id)?.position) ?? [],
    ),
  );
}

/** What is wrong with a reference of the event at a position. Null: nothing. `target`: the position that it leads to. */
export function referenceProblem(
  eventId: string,
  position: number,
  { kind, id, dispatchId }: Reference,
  target: number | undefined,
): LogDiagnostic | null {
  if (target === undefined) {
    // The report is in the file of a sub-agent, which the source may not have.
    if (dispatchId !== undefined || id.endsWith(':report')) return null;
    const message = `The ${kind} of ${eventId} is ${id}, which is not in this log.`;
    return { code: 'reference_lost', eventId, message };
  }
  if (target < position) return null;
  const message = `The ${kind} of ${eventId} is ${id}, which did not happen before it.`;
  return { code: 'reference_ahead', eventId, message };
}
