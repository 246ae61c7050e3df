import type { DispatchEnvelope } from '@hansard/events';
import { matchesEventType } from '@hansard/events/plain';
import type { EventPage } from '@hansard/provider';
import { assertCount, assertCursor, checkFollow } from '../check-arguments.ts';
import type { DispatchStream, LiveStreamOptions } from '../streams/dispatch-stream.ts';
import { streamDispatch } from '../streams/stream-dispatch.ts';
import type { DispatchLog, PositionedEvent, ReadDispatchOptions, ReadPagesOptions } from './dispatch-log.ts';
import { follow } from './follow.ts';
import type { FollowItem, FollowOptions } from './follow-item.ts';
import type { ProviderDispatch } from './provider-dispatch.ts';
import type { StoreContext } from './store-context.ts';

/** Reads one dispatch of an open store. */
export class StoredDispatch implements DispatchLog {
  readonly taskDir: string;
  readonly dispatchId: string;
  protected readonly context: StoreContext;
  protected readonly stored: ProviderDispatch;
  /** A {@link DispatchLog} shows it read-only. */
  envelope: DispatchEnvelope;

  constructor(context: StoreContext, stored: ProviderDispatch, envelope: DispatchEnvelope) {
    this.taskDir = stored.taskDir;
    this.dispatchId = stored.dispatchId;
    this.context = context;
    this.stored = stored;
    this.envelope = envelope;
  }

  async refresh(): Promise<DispatchEnvelope> {
    this.#assertReadable();
    this.envelope = await this.stored.readEnvelope();
    return this.envelope;
  }

  async *events({ types, ...pages }: ReadDispatchOptions = {}): AsyncGenerator<PositionedEvent, undefined> {
    for await (const { events, first } of this.pages(pages)) {
      for (const [index, event] of events.entries()) {
        if (types === undefined || types.some((type) => matchesEventType(type, event.type)))
          yield { position: first + index, event };
      }
    }
  }

  async *pages({ after = -1, limit }: ReadPagesOptions = {}): AsyncGenerator<EventPage, undefined> {
    assertCursor(after);
    if (limit !== undefined) assertCount('limit', limit, 1);
    for (let position = after; ; ) {
      this.#assertReadable();
      const page = await this.stored.readPage({
        after: position,
        ...(limit === undefined ? {} : { limit }),
      });
      this.noteRead(page);
      if (page.events.length === 0) return;
      yield page;
      position = page.next;
    }
  }

  async last(count: number): Promise<EventPage> {
    this.context.assertOpen();
    assertCount('count', count, 0);
    return this.stored.readPage({ last: count });
  }

  async count(): Promise<number> {
    return (await this.last(0)).first;
  }

  follow(options: FollowOptions = {}): AsyncIterable<FollowItem> {
    this.context.assertOpen();
    checkFollow(options);
    return follow(this.context, this.stored, options);
  }

  stream(options: LiveStreamOptions = {}): DispatchStream {
    return streamDispatch(this, () => this.context.feeds.open(this.stored), options);
  }

  /** A page of the log that was read. */
  protected noteRead(_page: EventPage): void {}

  /** While the store closes, open readers continue: a stream still reads the end of its dispatch. */
  #assertReadable(): void {
    if (this.context.isClosed) this.context.assertOpen();
  }
}
