import { type Dispatch, type DispatchLog, openToolbox, toDispatchRef } from '@hansard/dispatch';
import type { HansardError } from '@hansard/events';
import { takeApart } from '@hansard/prompt';
import { DiagnosticFinder, type SessionDiagnostic } from './log/diagnostic.ts';
import type { SessionRecord } from './log/session-record.ts';
import { sessionErrors } from './session-errors.ts';
import {
  checkSessionOptions,
  type LoadSessionOptions,
  withDefaults,
  writerOptions,
} from './session-options.ts';
import { createSessionParts, type SessionParts } from './session-parts.ts';
import { interruption } from './turn/interruption.ts';

export interface LoadedParts {
  readonly parts: SessionParts;
  readonly diagnostics: readonly SessionDiagnostic[];
}

/**
 * Restores a session from its log and sets its dispatch running.
 * @throws SESSION_NO_ROOT for a session of peers, with `needsRoot`
 */
export async function loadParts(given: LoadSessionOptions, needsRoot = false): Promise<LoadedParts> {
  checkSessionOptions(given);
  const options = withDefaults(given);
  options.signal?.throwIfAborted();
  const dispatch = await options.store.openDispatch(options, {
    write: true,
    ...writerOptions(options),
    ...options.wait,
    signal: options.signal,
  });
  let parts: SessionParts | null = null;
  try {
    assertFull(dispatch);
    const toolbox = await openToolbox(options.tools ?? [], options.signal);
    parts = createSessionParts(options, dispatch, toolbox);
    const diagnostics = await restore(parts, dispatch);
    if (needsRoot && parts.record.registry.root === null) throw noRoot(dispatch.dispatchId);
    await dispatch.update({ status: 'running', completedAt: null });
    parts.life.start();
    parts.hooks.resume();
    await closeOpenCalls(parts.record);
    // What they do decides which agents await a response.
    await parts.hooks.settled();
    return { parts, diagnostics };
  } catch (error) {
    if (dispatch.envelope.status === 'running') dispatch.abandon();
    else await dispatch.release();
    parts?.life.stop(error);
    throw error;
  }
}

async function restore(
  { record, life }: SessionParts,
  dispatch: Dispatch,
): Promise<readonly SessionDiagnostic[]> {
  const finder = new DiagnosticFinder();
  let hasAgents = false;
  for await (const { events, first, next } of dispatch.pages()) {
    record.log.continueAfter(next);
    for (const [index, event] of events.entries()) {
      if (finder.observe(event, first + index)) {
        life.restore(event, first + index);
        hasAgents ||= event.type === 'agent:created';
      } else if (event.agentId !== undefined) record.registry.reserve(event.agentId);
    }
  }
  if (!hasAgents) throw noAgents(dispatch.dispatchId);
  return finder.finish();
}

/** @throws SESSION_NOT_FULL */
export function assertFull(log: DispatchLog): void {
  const { fidelity } = log.envelope;
  if (fidelity === 'full') return;
  throw sessionErrors.error(
    'SESSION_NOT_FULL',
    `The dispatch ${log.dispatchId} was recorded with fidelity ${fidelity}: its log does not contain the input and output of tools, so no transcript can be continued. Start a new session.`,
    { details: { ...toDispatchRef(log) } },
  );
}

/** Appends the result `interrupted` to each tool call that was open when the session stopped. */
async function closeOpenCalls({ log, registry }: SessionRecord): Promise<void> {
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

export function noRoot(dispatchId: string): HansardError {
  return sessionErrors.error(
    'SESSION_NO_ROOT',
    `The session ${dispatchId} has no root: its agents are peers. Load it with Session.load, and take an agent with getAgent.`,
    { details: { dispatchId } },
  );
}

export function noAgents(dispatchId: string): HansardError {
  return sessionErrors.error(
    'SESSION_LOG_INVALID',
    `The dispatch ${dispatchId} has no agent:created, so it contains no session and nothing that could be resumed.`,
    { details: { dispatchId } },
  );
}
