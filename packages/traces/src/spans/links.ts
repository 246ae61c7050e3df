import type { CapturedEvent } from '@hansard/events';
import type { Link } from '@opentelemetry/api';
import { hansard } from './attributes.ts';
import { contextOf } from './record-factory.ts';

/** The default limit of the libraries. */
const most = 128;

type LinkKind = 'substance' | 'cause' | 'via';

/** Finds the trace and the span of an event of this or another dispatch. */
export type FindSpan = (
  id: string,
  dispatchId?: string,
) => { readonly traceId: string; readonly spanId: string };

/** Collects the links of one span. Links over the limit are counted. */
export class LinkList {
  readonly links: Link[] = [];
  dropped = 0;

  /** Adds the references of an event. A delivery from another dispatch names that dispatch. */
  take(event: CapturedEvent, find: FindSpan, own: string | null, dispatchId?: string): void {
    for (const [kind, id] of referencesOf(event)) {
      const { traceId, spanId } = find(id, dispatchId);
      if (spanId === own) continue;
      if (this.links.length === most) {
        this.dropped += 1;
        continue;
      }
      this.links.push({
        context: contextOf(traceId, spanId),
        attributes: { [hansard.link]: kind, [hansard.eventId]: id },
      });
    }
  }
}

export function causesOf({ cause }: CapturedEvent): readonly string[] {
  if (cause === undefined) return [];
  return typeof cause === 'string' ? [cause] : cause;
}

function referencesOf(event: CapturedEvent): (readonly [LinkKind, string])[] {
  return [
    ...(event.substance === undefined ? [] : [['substance', event.substance] as const]),
    ...causesOf(event).map((id) => ['cause', id] as const),
    ...(event.via === undefined ? [] : [['via', event.via] as const]),
  ];
}
