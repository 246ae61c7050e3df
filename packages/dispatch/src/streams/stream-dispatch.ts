import { assertCount, assertCursor } from '../check-arguments.ts';
import type { DispatchLog } from '../store/dispatch-log.ts';
import type { FollowItem } from '../store/follow-item.ts';
import type { DispatchStream, LiveStreamOptions, StreamedEvent } from './dispatch-stream.ts';
import { LiveFeed } from './live-feed.ts';
import { mergeDeltas } from './merge-deltas.ts';

/**
 * A dispatch live: what is stored after the cursor, then events as they are appended, by any process. Ends when the
 * dispatch has ended and all of it was given, when the signal aborts or when the store closes. Deltas come from `feed`,
 * that of the object that writes the dispatch in this process.
 *
 * @throws STORE_INVALID_CURSOR, TypeError for numbers that make no sense; while iterating STORE_DISPATCH_NOT_FOUND, and
 * the error of a recording that failed
 */
export function streamDispatch(
  log: DispatchLog,
  feed: LiveFeed = new LiveFeed(),
  options: LiveStreamOptions = {},
): DispatchStream {
  const { after = -1, pageSize, deltaLimit = 1_000, signal } = options;
  assertCursor(after);
  if (pageSize !== undefined) assertCount('pageSize', pageSize, 1);
  assertCount('deltaLimit', deltaLimit, 1);
  const until = async () => (await log.refresh()).status !== 'running';
  const begin = () => {
    const ending = AbortSignal.any(signal === undefined ? [feed.failed] : [signal, feed.failed]);
    const page = pageSize === undefined ? {} : { pageSize };
    const items = log.follow({ after, signal: ending, until, ...page });
    return eventsOf(items[Symbol.asyncIterator](), () => {
      // Whichever aborted first ended it.
      if (feed.failed.aborted && ending.reason === feed.failed.reason) throw feed.failed.reason;
    });
  };
  return {
    [Symbol.asyncIterator]: begin,
    withDeltas: () => ({ [Symbol.asyncIterator]: () => mergeDeltas(begin(), feed, deltaLimit) }),
  };
}

/** The events among what a follower gets. `onEnd` may throw what ended it. */
function eventsOf(
  items: AsyncIterator<FollowItem>,
  onEnd: () => void,
): AsyncIterator<StreamedEvent, undefined> {
  return {
    async next() {
      for (;;) {
        const { done, value } = await items.next();
        if (done === true) {
          onEnd();
          return { done, value: undefined };
        }
        if (value.kind === 'event') return { done: false, value };
      }
    },
    async return() {
      await items.return?.();
      return { done: true, value: undefined };
    },
  };
}
