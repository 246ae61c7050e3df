import {
  type Dispatch,
  type DispatchLog,
  type DispatchRef,
  type DispatchStore,
  describeFailure,
  ensureTaskOf,
  openToolbox,
  toDispatchRef,
} from '@hansard/dispatch';
import { type CapturedEvent, isEvent, isEventOf, newEvent } from '@hansard/events';
import { takeApart } from '@hansard/prompt';
import { storeErrors } from '@hansard/provider';
import { AgentRegistry, settleBranches } from './agents/agent-registry.ts';
import { createAgent, createPeers } from './agents/create-agent.ts';
import { checkSessionOptions } from './check-options.ts';
import { DiagnosticFinder, type SessionDiagnostic } from './log/diagnostic.ts';
import type { SessionRecord } from './log/session-record.ts';
import { Session } from './session.ts';
import { noAgents, noRoot, sessionErrors } from './session-errors.ts';
import {
  type OpenSessionOptions,
  type SessionDefaults,
  withDefaults,
  writerOptions,
} from './session-options.ts';
import { createSessionParts, type SessionParts } from './session-parts.ts';
import { interruption } from './turn/interruption.ts';

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
    return new Session(parts, { diagnostics, isNew });
  } catch (error) {
    parts?.life.stop(error);
    if (isNew || parts?.life.hasBegun === true)
      await endAsCrashed(dispatch, error, parts?.record.registry.all.length !== 0);
    else await dispatch.release();
    throw error;
  }
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
  const { record, life, hooks, watch } = parts;
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

/** A narrative of a session has its agents; that of a run can have some of them. @throws SESSION_NOT_FULL */
function assertContinuable(log: DispatchLog, { principals }: AgentRegistry): void {
  const { fidelity } = log.envelope;
  if (fidelity === 'full' || principals.some(({ wasCreated, causes }) => wasCreated && causes.length === 0))
    return;
  throw sessionErrors.error(
    'SESSION_NOT_FULL',
    `The dispatch ${log.dispatchId} was recorded with fidelity ${fidelity}, and not by a session: its log does not contain the input and output of tools, so no transcript can be continued. Start a new session.`,
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

/** A session of a store, or the events with which one could begin. */
type SessionSource =
  | (DispatchRef & {
      readonly store: DispatchStore;
      /** The events from which it was copied, such as those of a file. They do not count as heard. */
      readonly copied?: readonly CapturedEvent[] | undefined;
    })
  | { readonly events: readonly CapturedEvent[] };

/**
 * Reads the open work of a session without resuming it: it claims nothing and writes nothing.
 * @throws SESSION_NOT_FULL, SESSION_LOG_INVALID, STORE_DISPATCH_NOT_FOUND
 */
export async function readSessionState(source: SessionSource): Promise<{
  /** See `Agent.awaitsResponse`, of the root; of any peer if there is no root. */
  readonly awaitsResponse: boolean;
  /** Whether a tool call of any agent has no result. */
  readonly hasOpenCalls: boolean;
  /** How many messages the root, or the peers, received that do not come from agents. */
  readonly heard: number;
  /** Whether its agents have a root, and are not peers. */
  readonly hasRoot: boolean;
  /** The model that the log names for the root, otherwise for the first agent. */
  readonly languageModel: string | null;
  /** The ids of `copied` that the log does not have. */
  readonly notInLog: readonly string[];
}> {
  const log = 'store' in source ? await source.store.openDispatch(source) : null;
  const copied = new Set('store' in source ? source.copied?.map(({ id }) => id) : []);
  const notInLog = new Set(copied);
  const registry = new AgentRegistry();
  const heard = new Map<string | undefined, number>();
  let hasAgents = false;
  for await (const { event, position } of log?.events() ?? positioned(source)) {
    notInLog.delete(event.id);
    if (!isEvent(event)) continue;
    registry.observe(event, position);
    hasAgents ||= event.type === 'agent:created';
    if (isEventOf(event, 'user:message') && event.data.source.kind !== 'agent' && !copied.has(event.id))
      heard.set(event.agentId, (heard.get(event.agentId) ?? 0) + 1);
  }
  await settleBranches(registry, log?.events() ?? positioned(source));
  if (log !== null) assertContinuable(log, registry);
  if (!hasAgents) throw noAgents(log?.dispatchId ?? null);
  const { principals, root } = registry;
  const heardBy = [...principals.map(({ agentId }) => agentId), ...(root === null ? [] : [undefined])];
  return {
    awaitsResponse: principals.some(({ awaitsResponse }) => awaitsResponse),
    hasOpenCalls: registry.all.some(({ openCalls }) => openCalls.length > 0),
    heard: heardBy.reduce((sum, agentId) => sum + (heard.get(agentId) ?? 0), 0),
    hasRoot: root !== null,
    languageModel: root?.languageModel ?? registry.defaultModel,
    notInLog: [...notInLog],
  };
}

function* positioned(source: SessionSource): Generator<{ event: CapturedEvent; position: number }> {
  if ('events' in source) for (const [position, event] of source.events.entries()) yield { event, position };
}
