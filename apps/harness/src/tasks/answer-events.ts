import type { DispatchLog, PositionedEvent, ReadAccess } from '@hansard/dispatch';
import type { EventPage } from '@hansard/provider';
import { AgentNames } from '@hansard/views';
import type { CommonOptions } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';
import { eventAnswer } from '../terminal/event-answer.ts';
import { answerFromStore } from '../terminal/with-store.ts';
import { findDispatch } from './find-dispatch.ts';
import { findTask } from './find-task.ts';

/** The dispatch whose events a command prints. */
export interface EventSource {
  readonly log: DispatchLog;
  /** Must learn every event that is read and not printed. */
  readonly names: AgentNames;
}

/** The option of commands that can read a damaged dispatch. */
export interface DamagedOption {
  readonly damaged?: boolean;
}

export const damagedOption = [
  '--damaged',
  'read the whole events of a damaged dispatch and omit the others; positions then count whole events only',
] as const;

export function damagedAccess({ damaged = false }: DamagedOption): ReadAccess {
  return { skipDamaged: damaged };
}

/** The events of a page with their positions. */
export function positioned({ first, events }: EventPage): PositionedEvent[] {
  return events.map((event, index) => ({ position: first + index, event }));
}

/** Prints the events that `read` selects from a dispatch. */
export function answerEvents(
  context: CliContext,
  options: CommonOptions & DamagedOption,
  { task, dispatch }: { readonly task: string; readonly dispatch: string },
  read: (source: EventSource) => AsyncGenerator<PositionedEvent>,
): Promise<void> {
  return answerFromStore(context, options, async ({ store }) => {
    const log = await findDispatch(store, await findTask(store, task), dispatch, damagedAccess(options));
    const names = new AgentNames();
    return eventAnswer(context, read({ log, names }), names);
  });
}
