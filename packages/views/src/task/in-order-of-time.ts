import type { DispatchEnvelope } from '@hansard/events';

/** Things that happened in a dispatch, in its order. */
export interface TimedSource<Item> {
  readonly envelope: DispatchEnvelope;
  /** Called once, when the order reaches the start of the dispatch. `time`: the timestamp of the item; null: not recorded. */
  items(): AsyncGenerator<{ readonly time: string | null; readonly item: Item }, undefined>;
}

/**
 * What happened in several dispatches by time, then dispatch. The items of one dispatch keep their order, including when its clock went
 * back. What has no recorded time stays after what precedes it in its
 * dispatch, and a dispatch without a recorded start comes first. A worker never comes before the beginning of the dispatch that started it. Each dispatch is read from the time of its start on.
 */
export async function* inOrderOfTime<Item>(sources: readonly TimedSource<Item>[]): AsyncGenerator<Item> {
  const [only] = sources;
  if (only !== undefined && sources.length === 1) {
    for await (const { item } of only.items()) yield item;
    return;
  }
  const waiting = startsOf(sources).sort((one, other) => compareStarts(other, one));
  const open: Head<Item>[] = [];
  try {
    for (;;) {
      while (isDue(waiting.at(-1), open[0])) {
        const head = new Head(waiting.pop() as Start<TimedSource<Item>>);
        if (await head.advance()) insert(open, head);
        else await head.close();
      }
      const [first] = open;
      if (first === undefined) return;
      yield first.item;
      open.shift();
      if (await first.advance()) insert(open, first);
      else await first.close();
    }
  } finally {
    for (const head of open) await head.close();
  }
}

/** Where a dispatch begins: not before its parent. */
export interface Start<Source> {
  readonly source: Source;
  /** '': neither its start nor that of a dispatch above it is recorded. */
  readonly time: string;
  /** How many of the dispatches above it are in the order. */
  readonly depth: number;
}

type OfDispatch = { readonly envelope: DispatchEnvelope };

export function startsOf<Source extends OfDispatch>(sources: readonly Source[]): Start<Source>[] {
  const byId = new Map(sources.map((source) => [source.envelope.dispatchId, source]));
  return sources.map((source) => {
    let [time, depth] = [source.envelope.startedAt ?? '', 0];
    const seen = new Set([source]);
    for (let at = parentOf(source); at !== undefined && !seen.has(at); at = parentOf(at)) {
      seen.add(at);
      depth += 1;
      time = later(time, at.envelope.startedAt);
    }
    return { source, time, depth };
  });

  function parentOf({ envelope }: Source): Source | undefined {
    return byId.get(envelope.parentDispatchId ?? '');
  }
}

/** Whether a dispatch that is not open can have the next item. */
function isDue<Item>(start: Start<TimedSource<Item>> | undefined, head: Head<Item> | undefined): boolean {
  if (start === undefined) return false;
  return head === undefined || compare(start.time, head.time) <= 0;
}

/** A dispatch at its next item. */
class Head<Item> {
  readonly start: Start<TimedSource<Item>>;
  readonly #items: AsyncGenerator<{ readonly time: string | null; readonly item: Item }, undefined>;
  #item: Item | null = null;
  /** The latest time so far: an item with an earlier one does not overtake those before it. */
  time: string;

  constructor(start: Start<TimedSource<Item>>) {
    this.start = start;
    this.time = start.time;
    this.#items = start.source.items();
  }

  get item(): Item {
    return this.#item as Item;
  }

  /** Goes to the next item. False after the last one. */
  async advance(): Promise<boolean> {
    const next = await this.#items.next();
    if (next.done === true) return false;
    const { time, item } = next.value;
    this.time = later(this.time, time);
    this.#item = item;
    return true;
  }

  async close(): Promise<void> {
    await this.#items.return(undefined);
  }
}

/** Inserts a head into those that are in order. */
function insert<Item>(open: Head<Item>[], head: Head<Item>): void {
  let [low, high] = [0, open.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(open[middle] as Head<Item>, head)) low = middle + 1;
    else high = middle;
  }
  open.splice(low, 0, head);
}

function isBefore<Item>(one: Head<Item>, other: Head<Item>): boolean {
  return (compare(one.time, other.time) || compareDispatches(one.start, other.start)) < 0;
}

/** By time, then dispatch: one before those below it. */
export function compareStarts(one: Start<OfDispatch>, other: Start<OfDispatch>): number {
  return compare(one.time, other.time) || compareDispatches(one, other);
}

function compareDispatches(one: Start<OfDispatch>, other: Start<OfDispatch>): number {
  return one.depth - other.depth || compare(one.source.envelope.dispatchId, other.source.envelope.dispatchId);
}

/** The later of a time ('': none) and one that may not be recorded. */
export function later(time: string, timestamp: string | null): string {
  return timestamp !== null && timestamp > time ? timestamp : time;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
