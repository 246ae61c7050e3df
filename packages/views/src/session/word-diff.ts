import { diffWordsWithSpace } from 'diff';
import { type LogIndex, nodeNamed } from '../log/log-index.ts';
import type { Hearing, Saying } from '../log/saying.ts';

/** A part of the said text (`removed`), of the received text (`added`), or of both (`same`). */
export interface DiffPart {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** A saying compared with one delivery of it. */
export interface DeliveryDiff {
  readonly saying: Saying;
  readonly hearing: Hearing;
  readonly parts: readonly DiffPart[];
}

/** The largest number of differing words. With more, two texts have little in common and the comparison takes very long. */
const mostEdits = 2_000;

/** The differences between two texts by words, in order. Texts that differ in more than 2,000 words are one part each. */
export function wordDiff(said: string, received: string): DiffPart[] {
  const changes = diffWordsWithSpace(said, received, { maxEditLength: mostEdits });
  if (changes === undefined) {
    return [
      { kind: 'removed', text: said },
      { kind: 'added', text: received },
    ];
  }
  return changes.map(({ added, removed, value: text }) => {
    return { kind: removed ? 'removed' : added ? 'added' : 'same', text };
  });
}

/**
 * Compares a saying with its deliveries: with one, if `id` is that of a delivery, otherwise with all that reached an agent.
 *
 * @throws TypeError for an id that is not in the log, or that is neither a saying nor a delivery of one
 */
export function deliveryDiffs(index: LogIndex, id: string): DeliveryDiff[] {
  const node = nodeNamed(index, id);
  const { event } = node;
  const saying = index.sayingOf(node);
  if (saying === null) throw new TypeError(`${id} is neither something said nor a delivery of it.`);
  const isDelivery = event !== saying.event;
  return saying.hearings
    .filter((hearing) => !isDelivery || hearing.event === event)
    .flatMap((hearing) =>
      hearing.text === null ? [] : [{ saying, hearing, parts: wordDiff(saying.text, hearing.text) }],
    );
}
