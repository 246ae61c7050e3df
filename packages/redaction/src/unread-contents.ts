import type { CapturedEvent } from '@hansard/events';
import { isReadableAs, mediaPartsIn } from '@hansard/events/plain';

/** An image, a document or a sound of a log. No pattern reads its bytes, so a secret in it is neither found nor replaced. */
export interface UnreadContent {
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** As the first event that names it states it. Null: no event does. */
  readonly mediaType: string | null;
  /** The position of its bytes, and those of the events that name it. */
  readonly position: number;
  readonly namedBy: readonly number[];
}

/** Finds the contents that no pattern reads, in the events of one dispatch in append order. Removed contents are not among them. */
export class UnreadContents {
  readonly #found = new Map<
    string,
    UnreadContent & { mediaType: string | null; readonly namedBy: number[] }
  >();

  get all(): readonly UnreadContent[] {
    return [...this.#found.values()];
  }

  add(event: CapturedEvent, position: number): void {
    if (isReadableAs(event, 'content:stored')) {
      const { sha256, size, base64, leftOut } = event.data as typeof event.data & { leftOut?: unknown };
      // A reader that did not ask for the bytes has no `base64`, and a narrative says that it was left out.
      const hasBytes = base64 === undefined ? leftOut === undefined : base64 !== '';
      if (hasBytes) this.#found.set(sha256, { sha256, size, mediaType: null, position, namedBy: [] });
      return;
    }
    if (this.#found.size === 0) return;
    for (const { sha256 = '', mediaType } of mediaPartsIn(event.data)) {
      const content = this.#found.get(sha256);
      if (content === undefined) continue;
      content.mediaType ??= mediaType ?? null;
      if (content.namedBy.at(-1) !== position) content.namedBy.push(position);
    }
  }
}
