import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CapturedEvent, type EventData, isEventError, isEventOf, type NewEvent } from '@hansard/events';
import {
  type AgentActivity,
  type AgentProvider,
  type AgentRunRequest,
  isStoreError,
} from '@hansard/provider';
import type { ProjectTools } from '../tools/project-tools.ts';
import type { RunLog } from './run-log.ts';
import type { Supervision } from './supervision.ts';

const activitiesPerTurn = 100;

export interface AgentListenerOptions {
  readonly agent: AgentProvider;
  readonly request: AgentRunRequest;
  readonly log: RunLog;
  readonly tools: ProjectTools;
  readonly supervision: Supervision;
  /** Whether what the agent yields is still anybody's business. */
  readonly isHeard: () => boolean;
  /** Told before the agent is made to end, which may take its time. */
  readonly onFault: (error: unknown, whose: 'agent' | 'store') => void;
}

/** Takes what an agent yields: records and publishes it, shows it to the watch, and asks for more only then. */
export class AgentListener {
  readonly #options: AgentListenerOptions;
  #isAsked = false;
  #completion: EventData<'session:complete'> | null = null;

  constructor(options: AgentListenerOptions) {
    this.#options = options;
  }

  /** Whether it is the agent that the run waits for. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** The last `session:complete` that the agent yielded. */
  get completion(): EventData<'session:complete'> | null {
    return this.#completion;
  }

  /** Resolves when the agent ends; rejects with what it threw, or with what was wrong with what it yielded. */
  async listen(): Promise<void> {
    const { agent, request, supervision, isHeard } = this.#options;
    let taken = 0;
    this.#isAsked = true;
    supervision.touch();
    for await (const activity of agent.run(request)) {
      if (!isHeard()) return;
      this.#isAsked = false;
      await this.#take(activity);
      this.#isAsked = true;
      taken += 1;
      // An agent that never waits for anything would keep timers and signals waiting for ever.
      if (taken % activitiesPerTurn === 0) await nextTurn();
    }
  }

  async #take(activity: AgentActivity): Promise<void> {
    const { log, tools, supervision } = this.#options;
    const isHeartbeat = activity.kind === 'event' && activity.isHeartbeat === true;
    if (!isHeartbeat) supervision.touch();
    if (activity.kind === 'delta') {
      log.dispatch.publish(activity.delta);
      return;
    }
    const event = await this.#record(activity.event);
    tools.observe(event);
    if (isEventOf(event, 'session:complete')) this.#completion = event.data;
    if (isEventOf(event, 'session:init') && log.dispatch.envelope.model === null)
      await this.#recordModel(event.data.model);
    // A narrative log leaves out the inputs that tell calls apart.
    await supervision.observe({ ...event, data: activity.event.data });
    // Recording may take its time; the agent was not asked meanwhile.
    if (!isHeartbeat) supervision.touch();
  }

  async #record(event: NewEvent): Promise<CapturedEvent> {
    const { log, onFault } = this.#options;
    try {
      return await log.append(event);
    } catch (error) {
      const isBadEvent = isEventError(error) || isStoreError(error, 'STORE_EVENT_CONFLICT');
      onFault(error, isBadEvent ? 'agent' : 'store');
      throw error;
    }
  }

  async #recordModel(model: string): Promise<void> {
    const { log, onFault } = this.#options;
    try {
      await log.dispatch.update({ model });
    } catch (error) {
      onFault(error, 'store');
      throw error;
    }
  }
}
