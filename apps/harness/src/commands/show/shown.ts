import { toTaskName } from '@hansard/compose';
import { type EventRequest, eventNamed, type PagedLog, type RequestedEvents } from '@hansard/compose/reading';
import type { DispatchStore, ReadAccess, ReplayPace } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { eventsOfBranch } from '@hansard/views';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import type { CommonOptions } from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';

export interface ShowOptions extends CommonOptions, RequestedEvents {
  readonly full?: boolean;
  readonly interactive?: boolean;
  readonly raw?: boolean;
  readonly lines?: number;
  readonly follow?: boolean;
  readonly speed?: ReplayPace;
  readonly maxGap?: number;
  readonly step?: boolean;
  readonly damaged?: boolean;
  readonly branch?: string;
}

/** The sessions that are shown, all of one task. */
export interface Shown {
  readonly store: DispatchStore;
  readonly taskDir: string;
  readonly envelopes: readonly DispatchEnvelope[];
  readonly request: EventRequest;
  readonly options: ShowOptions;
}

/** The error that none of the sessions of a task has the bot or the role that was asked for. */
export function nothingTaken(
  envelopes: readonly DispatchEnvelope[],
  taskDir: string,
  { bot, role }: { readonly bot?: string | undefined; readonly role?: string | undefined },
): CliError {
  const bots = [...new Set(envelopes.flatMap(({ botId }) => botId ?? []))];
  const roles = [...new Set(envelopes.map((envelope) => envelope.role))];
  const what = [bot === undefined ? [] : `the bot ${bot}`, role === undefined ? [] : `the role ${role}`];
  const known =
    bot !== undefined && bots.length === 0
      ? 'None of its sessions names a bot.'
      : `Its bots: ${bots.join(', ')}.`;
  return new CliError(
    exitCode.failed,
    `No session of ${toTaskName(taskDir)} has ${what.flat().join(' and ')}.`,
    bot === undefined ? `Its roles: ${roles.join(', ')}.` : known,
  );
}

/** Whether the events of one session are printed as they come, or came. */
export function isLive(options: Partial<Record<'follow' | 'speed' | 'step' | 'maxGap', unknown>>): boolean {
  return [options.follow, options.speed, options.step, options.maxGap].some((one) => one !== undefined);
}

/** The positions of the branch with an address. */
export async function askedBranch(
  context: CliContext,
  log: PagedLog,
  branch: string,
): Promise<ReadonlySet<number>> {
  const { event } = await eventNamed(log, branch, context);
  return (await eventsOfBranch(log, event.id)) ?? new Set();
}

export function damagedAccess({ damaged = false }: ShowOptions): ReadAccess {
  return { skipDamaged: damaged };
}

/** The last items of a stream. */
export async function* lastOf<Item>(items: AsyncIterable<Item>, count: number): AsyncGenerator<Item> {
  const last: Item[] = [];
  for await (const item of items) {
    last.push(item);
    if (last.length > count) last.shift();
  }
  yield* last;
}
