import { type Dispatch, describeFailure, ensureTaskOf, openToolbox, toDispatchRef } from '@hansard/dispatch';
import { type CapturedEvent, isPlainObject, type NewEvent, newEvent } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { isWaiting } from './agents/agent-record.ts';
import { settleBranches } from './agents/branches.ts';
import { createAgent, createPeers } from './agents/create-agent.ts';
import { checkSessionOptions } from './check-options.ts';
import { DiagnosticFinder, type SessionDiagnostic } from './log/diagnostic.ts';
import type { SessionRecord } from './log/session-record.ts';
import { assertContinuable, type ForkOptions, forkSession, resultsOfOpenCalls } from './past-session.ts';
import { Session } from './session.ts';
import { noAgents, noRoot } from './session-errors.ts';
import {
  type OpenSessionOptions,
  type SessionDefaults,
  withDefaults,
  writerOptions,
} from './session-options.ts';
import { createSessionParts, type SessionParts } from './session-parts.ts';
import { answer } from './turn/answer.ts';
import { uncheckedAnswer } from './turn/ask-model.ts';
import { interruption } from './turn/interruption.ts';
import { finishWaitingCall } from './turn/run-tool-call.ts';

/**
 * Creates a session, or continues one at the end of its log. Without `dispatchId` it is new. With one it is continued if the store has it, and
 * otherwise created. A dispatch whose process died before its agents were created gets them.
 *
 * A new session is a dispatch, of fidelity `full` unless another is given, its root agent or its `peers`, and the record of the task if it has none. Or it begins with
 * `events`, which are copied into it. One pass over the events of a log restores the agents and the counters; transcripts
 * are rebuilt when they are needed. Tool calls that were open get the result `interrupted`, and the dispatch is `running` again. `response()`
 * answers a message that was not answered: see `Agent.awaitsResponse`.
 *
 * @throws STORE_DISPATCH_NOT_FOUND or STORE_DISPATCH_EXISTS, as `expect` says; STORE_LOCKED (another process, or another session or run of
 * this one, writes it); SESSION_NOT_FULL, SESSION_LOG_INVALID; SESSION_NO_ROOT with `needsRoot`; the error of a tool provider that cannot list its tools;
 * the other errors of the store; SESSION_OPTION_INVALID and SESSION_GIVEN_INVALID before anything is created
 */
export async function openSession(given: OpenSessionOptions): Promise<Session> {
  checkSessionOptions(given);
  const options = withDefaults(given);
  options.signal?.throwIfAborted();
  const toolbox = await openToolbox(options.tools ?? [], options.signal);
  const { dispatch, isNew } = await claim(options);
  let parts: SessionParts | null = null;
  try {
    parts = createSessionParts(options, dispatch, toolbox);
    const diagnostics = await restoreOrBegin(parts, dispatch, options, isNew);
    return new Session(parts, { diagnostics, isNew, fork: (fork) => openFork(given, dispatch, fork) });
  } catch (error) {
    parts?.life.stop(error);
    if (isNew || parts?.life.hasBegun === true)
      await endAsCrashed(dispatch, error, parts?.record.registry.all.length !== 0);
    else await dispatch.release();
    throw error;
  }
}

/** Forks a session, and opens the fork with the options of the session. */
async function openFork(given: OpenSessionOptions, origin: Dispatch, fork: ForkOptions): Promise<Session> {
  const { store, createId } = withDefaults(given);
  const { taskDir, dispatchId } = await forkSession({ store, ...toDispatchRef(origin) }, fork, createId);
  const { events: _, wait: __, ...options } = given;
  return openSession({ ...options, taskDir, dispatchId, expect: 'existing' });
}

/**
 * Ends the dispatch of a session that could not be opened. `hasAgents`: its log says why. Without agents its log stays empty, so that a later call
 * can begin there. Never rejects.
 */
async function endAsCrashed(dispatch: Dispatch, error: unknown, hasAgents: boolean): Promise<void> {
  try {
    if (hasAgents) await dispatch.append(newEvent('harness:error', describeFailure(error)));
    await dispatch.end({ status: 'crashed' });
  } catch {
    // The store failed: the caller has its error.
    dispatch.abandon();
  }
}

/** Begins the dispatch, or opens it to write. */
async function claim(
  options: OpenSessionOptions & SessionDefaults,
): Promise<{ readonly dispatch: Dispatch; readonly isNew: boolean }> {
  const { store, taskDir, dispatchId, expect, role = 'session', languageModel, botId } = options;
  const { fidelity = 'full' } = options;
  const open = async (id: string) => ({
    dispatch: await store.openDispatch(
      { taskDir, dispatchId: id },
      { write: true, ...writerOptions(options), ...options.wait, signal: options.signal },
    ),
    isNew: false,
  });
  if (dispatchId !== undefined && expect !== 'new') {
    try {
      return await open(dispatchId);
    } catch (error) {
      if (expect === 'existing' || !storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) throw error;
    }
  }
  try {
    const envelope = { role, dispatchId, model: languageModel, botId, fidelity };
    return { dispatch: await store.beginDispatch(taskDir, envelope, writerOptions(options)), isNew: true };
  } catch (error) {
    // Another process was faster.
    if (dispatchId === undefined || expect === 'new' || !storeErrors.is(error, 'STORE_DISPATCH_EXISTS'))
      throw error;
    return open(dispatchId);
  }
}

async function restoreOrBegin(
  parts: SessionParts,
  dispatch: Dispatch,
  options: OpenSessionOptions,
  isNew: boolean,
): Promise<readonly SessionDiagnostic[]> {
  const { record, life, hooks, watch, turn } = parts;
  const { events = [] } = options;
  let restored = isNew ? nothing : await restore(parts, dispatch, events);
  const isEmpty = restored.length === 0;
  if (isEmpty && events.length > 0) {
    await dispatch.append(events);
    restored = await restore(parts, dispatch, events);
  }
  if (restored.length > 0) assertContinuable(dispatch, record.registry);
  if (!restored.hasAgents && (restored.length > 0 || options.expect === 'existing'))
    throw noAgents(dispatch.dispatchId);
  if (restored.hasAgents && options.needsRoot === true && record.registry.root === null)
    throw noRoot(dispatch.dispatchId);
  const { languageModel: model } = options;
  const named = dispatch.envelope.model === null && model !== undefined ? { model } : {};
  if (!isNew) await dispatch.update({ status: 'running', completedAt: null, ...named });
  life.start();
  if (isEmpty) await ensureTaskOf(options.store, options.taskDir, dispatch.envelope, options.onTaskProblem);
  if (restored.hasAgents) {
    hooks.resume();
    await closeOpenCalls(record);
    // What they do decides which agents await a response.
    await hooks.settled();
  } else await createAgents(record, options);
  await watch.start(!isNew);
  if (!isNew) {
    const respond = (agentId: string, callId: string) => answer(parts.turn, agentId, callId);
    await turn.waiting.resume(dispatch.envelope.pending, (agent, call) =>
      finishWaitingCall(turn, agent, call, respond),
    );
  }
  return restored.diagnostics;
}

async function createAgents(
  record: SessionRecord,
  { peers, languageModel, systemPrompt, initPrompt, priorOutcomes }: OpenSessionOptions,
): Promise<void> {
  if (peers !== undefined) await createPeers(record, peers, priorOutcomes);
  else
    await createAgent(record, languageModel === undefined ? {} : { languageModel }, {
      systemPrompt,
      initPrompt,
      priorOutcomes,
    });
}

interface Restored {
  readonly diagnostics: readonly SessionDiagnostic[];
  /** How many events the log has. */
  readonly length: number;
  readonly hasAgents: boolean;
}

const nothing: Restored = { diagnostics: [], length: 0, hasAgents: false };

async function restore(
  { record, life }: SessionParts,
  dispatch: Dispatch,
  given: readonly CapturedEvent[],
): Promise<Restored> {
  const finder = new DiagnosticFinder(given);
  let hasAgents = false;
  let length = 0;
  for await (const { events, first, next } of dispatch.pages()) {
    record.log.continueAfter(next);
    length += events.length;
    for (const [index, event] of events.entries()) {
      if (finder.observe(event, first + index)) {
        life.restore(event, first + index);
        hasAgents ||= event.type === 'agent:created';
      } else if (event.agentId !== undefined) record.registry.reserve(event.agentId);
    }
  }
  await settleBranches(record.registry, dispatch.events());
  return length === 0 ? nothing : { diagnostics: finder.finish(), length, hasAgents };
}

/**
 * Appends the result `interrupted` to each tool call that was open when the session stopped, and that waits for nobody. An answer that hooks had not decided
 * about is rejected, so that its agent answers again.
 */
async function closeOpenCalls({ log, registry }: SessionRecord): Promise<void> {
  const results = resultsOfOpenCalls(registry, log.createId, interruption, (call) => !isWaiting(call));
  const unchecked = registry.all.flatMap((agent) => {
    const { agentId, held, isTerminated } = agent;
    if (held === null) return [];
    const { messageId, call } = held;
    const inference: NewEvent[] = !isPlainObject(call)
      ? []
      : [{ type: 'agent:inference', agentId, messageId, data: call }];
    return isTerminated ? inference : [uncheckedAnswer(agent, held), ...inference];
  });
  if (results.length + unchecked.length > 0) await log.append([...results, ...unchecked]);
}
