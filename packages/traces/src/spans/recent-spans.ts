import { keyOf, spanIdOf } from './identity.ts';

/** How far back an event can be linked to the span that it became part of. */
const most = 16_384;

/**
 * Which span the latest events became part of. Most events are not spans themselves: a text belongs to its model call,
 * a delivery to nothing. Bounded, so that memory does not grow with the log.
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

  /** The span of an event or a message; of one that is not known (any more), the span that would have its id. */
  get(dispatchId: string, id: string): string {
    return this.known(dispatchId, id) ?? spanIdOf(dispatchId, id);
  }

  known(dispatchId: string, id: string): string | undefined {
    return this.#spans.get(keyOf(dispatchId, id));
  }
}
