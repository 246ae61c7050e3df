import type { DispatchEnvelope } from '@hansard/events';
import { type EventPage, StoreError } from '@hansard/provider';
import { matchesEventType } from '@hansard/views/basics';
import { assertCount, assertCursor } from '../check-arguments.ts';
import type { DispatchStream, LiveStreamOptions } from '../streams/dispatch-stream.ts';
import { streamDispatch } from '../streams/stream-dispatch.ts';
import type { DispatchLog, PositionedEvent, ReadDispatchOptions, ReadPagesOptions } from './dispatch-log.ts';
import { follow } from './follow.ts';
import type { FollowItem, FollowOptions } from './follow-item.ts';
import type { StoreContext } from './store-context.ts';

/** Reads one dispatch of an open store. */
export class StoredDispatch implements DispatchLog {
  readonly taskDir: string;
  readonly dispatchId: string;
  protected readonly context: StoreContext;
  #envelope: DispatchEnvelope;

  constructor(context: StoreContext, taskDir: string, envelope: DispatchEnvelope) {
    this.context = context;
    this.taskDir = taskDir;
    this.dispatchId = envelope.dispatchId;
    this.#envelope = envelope;
  }

  get envelope(): DispatchEnvelope {
    return this.#envelope;
  }

  protected set envelope(envelope: DispatchEnvelope) {
    this.#envelope = envelope;
  }

  async refresh(): Promise<DispatchEnvelope> {
    this.#assertReadable();
    const envelope = await this.context.provider.getDispatchEnvelope(this.taskDir, this.dispatchId);
    if (envelope === null) throw dispatchNotFound(this.taskDir, this.dispatchId);
    this.#envelope = envelope;
    return envelope;
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
      const page = await this.context.provider.readEvents(this.taskDir, this.dispatchId, {
        after: position,
        ...(limit === undefined ? {} : { limit }),
      });
      if (page.events.length === 0) return;
      yield page;
      position = page.next;
    }
  }

  async last(count: number): Promise<EventPage> {
    this.context.assertOpen();
    assertCount('count', count, 0);
    return this.context.provider.readEvents(this.taskDir, this.dispatchId, { last: count });
  }

  async count(): Promise<number> {
    return (await this.last(0)).first;
  }

  follow(options: FollowOptions = {}): AsyncIterable<FollowItem> {
    this.context.assertOpen();
    if (options.after !== undefined) assertCursor(options.after);
    if (options.pageSize !== undefined) assertCount('pageSize', options.pageSize, 1);
    return follow(this.context, this.taskDir, this.dispatchId, options);
  }

  /** While the store closes, what reads already still reads, as a stream does the end of its dispatch. */
  #assertReadable(): void {
    if (this.context.isClosed()) this.context.assertOpen();
  }

  stream(options: LiveStreamOptions = {}): DispatchStream {
    return streamDispatch(this, this.context.writers.feedOf(this.taskDir, this.dispatchId), options);
  }
}

export function dispatchNotFound(taskDir: string, dispatchId: string): StoreError {
  return new StoreError(
    'STORE_DISPATCH_NOT_FOUND',
    `There is no dispatch ${dispatchId} in the task ${taskDir}; getDispatchEnvelopes lists the dispatches of a task.`,
    { details: { taskDir, dispatchId } },
  );
}
