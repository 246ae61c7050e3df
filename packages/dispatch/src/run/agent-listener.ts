import { type CapturedEvent, type EventData, eventErrors, isEventOf, type NewEvent } from '@hansard/events';
import { type AgentActivity, type AgentProvider, type AgentRunRequest, storeErrors } from '@hansard/provider';
import { nextTurn } from '../async/next-turn.ts';
import type { ProjectTools } from '../tools/project-tools.ts';
import type { RunLog } from './run-log.ts';
import type { Watch } from './watch.ts';

const activitiesPerTurn = 100;

export interface AgentListenerOptions {
  readonly agent: AgentProvider;
  readonly request: AgentRunRequest;
  readonly log: RunLog;
  readonly tools: ProjectTools;
  readonly watch: Watch;
  /** Whether activities of the agent are still recorded. */
  readonly isListening: () => boolean;
  /** Called before the agent is stopped, which may take time. */
  readonly onFault: (error: unknown, whose: 'agent' | 'store') => void;
}

/** Processes the activities of an agent: records and publishes each, passes it to the watch, and only then asks for the
 * next one. */
export class AgentListener {
  readonly #options: AgentListenerOptions;
  #isAwaited = false;

  constructor(options: AgentListenerOptions) {
    this.#options = options;
  }

  /** Whether the run waits for the agent. */
  get isAwaited(): boolean {
    return this.#isAwaited;
  }

  /** Resolves when the agent ends. Rejects with the error that it threw, or with the error of an activity that is not valid. */
  async listen(): Promise<void> {
    const { agent, request, watch, isListening } = this.#options;
    let taken = 0;
    this.#isAwaited = true;
    watch.touch();
    for await (const activity of agent.run(request)) {
      if (!isListening()) return;
      this.#isAwaited = false;
      await this.#take(activity);
      this.#isAwaited = true;
      taken += 1;
      // An agent that never waits would block timers and signals.
      if (taken % activitiesPerTurn === 0) await nextTurn();
    }
  }

  async #take(activity: AgentActivity): Promise<void> {
    const { log, tools, watch } = this.#options;
    const isHeartbeat = activity.kind === 'event' && activity.isHeartbeat === true;
    if (!isHeartbeat) watch.touch();
    if (activity.kind === 'delta') {
      log.dispatch.publish(activity.delta);
      return;
    }
    const event = await this.#record(tools.linked(activity.event));
    tools.observe(event);
    if (isEventOf(event, 'session:init')) await this.#recordInit(event.data);
    // A narrative log omits the inputs by which calls differ.
    await watch.observe({ ...event, data: activity.event.data });
    if (event.type.startsWith('agent:')) watch.checkCost();
    // Recording may take time, during which the agent was not awaited.
    if (!isHeartbeat) watch.touch();
  }

  async #record(event: NewEvent): Promise<CapturedEvent> {
    const { log, onFault } = this.#options;
    try {
      return await log.append(event);
    } catch (error) {
      const isBadEvent = eventErrors.is(error) || storeErrors.is(error, 'STORE_EVENT_CONFLICT');
      onFault(error, isBadEvent ? 'agent' : 'store');
      throw error;
    }
  }

  /** The model and the folder that the agent reports, where the run was given none. */
  async #recordInit({ model, cwd }: EventData<'session:init'>): Promise<void> {
    const { log, onFault } = this.#options;
    const { envelope } = log.dispatch;
    const updates = {
      ...(envelope.model === null ? { model } : {}),
      ...(envelope.cwd === null && cwd !== undefined ? { cwd } : {}),
    };
    if (Object.keys(updates).length === 0) return;
    try {
      await log.dispatch.update(updates);
    } catch (error) {
      onFault(error, 'store');
      throw error;
    }
  }
}
