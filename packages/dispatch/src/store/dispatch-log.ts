import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import type { EventPage } from '@hansard/provider';
import type { DispatchStream, LiveStreamOptions } from '../streams/dispatch-stream.ts';
import type { FollowItem, FollowOptions } from './follow-item.ts';

/**
 * A dispatch for its readers. Reading claims nothing, so there is no limit on readers.
 *
 * Every method fails with STORE_CLOSED after the store was closed, STORE_DISPATCH_NOT_FOUND after the dispatch was
 * deleted, STORE_CORRUPT and STORE_UNAVAILABLE.
 */
export interface DispatchLog {
  readonly taskDir: string;
  readonly dispatchId: string;

  /** The envelope as it was last read: when the log was opened, and at each `refresh`. A {@link Dispatch} keeps it current. */
  readonly envelope: DispatchEnvelope;

  /** Reads the envelope again. */
  refresh(): Promise<DispatchEnvelope>;

  /**
   * The events after a position, in append order, read page by page. Ends at the end of the log.
   * @throws STORE_INVALID_CURSOR
   */
  events(options?: ReadDispatchOptions): AsyncIterable<PositionedEvent>;

  /** The same as whole pages, none of them empty. @throws STORE_INVALID_CURSOR */
  pages(options?: ReadPagesOptions): AsyncIterable<EventPage>;

  /** The last `count` events as one page. @throws TypeError for a `count` that is not a whole number from 0 */
  last(count: number): Promise<EventPage>;

  /**
   * The bytes of a content in Base64, by the digest that a part names. Null: the log does not have them, or they were redacted. The place of a content
   * that was read before is known; otherwise the log is read page by page.
   * @throws STORE_CORRUPT for bytes that do not have this digest
   */
  readContent(sha256: string): Promise<string | null>;

  /** How many events there are. */
  count(): Promise<number>;

  /**
   * Everything stored after a position, a marker, then the events that any process appends: without a gap, each event
   * once, and at most a page in memory however slow the follower is. Ends when the signal aborts, when the store closes
   * or when `until` returns true, never by itself. Each iteration starts again after the position.
   * @throws STORE_INVALID_CURSOR
   */
  follow(options?: FollowOptions): AsyncIterable<FollowItem>;

  /**
   * The dispatch live: as `follow`, and it ends when the dispatch has ended. Deltas of an agent that runs in this process
   * come with `withDeltas`.
   * @throws STORE_INVALID_CURSOR, TypeError for limits that are not whole numbers from 1
   */
  stream(options?: LiveStreamOptions): DispatchStream;
}

export interface PositionedEvent {
  readonly position: number;
  readonly event: CapturedEvent;
}

export interface ReadPagesOptions {
  /** The position of the last event already seen. Absent or -1: from the beginning. */
  readonly after?: number;
  /** The most events that are read at a time, at least 1. Absent: 1,000. */
  readonly limit?: number;
  /** Whether `content:stored` events have their bytes. Absent: false, so that a reader holds no bytes that it did not ask for. */
  readonly content?: boolean;
}

export interface ReadDispatchOptions extends ReadPagesOptions {
  /** Only events of these types, such as `agent:text` or `agent:*`. Absent: all. */
  readonly types?: readonly string[];
}
