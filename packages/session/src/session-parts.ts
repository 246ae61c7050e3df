import {
  type Dispatch,
  defaultHookTimeoutMs,
  describeFailure,
  type HookAsking,
  type Toolbox,
  toDispatchRef,
} from '@hansard/dispatch';
import { type CapturedEvent, isEvent, newEvent } from '@hansard/events';
import { type AgentBranch, AgentMemory } from './agents/agent-memory.ts';
import { AgentRegistry } from './agents/agent-registry.ts';
import { currentBranch, readBranches } from './agents/branches.ts';
import { sayLoss } from './log/diagnostic.ts';
import { SessionLog, sessionWasClosed } from './log/session-log.ts';
import type { SessionRecord } from './log/session-record.ts';
import { contextOptions, type SessionDefaults, type SessionRunOptions } from './session-options.ts';
import { Budgets } from './turn/budgets.ts';
import { RunningCalls } from './turn/running-calls.ts';
import { SessionHooks } from './turn/session-hooks.ts';
import { SessionInputs } from './turn/session-inputs.ts';
import { SessionWatch } from './turn/session-watch.ts';
import type { TurnResources } from './turn/turn-resources.ts';
import { namedInEnvelope, WaitingCalls } from './turn/waiting-calls.ts';

/** A session, as each caller may use it. */
export interface SessionParts {
  /** For what records. */
  readonly record: SessionRecord;
  /** For the turns of agents. */
  readonly turn: TurnResources;
  /** For readers of transcripts. */
  readonly memory: AgentMemory;
  readonly hooks: SessionHooks;
  readonly watch: SessionWatch;
  /** For what begins and ends the session. */
  readonly life: SessionLife;
}

export function createSessionParts(
  options: SessionRunOptions & SessionDefaults,
  dispatch: Dispatch,
  toolbox: Toolbox,
): SessionParts {
  const { clock, createId, signal } = options;
  const registry = new AgentRegistry(options.languageModel);
  const stopping = new AbortController();
  const hooksOver = new AbortController();
  const memory = new AgentMemory({
    read: (agentId) => readBranchOf(agentId, registry, recordedBy(dispatch, log)),
    context: contextOptions(options),
    inOrder: (task) => log.inOrder(task),
  });
  const log: SessionLog = new SessionLog({
    dispatch,
    clock,
    createId,
    onAccepted: (event, after) => {
      budgets.observe(event);
      registry.observe(event, after + 1);
      hooks.follow(event);
    },
    onRecorded: (events, whole) => {
      // A provider that is shown an event must not change what is kept.
      const kept = options.communication === undefined ? whole : structuredClone(whole);
      memory.add(kept, registry.isBranched);
      hooks.show(events);
    },
    isWithheld: (agentId) => registry.has(agentId) && registry.get(agentId).isWithheld,
    onFailed: (closed) => {
      hooksOver.abort(closed);
      life.stop(closed);
      watch.fail();
    },
  });
  const record: SessionRecord = { dispatch: toDispatchRef(dispatch), log, registry };
  const budgets = new Budgets(options.budgets, record);
  const stopSignal = signalOf(stopping, signal);
  const onStop = (reason: unknown) => stopping.abort(reason);
  const watch = new SessionWatch({ options, dispatch, toolbox, record, signal: stopSignal, onStop });
  const life = new SessionLife({
    ...{ dispatch, record, signal, watch },
    onRestored: (event, position) => {
      budgets.observe(event);
      registry.observe(event, position);
      hooks.restore(event);
    },
    onStop,
    onEnded: () => hooksOver.abort(sessionWasClosed(dispatch.dispatchId)),
  });
  const waiting = waitingCalls(options, dispatch, { record, watch, signal: stopSignal });
  const timeoutMs = options.hookTimeoutMs ?? defaultHookTimeoutMs;
  const hooks: SessionHooks = new SessionHooks(
    {
      hooks: options.hooks ?? [],
      maxHookChain: options.maxHookChain,
      signal: signalOf(hooksOver, signal),
      dispatchId: dispatch.dispatchId,
      turn: (): TurnResources => turn,
    },
    { clock, timeoutMs },
  );
  const turn: TurnResources = turnResources(options, {
    ...{ record, toolbox, memory, hooks, watch, stopSignal, timeoutMs, waiting, budgets },
    branches: () => readBranches(registry, recordedBy(dispatch, log)()),
  });
  return { record, turn, memory, hooks, watch, life };
}

function waitingCalls(
  { clock, onPending }: SessionRunOptions & SessionDefaults,
  dispatch: Dispatch,
  { record, watch, signal }: Pick<SessionParts, 'record' | 'watch'> & { readonly signal: AbortSignal },
): WaitingCalls {
  const waiting = new WaitingCalls({
    ...record,
    clock,
    keep: (pending) => dispatch.update({ pending: pending.map(namedInEnvelope) }),
    readLetters: () => watch.readLetters(),
    onPending,
    signal,
  });
  watch.waiting = waiting;
  return waiting;
}

interface PartsOfTurns
  extends Pick<SessionParts, 'record' | 'memory' | 'hooks' | 'watch'>,
    Pick<TurnResources, 'branches' | 'waiting' | 'budgets'> {
  readonly toolbox: Toolbox;
  /** Aborts when the session is stopped. */
  readonly stopSignal: AbortSignal;
  readonly timeoutMs: number | false;
}

function turnResources(
  options: SessionRunOptions & SessionDefaults,
  { record, toolbox, memory, hooks, watch, stopSignal, timeoutMs, waiting, budgets, branches }: PartsOfTurns,
): TurnResources {
  const { clock, createId } = options;
  const asking: HookAsking = {
    hooks: options.hooks ?? [],
    part: (hook, question, causes) => hooks.part(hook, question, causes),
    clock,
    timeoutMs,
    signal: stopSignal,
    createId,
    isLogged: (id) => record.registry.ownerOf(id) !== null,
  };
  const inputs = new SessionInputs(record, () => asking);
  watch.inputs = inputs;
  return {
    ...record,
    model: options.model,
    toolbox,
    asking,
    clock,
    maxToolRounds: options.maxToolRounds ?? 50,
    parallelToolCalls: options.parallelToolCalls ?? 1,
    running: new RunningCalls(),
    waiting,
    inputs,
    budgets,
    retries: {
      attempts: options.modelRetries === undefined ? 1 : 3,
      delayMs: 1_000,
      fallback: [],
      isRetryable: () => true,
      ...options.modelRetries,
    },
    isChecked: true,
    utteranceTries: options.utteranceTries ?? 3,
    watch,
    watched: null,
    modelTimeoutMs: options.modelTimeoutMs ?? null,
    toolTimeoutMs: options.toolTimeoutMs ?? null,
    answerTimeoutMs: options.answerTimeoutMs ?? null,
    signal: stopSignal,
    answering: new Map(),
    settled: () => hooks.settled(),
    branches,
    contextOf: (agentId) => memory.contextOf(agentId),
  };
}

function signalOf(own: AbortController, ofOwner: AbortSignal | undefined): AbortSignal {
  return ofOwner === undefined ? own.signal : AbortSignal.any([own.signal, ofOwner]);
}

/** The events of a log through the last one that was recorded when this was called. The log may be longer when it is read. */
function recordedBy(dispatch: Dispatch, log: SessionLog) {
  const { through, lastId } = log;
  return async function* (after = -1) {
    for await (const read of dispatch.events({ after })) {
      // Bytes of attachments have positions that the log of the session does not count.
      if (lastId === null && read.position > through) return;
      yield read;
      if (read.event.id === lastId) return;
    }
  };
}

/** The current branch of an agent, made of its readable events. */
async function readBranchOf(
  agentId: string,
  registry: AgentRegistry,
  recorded: (after?: number) => AsyncIterable<{ readonly event: CapturedEvent; readonly position: number }>,
): Promise<AgentBranch> {
  const agent = registry.get(agentId);
  if (registry.isBranched) {
    const tree = await readBranches(registry, recorded());
    const branch = currentBranch(tree, agentId);
    return { ...branch, values: branch.values.map(sayLoss) };
  }
  const isRoot = registry.root === agent;
  // An event without an agent belongs to the root, including events before the root's own first event.
  const after = isRoot ? -1 : agent.after;
  const events: CapturedEvent[] = [];
  for await (const { event } of recorded(after)) {
    const isTheirs = event.agentId === agentId || (isRoot && event.agentId === undefined);
    if (isTheirs && isEvent(event)) events.push(sayLoss(event));
  }
  return { values: events, takenBack: new Set(), cut: new Set(), isKnown: true, last: null };
}

interface SessionLifeOptions {
  readonly dispatch: Dispatch;
  readonly record: SessionRecord;
  /** The signal of the owner. */
  readonly signal: AbortSignal | undefined;
  readonly watch: SessionWatch;
  readonly onRestored: (event: CapturedEvent, position: number) => void;
  /** Stops the turns of the agents. */
  readonly onStop: (reason: unknown) => void;
  /** Stops the hooks. */
  readonly onEnded: () => void;
}

/** How a session begins, is restored from its log and ends. */
class SessionLife {
  readonly #options: SessionLifeOptions;
  #ignoreSignal = () => {};
  #hasBegun = false;

  constructor(options: SessionLifeOptions) {
    this.#options = options;
  }

  /** Whether the dispatch was set running by this session. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether the owner, a person or a limit stopped the session. */
  get isAborted(): boolean {
    return this.#options.signal?.aborted === true || this.#options.watch.isStopped;
  }

  /** Applies an event that was in the log when the session was loaded. */
  restore(event: CapturedEvent, position: number): void {
    this.#options.onRestored(event, position);
  }

  /** Publishes the start of the running dispatch, and records when the owner's signal aborts. */
  start(): void {
    const { dispatch, record, signal, watch } = this.#options;
    this.#hasBegun = true;
    dispatch.announce(record.registry.list());
    if (signal === undefined) return;
    const onAbort = () => {
      const reason = describeFailure(signal.reason).message;
      if (record.log.isOpen) void record.log.append([newEvent('harness:abort', { reason, by: 'signal' })]);
      watch.stopWorkers(`the session that started it was stopped (${reason})`);
    };
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    this.#ignoreSignal = () => signal.removeEventListener('abort', onAbort);
  }

  /** Stops the turns of the agents, and ignores the owner's signal from then on. */
  stop(reason: unknown): void {
    this.#ignoreSignal();
    this.#options.onStop(reason);
  }

  /** The session has ended: nothing more is recorded or observed. */
  end(): void {
    this.#options.onEnded();
  }
}
