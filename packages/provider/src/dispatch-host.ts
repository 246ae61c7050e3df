import type { CapturedEvent, DispatchEnvelope, JsonObject } from '@hansard/events';

/**
 * Lets a tool run workers when it is called from a dispatch. Each worker is a child dispatch of the caller (D4), and workers
 * run in parallel. A caller has access only to its own workers: every `dispatchId` here must be the id of one of them, except
 * that of a message.
 *
 * Workers are aborted with the caller. If the caller ends by itself, its workers continue to their own end, and the run of
 * the caller ends after theirs.
 *
 * @throws STORE_DISPATCH_NOT_FOUND for a dispatch that is not a worker of the caller
 */
export interface DispatchHost {
  /** The dispatch that called the tool. */
  readonly dispatchId: string;

  /** Whether the dispatch may start workers. False at the deepest level, where it can only send. */
  readonly mayStart: boolean;

  /** The kinds of agent that a worker can be; `NewWorker.agent` accepts these names. */
  listAgents(): readonly string[];

  /**
   * Starts a worker. Resolves when its envelope is durable; the worker is running then.
   * @throws DISPATCH_AGENT_NOT_FOUND for an unknown agent, DISPATCH_WORKER_LIMIT if the maximum number of workers is
   * running or the caller may start none, DISPATCH_ENDED if the caller has ended
   */
  startWorker(worker: NewWorker): Promise<DispatchEnvelope>;

  /** Every worker of the caller, in the order of their start. */
  listWorkers(): Promise<DispatchEnvelope[]>;

  getWorker(dispatchId: string): Promise<DispatchEnvelope>;

  /** The last `count` events of a worker, oldest first. */
  getRecentEvents(dispatchId: string, count: number): Promise<CapturedEvent[]>;

  /**
   * Resolves with the envelope of a worker when it has ended; its own workers may still run. Rejects when the signal aborts,
   * in which case the worker continues, and with the error of the store if the store failed.
   */
  awaitWorker(dispatchId: string, signal?: AbortSignal): Promise<DispatchEnvelope>;

  /** Aborts a worker and its workers, and resolves with its envelope when all have ended. An ended worker is not changed. */
  abortWorker(dispatchId: string, reason?: string): Promise<DispatchEnvelope>;

  /** The running dispatches that `send` reaches: the one that started the caller, its workers, and others if the configuration allows it. */
  listReachable(): readonly ReachableDispatch[];

  /**
   * Sends a message to another running dispatch (D2), and returns the id of the `agent:message_sent` that records it here, with the
   * tool call as its cause. The other dispatch records a `user:message` whose source names the caller and whose cause is that event.
   * Durable on both sides when it resolves. The agent there reads it as any message that arrives while it runs.
   *
   * If the other dispatch ends or fails meanwhile, the caller's log also has a `harness:error` that the message caused.
   * @throws DISPATCH_NOT_REACHABLE for the caller itself, or where the configuration does not allow it; STORE_DISPATCH_NOT_FOUND for an id
   * that no dispatch has that runs with the caller; DISPATCH_ENDED if one of the two has ended or the other reads no messages;
   * DISPATCH_MESSAGE_EMPTY, DISPATCH_MESSAGE_LIMIT; the error of the store
   */
  send(message: OutgoingMessage): Promise<string>;
}

/** A dispatch that runs with the caller. */
export interface ReachableDispatch {
  readonly dispatchId: string;
  readonly role: string;
  readonly relation: 'parent' | 'worker' | 'other';
}

export interface OutgoingMessage {
  /** The id of a dispatch, or `parent`: the one that started the caller. */
  readonly to: string;
  readonly text: string;
  /** The tool call that sends it, and its agent; absent: the dispatched agent. */
  readonly toolCallId?: string;
  readonly agentId?: string;
}

export interface NewWorker {
  readonly role: string;
  /** The task of the worker. */
  readonly prompt: string;
  /** One of `listAgents`. Absent: the caller's own kind of agent; for a session the only one, if there is one. */
  readonly agent?: string;
  /** Absent: the caller's model, or the default of another kind of agent. */
  readonly model?: string;
  /** Relative to the caller's folder. Absent: the caller's folder. */
  readonly cwd?: string;
  /** JSON Schema of the requested result. */
  readonly outputSchema?: JsonObject;
  readonly botId?: string;
  /** The tool call that starts it. */
  readonly toolCallId?: string;
}
