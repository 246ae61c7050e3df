import type { CapturedEvent } from '@hansard/events';
import type { Link } from '@opentelemetry/api';
import { hansard } from './attributes.ts';
import { contextOf } from './record-factory.ts';

/** The libraries' own limit. */
const most = 128;

type LinkKind = 'substance' | 'cause' | 'via';

/** Finds the trace and the span of an event of this or another dispatch. */
export type FindSpan = (
  id: string,
  dispatchId?: string,
) => { readonly traceId: string; readonly spanId: string };

/** The links that one span will have; those beyond the limit are counted. */
export class LinkList {
  readonly links: Link[] = [];
  dropped = 0;

  /** Takes what an event refers to. A delivery from another dispatch says which. */
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
