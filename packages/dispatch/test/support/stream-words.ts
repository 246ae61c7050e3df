import type { StreamItem } from '@hansard/dispatch';

/** An item in a word: `0:text`, `~delta` or `3 dropped`. */
export function inWords(item: StreamItem): string {
  switch (item.kind) {
    case 'event':
      return `${item.position}:${item.event.data.text ?? item.event.type}`;
    case 'delta':
      return `~${item.delta.text}`;
    case 'deltas_dropped':
      return `${item.count} dropped`;
  }
}

/** Gathers what an iterable gives, in the background. */
export function gather(items: AsyncIterable<StreamItem>) {
  const words: string[] = [];
  const done = (async () => {
    for await (const item of items) words.push(inWords(item));
  })();
  return { words, done };
}
