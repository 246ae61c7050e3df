import type { DispatchStore } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type CliContext, letInterrupt } from '../terminal/context.ts';

interface WantedPosition {
  readonly taskDir: string;
  readonly dispatchId: string;
  /** A position, or the id of an event. */
  readonly after: string;
  /** Gets each event up to there that was read on the way: all of them for an id, none for a position. */
  onRead(event: CapturedEvent): void;
}

/** The position that `--after` means: a whole number is one already, all else is the id of an event. */
export async function findPosition(
  context: CliContext,
  store: DispatchStore,
  { taskDir, dispatchId, after, onRead }: WantedPosition,
): Promise<number> {
  const log = await store.openDispatch(taskDir, dispatchId);
  if (/^\d{1,9}$/.test(after)) {
    const total = await log.count();
    if (Number(after) < total) return Number(after);
    throw noSuchEvent(`${dispatchId} has ${total} events, the first at position 0; ${after} is beyond them.`);
  }
  for await (const page of log.pages()) {
    await letInterrupt(context);
    for (const [index, event] of page.events.entries()) {
      onRead(event);
      if (event.id === after) return page.first + index;
    }
  }
  throw noSuchEvent(`${dispatchId} has no event ${after}.`);
}

/** What `--after` takes. */
export const afterHelp = 'only what comes behind this event: its id, or its position';

function noSuchEvent(message: string): CliError {
  return new CliError(
    exitCode.failed,
    message,
    '`hansard timeline TASK` shows positions, `hansard events TASK DISPATCH --json` ids.',
  );
}
