import { assertCount, assertCursor } from '../check-arguments.ts';
import type { DispatchStore } from '../store/dispatch-store.ts';
import type { FollowItem } from '../store/follow.ts';
import type { DispatchStream, LiveStreamOptions, StreamedEvent } from './dispatch-stream.ts';
import { LiveFeed } from './live-feed.ts';
import { mergeDeltas } from './merge-deltas.ts';

/**
 * A dispatch live: what is stored behind the cursor, then events as they are appended, by any process. Ends when the
 * dispatch has ended and all of it was given, when the signal aborts or when the store closes. Deltas stay in the
 * process where the agent runs: they come where `feed` is that of the recorder.
 *
 * @throws STORE_INVALID_CURSOR, TypeError for numbers that make no sense; while iterating STORE_DISPATCH_NOT_FOUND, and
 * the error of a recording that failed
 */
export function streamDispatch(
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
  options: LiveStreamOptions & { readonly feed?: LiveFeed } = {},
): DispatchStream {
  const { after = -1, pageSize, deltaLimit = 1_000, signal, feed = new LiveFeed() } = options;
  assertCursor(after);
  if (pageSize !== undefined) assertCount('pageSize', pageSize, 1);
  assertCount('deltaLimit', deltaLimit, 1);
  const until = async () => (await store.getDispatchEnvelope(taskDir, dispatchId))?.status !== 'running';
  const begin = () => {
    const ending = AbortSignal.any(signal === undefined ? [feed.failed] : [signal, feed.failed]);
    const page = pageSize === undefined ? {} : { pageSize };
    const items = store.follow(taskDir, dispatchId, { after, signal: ending, until, ...page });
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
