import type { CapturedEvent, DispatchEnvelope, JsonObject } from '@hansard/events';

/**
 * What a tool may do with dispatches when it is called from one: run workers, each a child dispatch of the caller (D4),
 * side by side. A caller sees its own workers and nobody else's: every `dispatchId` here is that of one of them.
 *
 * Workers end when the caller is aborted. Where the caller ends by itself, they go on to their own end, and its run is
 * over when they are.
 *
 * @throws STORE_DISPATCH_NOT_FOUND for a dispatch that is no worker of the caller
 */
export interface DispatchHost {
  /** The dispatch that called the tool. */
  readonly dispatchId: string;

  /** The agents that a worker can be, by the names that `NewWorker.agent` takes. */
  listAgents(): readonly string[];

  /**
   * Starts a worker. Resolves when its envelope is durable; it runs from then on.
   * @throws DISPATCH_AGENT_NOT_FOUND for an unknown agent, DISPATCH_WORKER_LIMIT where as many workers run as may,
   * DISPATCH_ENDED when the caller has ended
   */
  startWorker(worker: NewWorker): Promise<DispatchEnvelope>;

  /** Every worker of the caller, in the order of their start. */
  listWorkers(): Promise<DispatchEnvelope[]>;

  getWorker(dispatchId: string): Promise<DispatchEnvelope>;

  /** The last `count` events of a worker, oldest first. */
  getRecentEvents(dispatchId: string, count: number): Promise<CapturedEvent[]>;

  /**
   * Resolves with the envelope of a worker when it has ended; its own workers may still run. Rejects when the signal
   * aborts, and the worker goes on; rejects with the error of a store that failed for it.
   */
  awaitWorker(dispatchId: string, signal?: AbortSignal): Promise<DispatchEnvelope>;

  /** Aborts a worker and those below it, and resolves with its envelope when all have ended. One that has ended stays as it is. */
  abortWorker(dispatchId: string, reason?: string): Promise<DispatchEnvelope>;
}

export interface NewWorker {
  readonly role: string;
  /** What the worker is asked to do. */
  readonly prompt: string;
  /** One of `listAgents`. Absent: the caller's own kind of agent. */
  readonly agent?: string;
  /** Absent: the caller's, or what another kind of agent chooses by itself. */
  readonly model?: string;
  /** Relative to the caller's, which it is where absent. */
  readonly cwd?: string;
  /** JSON Schema of the result that is asked for. */
  readonly outputSchema?: JsonObject;
  readonly botId?: string;
  /** The tool call that starts it. */
  readonly toolCallId?: string;
}
