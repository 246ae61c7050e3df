import type { DispatchName } from '../dispatch/dispatch-file.ts';
import type { EventRange } from '../lines/event-range.ts';
import { parseLine } from '../lines/read-events.ts';
import { type ScannedLine, scanLines } from '../lines/scan-lines.ts';
import type { NewestHits } from './newest-hits.ts';
import type { WordFilter } from './word-filter.ts';

/** The start of the line of an event, in the order that this project writes. */
const lineStart = /^\{"id":"[^"\\]*","type":"[^"\\]*",(?:"v":\d+,)?"timestamp":(?:"([^"\\]*)"|null)/;
const startLength = 250;

/** Adds the hits among the lines of a dispatch. @throws STORE_CORRUPT */
export function searchLines(
  range: EventRange,
  { taskDir, dispatchId }: Pick<DispatchName, 'taskDir' | 'dispatchId'>,
  filter: WordFilter,
  hits: NewestHits,
): NewestHits {
  let position = 0;
  scanLines(range, range.start + 1, (line) => {
    const { bytes, start, end } = line;
    const isOld = hits.isFull && !hits.canBe(timeOf(line));
    if (!isOld && filter.mayMatch(bytes, start, end)) {
      const event = parseLine(range, line);
      if (hits.canBe(event.timestamp) && filter.matches(event))
        hits.add({ taskDir, dispatchId, position, event });
    }
    position += 1;
    return true;
  });
  return hits;
}

/** The time of an event ('' if it has none), found without parsing its text; one after every other if this store did not write it. */
function timeOf({ bytes, start, end }: ScannedLine): string {
  const text = bytes.toString('latin1', start, Math.min(end, start + startLength));
  const found = lineStart.exec(text);
  return found === null ? '\uffff' : (found[1] ?? '');
}
