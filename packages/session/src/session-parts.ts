import { type Clock, type Dispatch, describeFailure, type Toolbox } from '@hansard/dispatch';
import { type CapturedEvent, isEvent, newEvent } from '@hansard/events';
import type { HookProvider, LanguageModelProvider } from '@hansard/provider';
import type { TranscriptMessage } from '@hansard/views';
import { DispatchTotals } from '@hansard/views';
import { AgentRegistry } from './agents/agent-registry.ts';
import { Contexts, type ModelContext } from './agents/contexts.ts';
import { Transcripts } from './agents/transcripts.ts';
import { SessionLog } from './log/session-log.ts';
import { contextOptions, type SessionDefaults, type SessionRunOptions } from './session-options.ts';

/** What the parts of a session share. */
export interface SessionParts {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly log: SessionLog;
  readonly registry: AgentRegistry;
  readonly totals: DispatchTotals;
  readonly model: LanguageModelProvider;
  readonly toolbox: Toolbox;
  readonly hooks: readonly HookProvider[];
  readonly clock: Clock;
  readonly maxToolRounds: number;
  /** Null: no limit. */
  readonly modelTimeoutMs: number | null;
  /** Aborts when the session is closed, a write fails or the owner stops it. */
  readonly signal: AbortSignal;
  /** Whether the owner stopped it. */
  readonly isStopped: boolean;
  /** The agents that are answering, with what settles when they are done. */
  readonly answering: Map<string, Promise<unknown>>;
  /** An agent's transcript, with all that was logged so far. */
  transcriptOf(agentId: string): Promise<readonly TranscriptMessage[]>;
  /**
   * What an agent's model is given, with all that was logged so far.
   * @throws CONTEXT_BUDGET_TOO_SMALL
   */
  contextOf(agentId: string): Promise<ModelContext>;
  evict(agentId: string): Promise<void>;
  /** Takes over an event that was in the log before. */
  restore(event: CapturedEvent, position: number): void;
  /** Publishes the start of the running dispatch, and follows the owner's signal from now on. */
  start(): void;
  /** Stops what the agents are doing and lets go of the owner's signal. */
  stop(reason: unknown): void;
}

export function createSessionParts(
  options: SessionRunOptions & SessionDefaults,
  dispatch: Dispatch,
  toolbox: Toolbox,
): SessionParts {
  const { clock, createId } = options;
  const { taskDir, dispatchId } = dispatch;
  const registry = new AgentRegistry(options.languageModel);
  const totals = new DispatchTotals();
  const stopping = new AbortController();
  /** The position of the last event that was restored; what this session adds stands behind it. */
  let restored = -1;

  const observe = (event: CapturedEvent, position: number) => {
    registry.observe(event, position);
    totals.observe(event);
  };
  const eventsOf = async (agentId: string): Promise<CapturedEvent[]> => {
    const record = registry.get(agentId);
    const isRoot = registry.root === record;
    // What names no agent is the root's, also before its first own event.
    const after = isRoot ? -1 : record.after;
    const events: CapturedEvent[] = [];
    for await (const { event } of dispatch.events({ after })) {
      const isTheirs = event.agentId === agentId || (isRoot && event.agentId === undefined);
      if (isTheirs && isEvent(event)) events.push(event);
    }
    return events;
  };
  const transcripts = new Transcripts(eventsOf);
  const contexts = new Contexts(eventsOf, contextOptions(options));
  const log = new SessionLog({
    dispatch,
    clock,
    createId,
    onAccepted: (event) => observe(event, restored + 1),
    onRecorded(events) {
      // A provider that is shown an event must not change what is kept.
      const kept = options.communication === undefined ? events : structuredClone(events);
      transcripts.add(kept);
      contexts.add(kept);
    },
    onFailed: (closed) => stop(closed),
  });
  let release = () => {};
  const stop = (reason: unknown) => {
    release();
    stopping.abort(reason);
  };

  return {
    taskDir,
    dispatchId,
    log,
    registry,
    totals,
    model: options.model,
    toolbox,
    hooks: options.hooks ?? [],
    clock,
    maxToolRounds: options.maxToolRounds ?? 50,
    modelTimeoutMs: options.modelTimeoutMs ?? null,
    signal: AbortSignal.any([stopping.signal, ...(options.signal === undefined ? [] : [options.signal])]),
    get isStopped() {
      return options.signal?.aborted === true;
    },
    answering: new Map(),
    transcriptOf: (agentId) =>
      // Copies: a model or a reader must not change what is held.
      log.inOrder(async () => (await transcripts.of(agentId)).map(({ message }) => structuredClone(message))),
    contextOf: (agentId) => log.inOrder(() => contexts.render(agentId)),
    evict: (agentId) =>
      log.inOrder(async () => {
        transcripts.evict(agentId);
        contexts.evict(agentId);
      }),
    restore(event, position) {
      restored = position;
      observe(event, position);
    },
    start() {
      dispatch.announce(registry.list());
      release = watchSignal(options.signal, log);
    },
    stop,
  };
}

/** Records that the owner stopped the session. */
function watchSignal(signal: AbortSignal | undefined, log: SessionLog): () => void {
  if (signal === undefined) return () => {};
  const onAbort = () => {
    const reason = describeFailure(signal.reason).message;
    if (log.isOpen) void log.append([newEvent('harness:abort', { reason, by: 'signal' })]);
  };
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);
  return () => signal.removeEventListener('abort', onAbort);
}
