import {
  type DispatchLog,
  type DispatchRef,
  type DispatchStore,
  ensureTaskOf,
  toDispatchRef,
} from '@hansard/dispatch';
import {
  type CapturedEvent,
  createIdSource,
  type IdSource,
  isEvent,
  isEventOf,
  type NewEvent,
  newEvent,
  type Usage,
} from '@hansard/events';
import {
  type ContextMessage,
  type ContextOptions,
  createBranchRenderer,
  putTogether,
  type TranscriptMessage,
  type TranscriptTree,
  takeApart,
  takenBackText,
} from '@hansard/prompt';
import type { AgentInfo } from '@hansard/provider';
import type { OpenCall } from './agents/agent-record.ts';
import { AgentRegistry } from './agents/agent-registry.ts';
import { currentBranch, readBranches, settleBranches } from './agents/branches.ts';
import { sayLoss } from './log/diagnostic.ts';
import { noAgents, sessionErrors } from './session-errors.ts';

/** A session and a place in it. */
interface PastPlace extends DispatchRef {
  readonly store: DispatchStore;
  /** The last event that counts: its id, or its position. A message counts as a whole. Absent: the last event of the log. */
  readonly at?: string | number | undefined;
}

/** An agent as it was at a place of the log. */
export interface PastAgent extends AgentInfo {
  /** See `Agent.awaitsResponse`. */
  readonly awaitsResponse: boolean;
  /** The tool calls that had no result yet. */
  readonly openCalls: readonly OpenCall[];
  transcript(): readonly TranscriptMessage[];
  /** What its model would have been given next. @throws CONTEXT_BUDGET_TOO_SMALL */
  prompt(): readonly ContextMessage[];
}

/**
 * Reads a session as it was after an event. It claims nothing and writes nothing, so another process may record the session meanwhile.
 * @throws STORE_DISPATCH_NOT_FOUND, SESSION_NOT_FULL, SESSION_LOG_INVALID, SESSION_EVENT_NOT_FOUND
 */
export async function loadSession({
  context = {},
  ...place
}: PastPlace & {
  /** How prompts are made. Absent: everything. */
  readonly context?: ContextOptions;
}): Promise<{
  /** The position of the last event that counts. */
  readonly position: number;
  readonly agents: readonly PastAgent[];
}> {
  const { events, position, registry } = await readPast(place);
  const tree: TranscriptTree<CapturedEvent> = await readBranches(registry, positioned(events));
  const agents = registry.all.map((record): PastAgent => {
    const { agentId, awaitsResponse, openCalls } = record;
    const branch = () => {
      const path = currentBranch(tree, agentId);
      return { ...path, values: path.values.map(sayLoss) };
    };
    return {
      ...registry.describe(record),
      awaitsResponse,
      openCalls,
      transcript: () => putTogether(branch().values).map(({ message }) => structuredClone(message)),
      prompt: () => createBranchRenderer(branch(), context).render().messages,
    };
  });
  return { position, agents };
}

/** Where a fork begins, and the session that it becomes. */
export interface ForkOptions extends Pick<PastPlace, 'at'> {
  /**
   * The text that replaces that of the message `at`, for the same agent and from the same source. The fork then has what came before the
   * message. Absent: the fork has everything through `at`.
   */
  readonly edit?: string | undefined;
  /** The task of the fork. Absent: that of the session. */
  readonly taskDir?: string | undefined;
  /** Absent: minted. */
  readonly dispatchId?: string | undefined;
}

/**
 * Writes a session that begins as another one was after an event: it repeats those events, with their ids, after a `session:fork` that names the
 * origin. A call that was open there is over in the fork: its result says that it was taken back. The fork is not running: load it to continue. The origin
 * is only read, so another process may record it meanwhile.
 * @throws as `loadSession`, SESSION_FORK_INVALID, STORE_DISPATCH_EXISTS
 */
export async function forkSession(
  origin: DispatchRef & { readonly store: DispatchStore },
  { at, edit, taskDir = origin.taskDir, dispatchId }: ForkOptions = {},
  createId: IdSource = createIdSource(),
): Promise<DispatchRef> {
  const { store } = origin;
  const edited = edit === undefined ? null : { text: edit };
  const { log, events, registry, named } = await readPast(
    { ...origin, at },
    { content: true, isBefore: edited !== null },
  );
  const { role, model, botId, cwd, fidelity } = log.envelope;
  const message = edited === null ? [] : [editedMessage(named, edited.text, createId())];
  const last = events.at(-1);
  const begun = { role, model, botId, cwd, fidelity, dispatchId };
  const dispatch = await store.beginDispatch(taskDir, begun, { owner: 'a fork', createId });
  try {
    const from = {
      product: 'hansard',
      sessionId: log.dispatchId,
      dispatchId: log.dispatchId,
      ...(last === undefined ? {} : { recordId: last.id }),
    };
    await dispatch.append([
      newEvent('session:fork', { from, kind: 'fork', ...usageIn(events) }, { id: createId() }),
      ...events,
      ...resultsOfOpenCalls(registry, createId, takenBackText),
      ...message,
    ]);
    await dispatch.end({ status: 'completed' });
  } catch (error) {
    await dispatch.end({ status: 'crashed' }).catch(() => dispatch.abandon());
    throw error;
  }
  await ensureTaskOf(store, taskDir, dispatch.envelope);
  return toDispatchRef(dispatch);
}

/** The tokens of the model calls among some events. */
function usageIn(events: readonly CapturedEvent[]): { usage?: Usage } {
  const calls = events.flatMap((event) => (isEventOf(event, 'agent:inference') ? [event.data.usage] : []));
  if (calls.length === 0) return {};
  const sum = (part: (usage: Usage) => number | undefined) =>
    calls.reduce((all, usage) => all + (part(usage) ?? 0), 0);
  return {
    usage: {
      inputTokens: sum(({ inputTokens }) => inputTokens),
      outputTokens: sum(({ outputTokens }) => outputTokens),
      cacheReadTokens: sum(({ cacheReadTokens }) => cacheReadTokens),
      cacheWriteTokens: sum(({ cacheWriteTokens }) => cacheWriteTokens),
    },
  };
}

/** The message in other words. Its content is new, so it names no other event. @throws SESSION_FORK_INVALID */
function editedMessage(named: CapturedEvent | null, text: string, id: string): NewEvent {
  if (named === null || !isEventOf(named, 'user:message'))
    throw sessionErrors.error(
      'SESSION_FORK_INVALID',
      `Only a message that an agent received can be edited: ${named === null ? 'the fork names no event' : `${named.id} is ${named.type}`}.`,
      { details: { eventId: named?.id ?? null } },
    );
  const { wrapped: _, ...data } = named.data;
  const { agentId, follows } = named;
  return newEvent(
    'user:message',
    { ...data, text },
    { id, ...(agentId === undefined ? {} : { agentId }), ...(follows === undefined ? {} : { follows }) },
  );
}

interface Past {
  readonly log: DispatchLog;
  readonly events: readonly CapturedEvent[];
  /** That of the last of the events. */
  readonly position: number;
  readonly registry: AgentRegistry;
  /** The event that `at` names. Null: it names none. */
  readonly named: CapturedEvent | null;
}

/** The events through a place, with the rest of the message that it is in. `isBefore`: without the event at the place. */
async function readPast(
  { store, taskDir, dispatchId, at }: PastPlace,
  { content = false, isBefore = false } = {},
): Promise<Past> {
  const log = await store.openDispatch({ taskDir, dispatchId });
  const registry = new AgentRegistry();
  const events: CapturedEvent[] = [];
  let position = -1;
  let named: CapturedEvent | null = null;
  for await (const read of log.events({ content })) {
    const { event } = read;
    if (named !== null && (isBefore || !isOneMessage(named, event))) break;
    if (event.id === at || read.position === at) named = event;
    if (named !== null && isBefore) continue;
    position = read.position;
    events.push(event);
    if (isEvent(event)) registry.observe(event, position);
  }
  if (at !== undefined && named === null)
    throw sessionErrors.error(
      'SESSION_EVENT_NOT_FOUND',
      `The session ${dispatchId} has no event ${at}; its last position is ${position}.`,
      { details: { dispatchId, eventId: String(at) } },
    );
  assertContinuable(log, registry);
  if (registry.all.every(({ wasCreated }) => !wasCreated)) throw noAgents(dispatchId);
  await settleBranches(registry, positioned(events));
  return { log, events, position, registry, named };
}

/** Whether two events are of one message, which was one append. */
function isOneMessage({ messageId, agentId }: CapturedEvent, other: CapturedEvent): boolean {
  return messageId !== undefined && other.messageId === messageId && other.agentId === agentId;
}

/** A result with this text for each of the selected tool calls without one. */
export function resultsOfOpenCalls(
  registry: AgentRegistry,
  createId: IdSource,
  text: string,
  select: (call: OpenCall) => boolean = () => true,
): NewEvent[] {
  return registry.all.flatMap(({ agentId, openCalls }) =>
    openCalls.filter(select).flatMap(({ toolCallId, tool }) => {
      const message = { role: 'tool', content: text, toolCallId, tool, isError: true } as const;
      return takeApart(message, { id: createId(), agentId }).map((event) => ({
        ...event,
        data: { ...event.data, error: text },
      }));
    }),
  );
}

/** A narrative of a session has its agents; that of a run can have some of them. @throws SESSION_NOT_FULL */
export function assertContinuable(log: DispatchLog, { principals }: AgentRegistry): void {
  const { fidelity } = log.envelope;
  if (fidelity === 'full' || principals.some(({ wasCreated, causes }) => wasCreated && causes.length === 0))
    return;
  throw sessionErrors.error(
    'SESSION_NOT_FULL',
    `The dispatch ${log.dispatchId} was recorded with fidelity ${fidelity}, and not by a session: its log does not contain the input and output of tools, so no transcript can be continued. Start a new session.`,
    { details: { ...toDispatchRef(log) } },
  );
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
  const all = () => log?.events() ?? positioned('events' in source ? source.events : []);
  for await (const { event, position } of all()) {
    notInLog.delete(event.id);
    if (!isEvent(event)) continue;
    registry.observe(event, position);
    hasAgents ||= event.type === 'agent:created';
    if (isEventOf(event, 'user:message') && event.data.source.kind !== 'agent' && !copied.has(event.id))
      heard.set(event.agentId, (heard.get(event.agentId) ?? 0) + 1);
  }
  await settleBranches(registry, all());
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

function* positioned(
  events: readonly CapturedEvent[],
): Generator<{ readonly event: CapturedEvent; readonly position: number }> {
  for (const [position, event] of events.entries()) yield { event, position };
}
