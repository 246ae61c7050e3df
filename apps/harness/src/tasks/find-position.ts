import type { DispatchLog } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type CliContext, letInterrupt } from '../terminal/context.ts';

interface WantedPosition {
  /** A position, or the id of an event. */
  readonly after: string;
  /** Receives each event that is read to find the position: up to that event for an id, none for a position. */
  onRead(event: CapturedEvent): void;
}

/** The position that `--after` names: a whole number is a position, any other text the id of an event. */
export async function findPosition(
  context: CliContext,
  log: DispatchLog,
  { after, onRead }: WantedPosition,
): Promise<number> {
  if (/^\d{1,9}$/.test(after)) {
    const total = await log.count();
    if (Number(after) < total) return Number(after);
    throw noSuchEvent(
      `${log.dispatchId} has ${total} events, positions start at 0; ${after} is after the last one.`,
    );
  }
  for await (const page of log.pages()) {
    await letInterrupt(context);
    for (const [index, event] of page.events.entries()) {
      onRead(event);
      if (event.id === after) return page.first + index;
    }
  }
  throw noSuchEvent(`${log.dispatchId} has no event ${after}.`);
}

/** The help of `--after`. */
export const afterHelp = 'print only the events after this one; its id or its position';

function noSuchEvent(message: string): CliError {
  return new CliError(
    exitCode.failed,
    message,
    '`hansard timeline TASK` shows positions, `hansard events TASK DISPATCH --json` ids.',
  );
}
