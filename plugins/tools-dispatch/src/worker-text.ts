import { formatCost } from '@hansard/facts';
import type { DispatchEnvelope, JsonObject } from '@hansard/provider';
import { cutText } from './cut-text.ts';

/** Which worker it is and how it stands, on one line. */
export function statusLine({ dispatchId, role, status, cost }: DispatchEnvelope): string {
  return [`${role} ${dispatchId}: ${status}`, ...(cost === null ? [] : [formatCost(cost)])].join(', ');
}

/** The structured result on lines of its own; nothing where there is none. */
export function structuredResultLines({ structuredResult }: DispatchEnvelope, limit: number): string[] {
  if (structuredResult === null) return [];
  return [`structured result: ${cutText(JSON.stringify(structuredResult), limit)}`];
}

/** What links the tool call with its worker. */
export function workerMetadata({ dispatchId, status }: DispatchEnvelope): JsonObject {
  return { dispatchId, status };
}
