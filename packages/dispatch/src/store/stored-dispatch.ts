import { bytesOfBase64, type DispatchEnvelope, digestOf } from '@hansard/events';
import { matchesEventType } from '@hansard/events/plain';
import { type EventPage, storeErrors } from '@hansard/provider';
import { assertCount, assertCursor, checkFollow } from '../check-arguments.ts';
import type { DispatchStream, LiveStreamOptions } from '../streams/dispatch-stream.ts';
import { streamDispatch } from '../streams/stream-dispatch.ts';
import type { DispatchLog, PositionedEvent, ReadDispatchOptions, ReadPagesOptions } from './dispatch-log.ts';
import { toDispatchRef } from './dispatch-ref.ts';
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
  /** The positions of the contents that were read or appended. */
  readonly #contents = new Map<string, number>();
  /** The last position of the beginning of the log that was read without a gap. */
  #searched = -1;

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

  async *pages({ after = -1, limit, content }: ReadPagesOptions = {}): AsyncGenerator<EventPage, undefined> {
    assertCursor(after);
    if (limit !== undefined) assertCount('limit', limit, 1);
    for (let position = after; ; ) {
      this.#assertReadable();
      const page = await this.stored.readPage(
        { after: position, ...(limit === undefined ? {} : { limit }) },
        content,
      );
      this.#noteContents(page);
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

  async readContent(sha256: string): Promise<string | null> {
    let position = this.#contents.get(sha256);
    if (position === undefined)
      for await (const _ of this.pages({ after: this.#searched })) {
        position = this.#contents.get(sha256);
        if (position !== undefined) break;
      }
    if (position === undefined) return null;
    this.#assertReadable();
    const { events } = await this.stored.readPage({ after: position - 1, limit: 1 }, true);
    const base64 = events[0]?.id === sha256 ? events[0].data.base64 : undefined;
    if (typeof base64 !== 'string' || base64 === '') return null;
    if (digestOf(bytesOfBase64(base64)) === sha256) return base64;
    throw storeErrors.error(
      'STORE_CORRUPT',
      `The bytes of the content ${sha256} at position ${position} of the dispatch ${this.dispatchId} do not have this digest, so they are not returned.`,
      { details: { ...toDispatchRef(this), position, sha256 } },
    );
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

  /** Notes where contents are. */
  #noteContents({ events, first, next }: EventPage): void {
    for (const [index, { type, id }] of events.entries())
      if (type === 'content:stored') this.noteContent(id, first + index);
    if (first === this.#searched + 1) this.#searched = Math.max(this.#searched, next);
  }

  protected noteContent(sha256: string, position: number): void {
    this.#contents.set(sha256, position);
  }

  /** A page of the log that was read. */
  protected noteRead(_page: EventPage): void {}

  /** While the store closes, open readers continue: a stream still reads the end of its dispatch. */
  #assertReadable(): void {
    if (this.context.isClosed) this.context.assertOpen();
  }
}
