import { type NamedAnswer, timeInZone, timeNotRecorded } from '@hansard/facts';
import {
  type EventLocation,
  type FoundEvent,
  locateEvent,
  parseAddress,
  parseTimeLimit,
} from '@hansard/views';
import { type HarnessError, harnessErrors, listChoices } from '../harness-errors.ts';
import type { PagedLog } from './paged-log.ts';

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
          ? `After @ comes a time with its date, such as @2026-03-01T15:04. The start of this session is not recorded.`
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
    return `${dispatchId} has no event up to ${word.slice(1)}; ${begins === null ? `the time of its first event is not recorded` : `it begins at ${begins}`}.`;
  if (/^\d+$/.test(word))
    return `${dispatchId} has no event ${word}: the position of its last event is ${count - 1}.`;
  return `${dispatchId} has no event or message ${word}.`;
}

/** How times are read and written. */
export interface ReadingClock {
  /** The zone of a time without one. Absent: `local`. */
  readonly zone?: 'utc' | 'local';
  /** Milliseconds since 1970. Absent: the time of the system. */
  readonly now?: () => number;
}

/** Limits of time, as a person writes them. */
export interface RequestedTimes {
  readonly since?: string;
  readonly until?: string;
}

/** Milliseconds since 1970, both included. Absent: unlimited. */
interface TimeLimits {
  readonly since?: number;
  readonly until?: number;
}

/**
 * The limits that words name. `day`: the day of a time without a date; null refuses such a time.
 * @throws HARNESS_OPTION_INVALID for a text that is not a time
 */
export function timeLimitsOf(
  clock: ReadingClock,
  { since, until }: RequestedTimes,
  day: string | null,
): TimeLimits {
  return {
    ...(since !== undefined && { since: limit(clock, '--since', since, day).from }),
    ...(until !== undefined && { until: limit(clock, '--until', until, day).to }),
  };
}

function limit(
  { zone = 'local', now = Date.now }: ReadingClock,
  option: string,
  text: string,
  day: string | null,
) {
  const isRefused = day === null && /^@?\d{1,2}:/.test(text);
  const reading = { day: day ?? '1970-01-01T00:00:00.000Z', zone, now: now() };
  const found = isRefused ? null : parseTimeLimit(text.replace(/^@/, ''), reading);
  if (found !== null) return found;
  const time = day === null ? '' : '15:04, 15:04:05, ';
  throw harnessErrors.error(
    'HARNESS_OPTION_INVALID',
    `${option} ${JSON.stringify(text)} is not a time${day === null ? ' with a date' : ''}.`,
    {
      advice: `Give a time such as ${time}2026-03-01, 2026-03-01T15:04, today, yesterday, 7d, 2w or 12h. Times are local; --utc or an offset such as +02:00 changes that.`,
    },
  );
}

/** The agent that a word names. @throws HARNESS_NOT_FOUND with all agents, HARNESS_AMBIGUOUS with those that it fits */
export function theAgent<Agent>(
  answer: NamedAnswer<Agent>,
  word: string,
  all: readonly string[],
  label: (agent: Agent) => string,
): Agent {
  if (answer.kind === 'found') return answer.item;
  if (answer.kind === 'ambiguous')
    throw harnessErrors.error(
      'HARNESS_AMBIGUOUS',
      `${answer.items.length} agents are named ${JSON.stringify(word)}: ${answer.items.map(label).join(', ')}.`,
      { advice: 'Name the agent by its id.' },
    );
  throw harnessErrors.error('HARNESS_NOT_FOUND', `There is no agent ${JSON.stringify(word)}.`, {
    advice: all.length === 0 ? 'The dispatch has no events.' : `The agents are: ${all.join(', ')}.`,
  });
}
