import {
  type CapturedEvent,
  createIdSource,
  type IdSource,
  isEventOf,
  type JsonValue,
  type NewEvent,
  newOutput,
} from '@hansard/events';
import type {
  AgentToolCall,
  Clock,
  DispatchHost,
  HookProvider,
  OfferedTool,
  ToolCallVerdict,
  ToolOutcome,
} from '@hansard/provider';
import { nextTurn } from '../async/next-turn.ts';
import { describeFailure } from '../describe-failure.ts';
import type { DispatchLog } from '../store/dispatch-log.ts';
import { toDispatchRef } from '../store/dispatch-ref.ts';
import { askAboutCall, askAboutResult, type HookedCall } from './ask-about-call.ts';
import { blockedText, type HookAsking, type HookVerdict } from './ask-hooks.ts';
import type { Toolbox } from './toolbox.ts';
import { failedOutcome, useTool } from './use-tool.ts';

export interface ProjectToolsOptions {
  readonly log: DispatchLog;
  readonly toolbox: Toolbox;
  readonly hooks: readonly HookProvider[];
  /** How a hook takes part in a question about a call. */
  readonly part: HookAsking['part'];
  readonly hookTimeoutMs: number | false;
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
  /** The last decision on each of them, by call. */
  readonly #decided = new Map<string, string>();

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
    if (isEventOf(event, 'agent:tool_call')) {
      const key = callKey(event.agentId, event.data.toolCallId);
      this.#openCalls.set(key, event.id);
      this.#decided.delete(key);
    } else if (isEventOf(event, 'agent:tool_result')) {
      const key = callKey(event.agentId, event.data.toolCallId);
      this.#openCalls.delete(key);
      this.#decided.delete(key);
    }
  }

  /** The event as it is recorded: the result of a call that hooks decided on names the last decision. */
  linked(event: NewEvent): NewEvent {
    // It is not checked yet.
    if (event?.type !== 'agent:tool_result' || event.via !== undefined) return event;
    const via = this.#decided.get(callKey(event.agentId, String(event.data?.toolCallId)));
    return via === undefined ? event : { ...event, via };
  }

  /** Asks the hooks about a call and records their decisions. Rejects only when the signal aborts. */
  async askHooks(
    call: AgentToolCall,
    signal: AbortSignal = this.#ending.signal,
  ): Promise<ToolCallVerdict & Pick<HookVerdict<JsonValue>, 'via'>> {
    signal.throwIfAborted();
    const { events, value, denied, via } = await askAboutCall(this.#asking(signal), this.#hooked(call));
    await this.#record(events, call, signal);
    if (denied !== null) return { decision: 'deny', ...denied, via };
    return { decision: 'allow', input: value, isAltered: via !== null, via };
  }

  /** Ends the pending calls. No more calls are made or recorded. */
  end(reason: string): void {
    this.#ending.abort(new DOMException(reason, 'AbortError'));
  }

  #hooked(call: AgentToolCall): HookedCall {
    return { ...call, dispatchId: this.#options.log.dispatchId, agents: () => [], running: () => [] };
  }

  #asking(signal: AbortSignal): HookAsking {
    const { hooks, part, hookTimeoutMs: timeoutMs, clock, log } = this.#options;
    return {
      hooks,
      part,
      clock,
      timeoutMs,
      signal,
      createId: this.#createId,
      isLogged: (id) => isLogged(log, id),
    };
  }

  async #record(
    events: readonly NewEvent[],
    { agentId, toolCallId }: AgentToolCall,
    signal: AbortSignal,
  ): Promise<void> {
    if (events.length === 0) return;
    const key = callKey(agentId, toolCallId);
    const callId = await this.callEvent(toolCallId, agentId);
    for (const event of events) {
      signal.throwIfAborted();
      const { id, type } = await this.#options.record(
        callId === undefined ? event : aboutCall(event, callId),
      );
      if (type === 'harness:hook_decision' && callId !== undefined) this.#decided.set(key, id);
    }
    signal.throwIfAborted();
  }

  /** Records what the agent observed in a call. */
  async #observeIn(
    { agentId, toolCallId }: AgentToolCall,
    output: NewEvent,
    signal: AbortSignal,
  ): Promise<string> {
    const cause = await this.callEvent(toolCallId, agentId);
    signal.throwIfAborted();
    const links = {
      ...(agentId === undefined ? {} : { agentId }),
      ...(cause === undefined ? {} : { cause }),
    };
    const { id } = await this.#options.record({ ...output, ...links });
    return id;
  }

  /** The event of a call. It may have been yielded but not processed yet. */
  async callEvent(toolCallId: string, agentId?: string): Promise<string | undefined> {
    const key = callKey(agentId, toolCallId);
    if (!this.#openCalls.has(key)) await nextTurn();
    return this.#openCalls.get(key);
  }

  async #call(call: AgentToolCall, ownSignal: AbortSignal): Promise<ToolOutcome> {
    const { log, toolbox, dispatches } = this.#options;
    const signal = AbortSignal.any([this.#ending.signal, ownSignal]);
    try {
      const verdict = await this.askHooks(call, signal);
      if (verdict.decision === 'deny') return { status: 'error', text: blockedText(verdict) };
      if (toolbox.definitions.some(({ name, waitsFor }) => name === call.tool && waitsFor !== undefined))
        return failedOutcome(`${call.tool} waits for a person, and only in a session can a call wait.`);
      const made = { ...call, input: verdict.input };
      const asked = { ...made, ...toDispatchRef(log), signal };
      const outcome = await useTool({
        toolbox,
        call: dispatches === null ? asked : { ...asked, dispatches },
        observe: (values) => this.#observeIn(call, newOutput(values), signal),
      });
      const result = await askAboutResult(this.#asking(signal), this.#hooked(made), outcome, verdict.via);
      await this.#record(result.events, call, signal);
      return result.outcome;
    } catch (error) {
      return failedOutcome(describeFailure(error).message);
    }
  }
}

/** The event of a decision, or of the failure of a hook, with the call as its subject and first cause. */
function aboutCall(event: NewEvent, callId: string): NewEvent {
  const cause = event.cause === undefined ? callId : [callId, ...[event.cause].flat()];
  if (event.type !== 'harness:hook_decision') return { ...event, cause };
  return { ...event, cause, data: { ...event.data, subject: callId } };
}

/** Reads the log, because decisions rarely name a cause. */
async function isLogged(log: DispatchLog, id: string): Promise<boolean> {
  for await (const { event } of log.events()) if (event.id === id || event.messageId === id) return true;
  return false;
}

/** An agent id contains no space. */
function callKey(agentId = '', toolCallId: string): string {
  return `${agentId} ${toolCallId}`;
}
