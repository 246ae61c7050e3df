import { timeInZone, timeNotRecorded } from '@hansard/facts';
import { type EventLocation, type FoundEvent, locateEvent, parseAddress } from '@hansard/views';
import { type HarnessError, harnessErrors } from '../harness-errors.ts';
import { listChoices } from '../sessions/list-choices.ts';
import type { PagedLog } from './paged-log.ts';
import type { ReadingClock } from './time-limits.ts';

/**
 * The event that a word names: a position, `@` and a time, `latest`, or an id, its end or its beginning.
 * @throws HARNESS_NAME_INVALID for a word that does not name an event; HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS if no event or several have it, with the
 * choices
 */
export async function eventNamed(
  log: PagedLog,
  word: string,
  { zone = 'local' }: ReadingClock = {},
): Promise<FoundEvent> {
  const { dispatchId, startedAt } = log.envelope;
  const address = parseAddress(word, { day: startedAt, zone });
  if (address === null)
    throw harnessErrors.error('HARNESS_NAME_INVALID', `${JSON.stringify(word)} does not name an event.`, {
      advice:
        startedAt === null
          ? `After @ comes a time with its date, such as @2026-03-01T15:04. Of the session, ${timeNotRecorded}.`
          : 'After @ comes a time, such as @15:04, @15:04:05 or @2026-03-01T15:04.',
    });
  const location = await locateEvent(log, address);
  if (location.kind === 'found') return location;
  if (location.kind === 'ambiguous') throw severalEvents(location, word, zone);
  throw harnessErrors.error('HARNESS_NOT_FOUND', noEvent(location, word, dispatchId), {
    advice: '`hansard show SESSION --raw` prints the positions of the events, with --json their ids.',
  });
}

function severalEvents(
  { choices, isMore }: Extract<EventLocation, { kind: 'ambiguous' }>,
  word: string,
  zone: 'utc' | 'local',
): HarnessError {
  const lines = choices.map(({ position, event, id }) => {
    const what = id === event.id ? event.type : 'message';
    return `${position}  ${id}  ${timeInZone(event.timestamp, zone) ?? timeNotRecorded}  ${what}`;
  });
  const count = isMore ? `more than ${choices.length}` : String(choices.length);
  return harnessErrors.error(
    'HARNESS_AMBIGUOUS',
    `${word} fits ${count} events:${listChoices(lines, isMore)}`,
    {
      advice: 'Name one by its position, or with more characters of its id.',
    },
  );
}

function noEvent(
  { count, begins }: Extract<EventLocation, { kind: 'unknown' }>,
  word: string,
  dispatchId: string,
): string {
  if (count === 0) return `${dispatchId} has no events.`;
  if (word.startsWith('@'))
    return `${dispatchId} has no event up to ${word.slice(1)}; ${begins === null ? `of its first event, ${timeNotRecorded}` : `it begins at ${begins}`}.`;
  if (/^\d+$/.test(word))
    return `${dispatchId} has no event ${word}: the position of its last event is ${count - 1}.`;
  return `${dispatchId} has no event or message ${word}.`;
}
