import { nextTurn } from '../async/next-turn.ts';
import { Notifier } from '../async/notifier.ts';
import type { FollowItem, FollowOptions } from './follow-item.ts';
import { type Following, type FollowSource, following } from './following.ts';
import type { ProviderDispatch } from './provider-dispatch.ts';

export const defaultPageSize = 256;

/**
 * Follows a dispatch. The writer only signals that there may be something new. The follower reads after its own cursor, so
 * it can neither miss an event nor receive one twice.
 */
export function follow(
  source: FollowSource,
  stored: ProviderDispatch,
  options: FollowOptions = {},
): AsyncIterable<FollowItem> {
  return following(source, () => ({
    signal: options.signal,
    notifier: new Notifier(),
    listen: (notifier) => source.notifiers.add(stored, notifier),
    watch: (onChange) => stored.watch(onChange),
    items: (life) => read(life, stored, options),
  }));
}

async function* read(
  life: Following,
  stored: ProviderDispatch,
  { after = -1, pageSize: limit = defaultPageSize, until }: FollowOptions,
): AsyncGenerator<FollowItem, undefined> {
  let position = after;
  let caughtUp = false;
  let isLastRead = false;
  while (!life.isOver) {
    const page = await life.untilEnd(stored.readPage({ after: position, limit }));
    if (page === undefined) return;
    for (const [index, event] of page.events.entries()) {
      if (life.isOver) return;
      yield { kind: 'event', position: page.first + index, event };
    }
    position = page.next;
    // A synchronous store would keep timers and signals waiting until the end.
    if (page.events.length === limit) await nextTurn();
    if (page.events.length > 0 || life.isOver) continue;
    if (!caughtUp) {
      caughtUp = true;
      yield { kind: 'caught_up', position };
    }
    if (isLastRead) return;
    isLastRead = (await life.untilEnd(until?.())) === true;
    if (!isLastRead) await life.somethingNew();
  }
}
