import { type Dispatch, defaultHookTimeoutMs, type Toolbox, toDispatchRef } from '@hansard/dispatch';
import { type CapturedEvent, isEvent } from '@hansard/events';
import { AgentMemory } from './agents/agent-memory.ts';
import { AgentRegistry } from './agents/agent-registry.ts';
import { SessionLog } from './log/session-log.ts';
import type { SessionRecord } from './log/session-record.ts';
import { SessionLife } from './session-life.ts';
import { contextOptions, type SessionDefaults, type SessionRunOptions } from './session-options.ts';
import { RunningCalls } from './turn/running-calls.ts';
import type { TurnResources } from './turn/turn-resources.ts';

/** A session, as each caller may use it. */
export interface SessionParts {
  /** For what records. */
  readonly record: SessionRecord;
  /** For the turns of agents. */
  readonly turn: TurnResources;
  /** For readers of transcripts. */
  readonly memory: AgentMemory;
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
  const memory = new AgentMemory({
    read: (agentId) => readEventsOf(agentId, registry, dispatch, log.through),
    context: contextOptions(options),
    inOrder: (task) => log.inOrder(task),
  });
  const log: SessionLog = new SessionLog({
    dispatch,
    clock,
    createId,
    onAccepted: (event, after) => registry.observe(event, after + 1),
    // A provider that is shown an event must not change what is kept.
    onRecorded: (events) =>
      memory.add(options.communication === undefined ? events : structuredClone(events)),
    onFailed: (closed) => life.stop(closed),
  });
  const record: SessionRecord = {
    dispatch: toDispatchRef(dispatch),
    log,
    registry,
  };
  const life = new SessionLife({
    dispatch,
    record,
    signal,
    onRestored: (event, position) => registry.observe(event, position),
    onStop: (reason) => stopping.abort(reason),
  });
  const stopSignal = AbortSignal.any([stopping.signal, ...(signal === undefined ? [] : [signal])]);
  const turn: TurnResources = {
    ...record,
    model: options.model,
    toolbox,
    asking: {
      hooks: options.hooks ?? [],
      clock,
      timeoutMs: options.hookTimeoutMs ?? defaultHookTimeoutMs,
      signal: stopSignal,
      createId,
      isLogged: (id) => registry.ownerOf(id) !== null,
    },
    clock,
    maxToolRounds: options.maxToolRounds ?? 50,
    parallelToolCalls: options.parallelToolCalls ?? 1,
    running: new RunningCalls(),
    modelTimeoutMs: options.modelTimeoutMs ?? null,
    signal: stopSignal,
    answering: new Map(),
    contextOf: (agentId) => memory.contextOf(agentId),
  };
  return { record, turn, memory, life };
}

/** The readable events of an agent up to a position, in the order of the log. */
async function readEventsOf(
  agentId: string,
  registry: AgentRegistry,
  dispatch: Dispatch,
  through: number,
): Promise<CapturedEvent[]> {
  const agent = registry.get(agentId);
  const isRoot = registry.root === agent;
  // An event without an agent belongs to the root, including events before the root's own first event.
  const after = isRoot ? -1 : agent.after;
  const events: CapturedEvent[] = [];
  for await (const { event, position } of dispatch.events({ after })) {
    if (position > through) break;
    const isTheirs = event.agentId === agentId || (isRoot && event.agentId === undefined);
    if (isTheirs && isEvent(event)) events.push(event);
  }
  return events;
}
