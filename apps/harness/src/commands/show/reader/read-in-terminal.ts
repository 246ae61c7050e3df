import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReadStream, WriteStream } from 'node:tty';
import { type Harness, resolveScope, type Scope } from '@hansard/compose';
import { EventRequest, eventNamed, pagedLog } from '@hansard/compose/reading';
import type { DispatchRef } from '@hansard/dispatch';
import { readableSessions } from '../../../tasks/unreadable.ts';
import { EndedBySignal } from '../../../terminal/cli-error.ts';
import type { CliContext } from '../../../terminal/context.ts';
import { nothingTaken, type ShowOptions } from '../shown.ts';
import { ReadLog } from './read-log.ts';
import { sideSessions } from './reader-frame.ts';
import { TerminalReader } from './terminal-reader.ts';
import { TerminalScreen } from './terminal-screen.ts';

/** Milliseconds between a change of the task and the reading of its sessions. */
const sessionsMs = 1_000;

interface Asked {
  readonly word: string;
  readonly event: string | undefined;
  readonly options: ShowOptions;
}

/** Reads sessions on the whole screen, until a person quits. @throws EndedBySignal; as `show`, before the screen changes */
export async function readInTerminal(
  context: CliContext,
  { store }: Harness,
  { word, event, options }: Asked,
): Promise<void> {
  const request = await EventRequest.parse(context, options);
  const scope = await resolveScope(store, word);
  const ref = firstOf(scope, request, options);
  let draw = () => {};
  const onChange = () => draw();
  const log = await ReadLog.open(store, ref, { isDamaged: options.damaged ?? false, onChange });
  const at =
    event !== undefined
      ? (await eventNamed(pagedLog(log.log, context.readSignal), event, context)).position
      : options.follow === true
        ? 'end'
        : null;
  const quit = Promise.withResolvers<void>();
  const reader = new TerminalReader(log, {
    context,
    store,
    options,
    request,
    sessions: () => sideSessions(store, scope, (envelope) => request.takes(envelope)),
    onChange,
    onQuit: () => quit.resolve(),
    onStop: () => screen.stop(),
  });
  const fail = (error: unknown) => quit.reject(error);
  const screen = new TerminalScreen(context.stdin as ReadStream, context.stdout as WriteStream, {
    onKey: (key) => void reader.pressed(key).catch(fail),
    onSize: () => draw(),
  });
  draw = drawing(async () => {
    screen.draw(await reader.picture(screen.size));
  }, fail);
  const { readSignal } = context;
  const onSignal = () => quit.reject(new EndedBySignal(readSignal.reason));
  let stopWatching = () => {};
  screen.open();
  try {
    readSignal.addEventListener('abort', onSignal);
    if (readSignal.aborted) onSignal();
    reader.begin(at, screen.size).then(draw, fail);
    stopWatching = await watchSessions(store, ref, () => reader.refreshSessions().catch(fail));
    await quit.promise;
  } finally {
    readSignal.removeEventListener('abort', onSignal);
    stopWatching();
    reader.close();
    screen.close();
  }
}

/** The session that a word names; of a task, the newest one that passes and that no other started. */
function firstOf({ dispatchId, ...scope }: Scope, request: EventRequest, options: ShowOptions): DispatchRef {
  const { taskDir } = scope;
  if (dispatchId !== null) return { taskDir, dispatchId };
  const { envelopes } = readableSessions({ ...scope, dispatchId });
  const taken = envelopes.filter((envelope) => request.takes(envelope));
  const first = taken.findLast(({ parentDispatchId }) => parentDispatchId === null) ?? taken.at(-1);
  if (first === undefined) throw nothingTaken(envelopes, taskDir, options);
  return { taskDir, dispatchId: first.dispatchId };
}

/** Draws as soon as possible after a call, and again if others came meanwhile. */
function drawing(draw: () => Promise<void>, onError: (error: unknown) => void): () => void {
  let isWanted = false;
  let isDrawing = false;
  const run = async () => {
    isDrawing = true;
    try {
      while (isWanted) {
        isWanted = false;
        await draw();
        // Keys come before the next picture.
        await nextTurn();
      }
    } catch (error) {
      onError(error);
    } finally {
      isDrawing = false;
    }
  };
  return () => {
    isWanted = true;
    if (!isDrawing) void run();
  };
}

/** Calls back some time after changes of the task, if its store can be watched. */
async function watchSessions(
  store: Harness['store'],
  { taskDir }: DispatchRef,
  onChange: () => void,
): Promise<() => void> {
  if (!store.capabilities.watch) return () => {};
  let timer: NodeJS.Timeout | null = null;
  const stop = await store.watch({ taskDir }, () => {
    timer ??= setTimeout(() => {
      timer = null;
      onChange();
    }, sessionsMs);
  });
  return () => {
    if (timer !== null) clearTimeout(timer);
    stop();
  };
}
