import type { CapturedEvent } from '@hansard/events';

interface Reference {
  readonly kind: 'cause' | 'substance' | 'via' | 'subject';
  readonly id: string;
}

/** What an event refers to, by id. */
export function referencesIn({ type, cause, substance, via, data }: CapturedEvent): Reference[] {
  const references: Reference[] = [];
  if (typeof cause === 'string') references.push({ kind: 'cause', id: cause });
  else if (cause !== undefined) for (const id of cause) references.push({ kind: 'cause', id });
  if (substance !== undefined) references.push({ kind: 'substance', id: substance });
  if (via !== undefined) references.push({ kind: 'via', id: via });
  if (type === 'harness:hook_decision' && typeof data.subject === 'string') {
    references.push({ kind: 'subject', id: data.subject });
  }
  return references;
}
