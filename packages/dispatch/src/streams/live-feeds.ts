import { type DispatchRef, dispatchKey } from '../store/dispatch-ref.ts';
import { LiveFeed } from './live-feed.ts';

/** A feed in use. */
export interface OpenFeed {
  readonly feed: LiveFeed;
  /** Call once, when the feed is not used any more. */
  close(): void;
}

/** The live feeds of an open store: one for each dispatch that is written or streamed, shared by its writer and readers. */
export class LiveFeeds {
  readonly #feeds = new Map<string, { readonly feed: LiveFeed; users: number }>();

  open(dispatch: DispatchRef): OpenFeed {
    const key = dispatchKey(dispatch);
    const entry = this.#feeds.get(key) ?? { feed: new LiveFeed(), users: 0 };
    entry.users += 1;
    this.#feeds.set(key, entry);
    const close = () => {
      entry.users -= 1;
      // The next writer of a dispatch whose recording failed begins with a new feed.
      const isOver = entry.users === 0 || entry.feed.failed.aborted;
      if (isOver && this.#feeds.get(key) === entry) this.#feeds.delete(key);
    };
    return { feed: entry.feed, close };
  }
}
