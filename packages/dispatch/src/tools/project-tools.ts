import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type CapturedEvent,
  createIdSource,
  type Fidelity,
  type IdSource,
  isEventOf,
  type JsonValue,
  type NewEvent,
} from '@hansard/events';
import type {
  AgentToolCall,
  Clock,
  DispatchHost,
  HookProvider,
  OfferedTool,
  ToolCall,
  ToolCallVerdict,
  ToolOutcome,
} from '@hansard/provider';
import { describeFailure } from '../describe-failure.ts';
import type { DispatchRef } from '../store/dispatch-ref.ts';
import { askHooks, blockedText } from './ask-hooks.ts';
import type { Toolbox } from './toolbox.ts';
import { failedOutcome, useTool } from './use-tool.ts';

export interface ProjectToolsOptions {
  readonly dispatch: DispatchRef;
  readonly fidelity: Fidelity;
  readonly toolbox: Toolbox;
  readonly hooks: readonly HookProvider[];
  readonly clock: Clock;
  /** Null: the dispatch can have no workers. */
  readonly dispatches: DispatchHost | null;
  readonly record: (event: NewEvent) => Promise<CapturedEvent>;
}

/** The tools and hooks of the project for the agent of one dispatch, until `end`. */
export class ProjectTools {
  readonly offered: readonly OfferedTool[];
  readonly #options: ProjectToolsOptions;
  readonly #createId: IdSource;
  readonly #ending = new AbortController();
  /** The events of the agent's calls without a result, by call. */
  readonly #openCalls = new Map<string, string>();

  constructor(options: ProjectToolsOptions) {
    const { toolbox, clock } = options;
    this.#options = options;
    this.#createId = createIdSource({ now: () => clock.now() });
    this.offered = toolbox.definitions.map((definition) => ({
      definition,
      call: ({ signal, ...call }) => this.#call({ ...call, tool: definition.name }, signal),
    }));
  }

  /** Observes an event of the agent after it was recorded. */
  observe(event: CapturedEvent): void {
    if (isEventOf(event, 'agent:tool_call'))
      this.#openCalls.set(callKey(event.agentId, event.data.toolCallId), event.id);
    else if (isEventOf(event, 'agent:tool_result'))
      this.#openCalls.delete(callKey(event.agentId, event.data.toolCallId));
  }

  /** Asks the hooks about a call and records their decisions. Rejects only when the signal aborts. */
  async askHooks(
    { agentId, toolCallId, tool, input }: AgentToolCall,
    signal: AbortSignal = this.#ending.signal,
  ): Promise<ToolCallVerdict> {
    const { hooks, dispatch, fidelity } = this.#options;
    const whose = agentId === undefined ? {} : { agentId };
    const { dispatchId } = dispatch;
    const what = { on: 'tool_call', dispatchId, ...whose, toolCallId, tool } as const;
    signal.throwIfAborted();
    const asking = { hooks, signal, createId: this.#createId };
    const { events, value, denied, via } = await askHooks<JsonValue>(asking, {
      value: input,
      ask: (asked) => ({ ...what, input: asked, agents: [] }),
      alteredBy: (decision) => decision.input,
      data: { toolCallId },
      // Nothing else in the log shows the altered input; `narrative` fidelity omits it (D7).
      alterationData: (altered) => (fidelity === 'full' ? { input: altered } : {}),
      links: whose,
    });
    await this.#record(events, callKey(agentId, toolCallId), signal);
    if (denied !== null) return { decision: 'deny', ...denied };
    return { decision: 'allow', input: value, isAltered: via !== null };
  }

  /** Ends the pending calls. No more calls are made or recorded. */
  end(reason: string): void {
    this.#ending.abort(new DOMException(reason, 'AbortError'));
  }

  async #record(events: readonly NewEvent[], key: string, signal: AbortSignal): Promise<void> {
    if (events.length === 0) return;
    // The event of the call may have been yielded but not processed yet.
    if (!this.#openCalls.has(key)) await nextTurn();
    const cause = this.#openCalls.get(key);
    for (const event of events) {
      signal.throwIfAborted();
      await this.#options.record(cause === undefined ? event : { ...event, cause });
    }
    signal.throwIfAborted();
  }

  async #call(call: AgentToolCall, ownSignal: AbortSignal): Promise<ToolOutcome> {
    const { dispatch, toolbox, dispatches } = this.#options;
    const signal = AbortSignal.any([this.#ending.signal, ownSignal]);
    try {
      const verdict = await this.askHooks(call, signal);
      if (verdict.decision === 'deny') return { status: 'error', text: blockedText(verdict) };
      const made: ToolCall = { ...call, ...dispatch, input: verdict.input, signal };
      return await useTool(toolbox, dispatches === null ? made : { ...made, dispatches });
    } catch (error) {
      return failedOutcome(describeFailure(error).message);
    }
  }
}

/** An agent id contains no space. */
function callKey(agentId = '', toolCallId: string): string {
  return `${agentId} ${toolCallId}`;
}
