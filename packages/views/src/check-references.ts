import type { GatheredLog } from './gather-log.ts';
import type { Oddity } from './oddity.ts';
import { referencesIn } from './references-in.ts';
import { resolveReference } from './resolve-reference.ts';

/** Reports the references that lead nowhere, and those to what did not happen before. */
export function checkReferences(log: GatheredLog, report: (oddity: Oddity) => void): void {
  for (const { event, position } of log.nodes) {
    for (const { kind, id } of referencesIn(event)) {
      const target = resolveReference(log, id);
      if (target === null) {
        const text = `The ${kind} of ${event.id} is ${id}, which is not in this log.`;
        report({ kind: 'reference_lost', eventId: event.id, text });
      } else if (target.position >= position) {
        const text = `The ${kind} of ${event.id} is ${id}, which did not happen before it.`;
        report({ kind: 'reference_ahead', eventId: event.id, text });
      }
    }
  }
}
