import { listChoices } from '@hansard/compose';
import type { DispatchLog } from '@hansard/dispatch';
import { type CapturedEvent, type DispatchEnvelope, definedOnly } from '@hansard/events';
import {
  type AddressedLog,
  type EventLocation,
  type FoundEvent,
  locateEvent,
  parseAddress,
} from '@hansard/views';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type CliContext, letInterrupt } from '../terminal/context.ts';
import { shownTime } from '../terminal/shown-time.ts';

/** A dispatch in which events are looked for. */
export interface SearchedDispatch {
  readonly envelope: DispatchEnvelope;
  readonly log: AddressedLog;
  /** The zone of times in addresses. Absent: `local`. */
  readonly zone?: CliContext['zone'];
}

/**
 * The event that an address names: see `eventHelp`.
 * @throws CliError for a text that is not an address, and if no event, or more than one, has it; then it lists the choices
 */
export async function findEvent(
  { envelope, log, zone = 'local' }: SearchedDispatch,
  text: string,
): Promise<FoundEvent> {
  const address = parseAddress(text, { day: envelope.startedAt, zone });
  if (address === null)
    throw new CliError(
      exitCode.usage,
      `${JSON.stringify(text)} does not name an event.`,
      'After @ comes a time, such as @15:04, @15:04:05 or @2026-03-01T15:04.',
    );
  const location = await locateEvent(log, address);
  if (location.kind === 'found') return location;
  const { message, advice } =
    location.kind === 'ambiguous'
      ? severalEvents(location, text, zone)
      : noEvent(location, text, envelope.dispatchId);
  throw new CliError(exitCode.failed, message, advice);
}

/** Reads a stored dispatch so that Ctrl-C ends the search. `onRead` receives every event that is read. */
export function searchedDispatch(
  context: CliContext,
  log: DispatchLog,
  onRead: (event: CapturedEvent) => void = () => {},
): SearchedDispatch {
  return {
    envelope: log.envelope,
    ...definedOnly({ zone: context.zone }),
    log: {
      count: () => log.count(),
      async *pages(options) {
        for await (const page of log.pages(options)) {
          await letInterrupt(context);
          page.events.forEach(onRead);
          yield page;
        }
      },
    },
  };
}

interface Explanation {
  readonly message: string;
  readonly advice: string;
}

function severalEvents(
  { choices, isMore }: Extract<EventLocation, { kind: 'ambiguous' }>,
  text: string,
  zone: 'utc' | 'local',
): Explanation {
  const lines = choices.map(({ position, event, id }) => {
    const what = id === event.id ? event.type : 'message';
    return `${position}  ${id}  ${shownTime({ zone }, event.timestamp)}  ${what}`;
  });
  const count = isMore ? `more than ${choices.length}` : String(choices.length);
  const message = `${text} fits ${count} events:`;
  return {
    message: `${message}${listChoices(lines, isMore)}`,
    advice: 'Name one by its position, or with more characters of its id.',
  };
}

function noEvent(
  { count, begins }: Extract<EventLocation, { kind: 'unknown' }>,
  text: string,
  dispatchId: string,
): Explanation {
  const advice = '`hansard show SESSION --raw` prints the positions of the events, with --json their ids.';
  if (begins === null) return { message: `${dispatchId} has no events.`, advice };
  if (text.startsWith('@'))
    return { message: `${dispatchId} has no event up to ${text.slice(1)}; it begins at ${begins}.`, advice };
  if (/^\d+$/.test(text))
    return {
      message: `${dispatchId} has ${count} events, positions start at 0; ${text} is after the last one.`,
      advice,
    };
  return { message: `${dispatchId} has no event or message ${text}.`, advice };
}
