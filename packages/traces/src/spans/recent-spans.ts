import { keyOf, spanIdOf } from './identity.ts';

/** The number of recent events that can be linked to their spans. */
const most = 16_384;

/**
 * The spans of the latest events. Most events are not spans themselves: a text belongs to its model call, a delivery to no
 * span. Bounded, so that memory does not grow with the log.
 */
export class RecentSpans {
  readonly #spans = new Map<string, string>();

  set(dispatchId: string, id: string, spanId: string): void {
    this.#spans.set(keyOf(dispatchId, id), spanId);
    if (this.#spans.size <= most) return;
    for (const oldest of this.#spans.keys()) {
      this.#spans.delete(oldest);
      break;
    }
  }

  /** The span of an event or a message; if it is unknown or was dropped, the span id derived from its id. */
  get(dispatchId: string, id: string): string {
    return this.known(dispatchId, id) ?? spanIdOf(dispatchId, id);
  }

  known(dispatchId: string, id: string): string | undefined {
    return this.#spans.get(keyOf(dispatchId, id));
  }
}
