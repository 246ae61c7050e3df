import { type DispatchHold, holdDispatch, openToolbox } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { StoreError } from '@hansard/provider';
import { takeApart } from '@hansard/views';
import { DiagnosticFinder, type SessionDiagnostic } from './log/diagnostic.ts';
import { readLog } from './log/read-log.ts';
import { SessionError } from './session-error.ts';
import { checkSessionOptions, type LoadSessionOptions } from './session-options.ts';
import { createSessionParts, type SessionParts } from './session-parts.ts';
import { interruption } from './turn/interruption.ts';

export interface LoadedParts {
  readonly parts: SessionParts;
  readonly diagnostics: readonly SessionDiagnostic[];
}

/** Restores a session from its log and sets its dispatch running. */
export async function loadParts(options: LoadSessionOptions): Promise<LoadedParts> {
  checkSessionOptions(options);
  options.signal?.throwIfAborted();
  const { store, taskDir, dispatchId } = options;
  const hold = holdDispatch(store, taskDir, dispatchId, 'a session');
  try {
    return await restoreParts(options, hold);
  } catch (error) {
    hold.release();
    throw error;
  }
}

async function restoreParts(options: LoadSessionOptions, hold: DispatchHold): Promise<LoadedParts> {
  const { store, taskDir, dispatchId } = options;
  const envelope = await fullEnvelope(options);
  const toolbox = await openToolbox(options.tools ?? [], options.signal);
  const parts = createSessionParts(options, envelope, toolbox, hold);
  const finder = new DiagnosticFinder();
  let hasAgents = false;
  let position = -1;
  const restoreRest = async () => {
    for await (const { events, first, next } of readLog(store, taskDir, dispatchId, position)) {
      for (const [index, event] of events.entries()) {
        if (finder.observe(event, first + index)) {
          parts.restore(event, first + index);
          hasAgents ||= event.type === 'agent:created';
        } else if (event.agentId !== undefined) parts.registry.reserve(event.agentId);
      }
      position = next;
    }
  };
  await restoreRest();
  if (!hasAgents || parts.registry.root === null) throw noAgents(dispatchId);
  const running = await store.updateDispatch(taskDir, dispatchId, { status: 'running', completedAt: null });
  try {
    // What a session of another process added before it ended and this one had the dispatch.
    await restoreRest();
    parts.start(running);
    await closeOpenCalls(parts);
  } catch (error) {
    hold.abandon();
    parts.stop(error);
    throw error;
  }
  return { parts, diagnostics: finder.finish() };
}

export async function fullEnvelope({
  store,
  taskDir,
  dispatchId,
}: Pick<LoadSessionOptions, 'store' | 'taskDir' | 'dispatchId'>): Promise<DispatchEnvelope> {
  const envelope = await store.getDispatchEnvelope(taskDir, dispatchId);
  const details = { taskDir, dispatchId };
  if (envelope === null) {
    const message = `The task ${taskDir} has no dispatch ${dispatchId}; getDispatchEnvelopes lists those that are there.`;
    throw new StoreError('STORE_DISPATCH_NOT_FOUND', message, { details });
  }
  if (envelope.fidelity === 'full') return envelope;
  throw new SessionError(
    'SESSION_NOT_FULL',
    `The dispatch ${dispatchId} was recorded with fidelity ${envelope.fidelity}: what its tools took and gave is not in the log, so there is no transcript to go on with. Start a new session.`,
    { details },
  );
}

/** Gives each tool call that was open when the session stopped a result that says so. */
async function closeOpenCalls({ log, registry }: SessionParts): Promise<void> {
  const results = registry.all.flatMap(({ agentId, openCalls }) =>
    openCalls.flatMap(({ toolCallId, tool }) => {
      const message = { role: 'tool', content: interruption, toolCallId, tool, isError: true } as const;
      return takeApart(message, { id: log.createId(), agentId }).map((event) => ({
        ...event,
        data: { ...event.data, error: interruption },
      }));
    }),
  );
  if (results.length > 0) await log.append(results);
}

export function noAgents(dispatchId: string): SessionError {
  return new SessionError(
    'SESSION_LOG_INVALID',
    `The dispatch ${dispatchId} has no agent:created, so it holds no session; nothing was done in it that could be resumed.`,
    { details: { dispatchId } },
  );
}
