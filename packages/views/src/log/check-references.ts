import type { LogDiagnostic } from './diagnostic.ts';
import type { GatheredLog } from './gather-log.ts';
import { referencesIn } from './references-in.ts';
import { resolveReference } from './resolve-reference.ts';

/** Reports the references that lead nowhere, and those to what did not happen before. */
export function checkReferences(log: GatheredLog, report: (diagnostic: LogDiagnostic) => void): void {
  for (const { event, position } of log.nodes) {
    for (const { kind, id } of referencesIn(event)) {
      const target = resolveReference(log, id);
      if (target === null) {
        const message = `The ${kind} of ${event.id} is ${id}, which is not in this log.`;
        report({ code: 'reference_lost', eventId: event.id, message });
      } else if (target.position >= position) {
        const message = `The ${kind} of ${event.id} is ${id}, which did not happen before it.`;
        report({ code: 'reference_ahead', eventId: event.id, message });
      }
    }
  }
}
