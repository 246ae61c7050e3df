import { diffWordsWithSpace } from 'diff';
import { type LogIndex, nodeNamed } from '../log/log-index.ts';
import type { Hearing, Saying } from '../log/saying.ts';

/** A piece of what was said, of what was received, or of both. */
export interface DiffPart {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** What was said against what reached one agent. */
export interface DeliveryDiff {
  readonly saying: Saying;
  readonly hearing: Hearing;
  readonly parts: readonly DiffPart[];
}

/** Beyond so many words of difference, two texts have little in common and the comparison would take very long. */
const mostEdits = 2_000;

/** What became of the words that were said, in order. Texts that differ nearly everywhere are one piece each. */
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
 * Said against received: of a delivery that one, of something said each that reached somebody.
 *
 * @throws TypeError for an id that is not in the log, or that is nothing said
 */
export function deliveryDiffs(index: LogIndex, id: string): DeliveryDiff[] {
  const node = nodeNamed(index, id);
  const { event } = node;
  const saying = index.sayingOf(node);
  if (saying === null) throw new TypeError(`${id} is nothing that was said, nor a delivery of it.`);
  const isDelivery = event !== saying.event;
  return saying.hearings
    .filter((hearing) => !isDelivery || hearing.event === event)
    .flatMap((hearing) =>
      hearing.text === null ? [] : [{ saying, hearing, parts: wordDiff(saying.text, hearing.text) }],
    );
}
