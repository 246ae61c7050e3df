import { type CapturedEvent, type EventData, isEventOf } from '@hansard/events';
import { AgentSpans } from './agent-spans.ts';
import { ChatSpans } from './chat-spans.ts';
import { type DispatchNews, dispatchSpan } from './dispatch-span.ts';
import { emitLog } from './emit-log.ts';
import type { FoldContext, FoldStep } from './fold-context.ts';
import { emitHookDecision } from './hook-spans.ts';
import { causesOf } from './links.ts';
import { ToolSpans } from './tool-spans.ts';

/** Folds the events of one dispatch, in order, into spans and log records. It keeps only open items. */
export class DispatchFold {
  readonly #context: FoldContext;
  readonly #parentSpanId: string | null;
  readonly #agents: AgentSpans;
  readonly #chats: ChatSpans;
  readonly #tools: ToolSpans;
  readonly #news: DispatchNews = {};
  #last: number;

  constructor(context: FoldContext, parentSpanId: string | null) {
    this.#context = context;
    this.#parentSpanId = parentSpanId;
    this.#last = Date.parse(context.envelope.startedAt);
    this.#agents = new AgentSpans(context, this.#last);
    this.#chats = new ChatSpans(context);
    this.#tools = new ToolSpans(context);
  }

  take(event: CapturedEvent): void {
    const recorded = Date.parse(event.timestamp);
    // Only a damaged log has a time that is none.
    const time = Number.isNaN(recorded) ? this.#last : recorded;
    this.#last = Math.max(this.#last, time);
    const agent = isEventOf(event, 'agent:created')
      ? this.#agents.announced(event, time)
      : this.#agents.of(event.agentId, time);
    agent.last = Math.max(agent.last, time);
    this.#record({ event, data: event.data, agent, time });
  }

  end(): void {
    for (const agent of this.#agents.all()) this.#chats.endAll(agent);
    this.#tools.endAll(this.#last);
    for (const agent of this.#agents.all()) this.#agents.end(agent, agent.last);
    const { envelope, factory, emit, content } = this.#context;
    emit(
      factory.span(
        dispatchSpan(envelope, this.#agents.dispatched, this.#parentSpanId, this.#news, this.#last, content),
      ),
    );
  }

  #record(step: FoldStep): void {
    const { event, agent } = step;
    if (isEventOf(event, 'agent:created')) this.#agents.created({ ...step, data: event.data });
    else if (isEventOf(event, 'agent:text')) this.#said(step, 'text', event.data.text);
    else if (isEventOf(event, 'agent:thinking')) this.#said(step, 'reasoning', event.data.text);
    else if (isEventOf(event, 'agent:inference')) this.#chats.inference({ ...step, data: event.data });
    else if (isEventOf(event, 'agent:tool_call')) this.#called({ ...step, data: event.data });
    else if (isEventOf(event, 'agent:tool_result')) this.#resulted({ ...step, data: event.data });
    else if (isEventOf(event, 'user:message')) this.#heard({ ...step, data: event.data });
    else if (isEventOf(event, 'agent:system_prompt')) {
      if (this.#hasContent) agent.system.addText('system', 'text', event.data.text);
      this.#remember(step, agent.spanId);
    } else if (isEventOf(event, 'harness:hook_decision')) {
      const { toolCallId } = event.data;
      const tool = toolCallId === undefined ? undefined : this.#tools.find(agent, toolCallId);
      emitHookDecision(this.#context, { ...step, data: event.data }, tool);
      this.#logOfSpan(step);
    } else this.#told(step);
  }

  /** An event that is neither a span nor a part of one becomes a log record. */
  #told(step: FoldStep): void {
    const { event, agent, time } = step;
    if (isEventOf(event, 'session:init')) this.#news.sdkSessionId = event.data.sessionId;
    if (isEventOf(event, 'session:complete')) this.#news.complete = event.data;
    if (isEventOf(event, 'harness:error')) {
      this.#news.errorType = event.data.code ?? 'error';
      this.#news.errorMessage = event.data.message;
    }
    const spanId = event.type === 'agent:piece_of_text' ? this.#originOf(step) : agent.spanId;
    emitLog(this.#context, step, spanId);
    this.#remember(step, spanId);
    if (event.type !== 'agent:terminated') return;
    this.#chats.endAll(agent);
    this.#tools.endAll(time, agent);
    this.#agents.end(agent, time);
  }

  #heard(step: FoldStep<EventData<'user:message'>>): void {
    const { event, agent, data } = step;
    if (this.#hasContent) agent.input.addText('user', 'text', data.text);
    agent.links.take(event, this.#context.find, null, data.source.dispatchId);
    this.#answered(step);
    emitLog(this.#context, step, agent.spanId);
    this.#remember(step, this.#originOf(step));
  }

  #called(step: FoldStep<EventData<'agent:tool_call'>>): void {
    const { toolCallId, tool, input } = step.data;
    const { output } = this.#chats.block(step);
    if (this.#hasContent) output.addToolCall(toolCallId, tool, input);
    this.#tools.call(step);
    this.#logOfSpan(step);
  }

  #resulted(step: FoldStep<EventData<'agent:tool_result'>>): void {
    const { toolCallId, output } = step.data;
    this.#tools.result(step);
    if (this.#hasContent) step.agent.input.addToolResponse(toolCallId, output);
    this.#answered(step);
    this.#logOfSpan(step);
  }

  #said(step: FoldStep, type: 'text' | 'reasoning', text: string): void {
    const { output } = this.#chats.block(step);
    if (this.#hasContent && (type === 'text' || this.#context.reasoning))
      output.addText('assistant', type, text);
  }

  /** Input to an agent ends its previous message, if messages have no ids. */
  #answered({ agent }: FoldStep): void {
    for (const message of agent.messages) message.answered = true;
  }

  #logOfSpan(step: FoldStep): void {
    if (this.#context.content !== 'events') return;
    const { envelope, recent } = this.#context;
    emitLog(this.#context, step, recent.get(envelope.dispatchId, step.event.id));
  }

  /** The span of the event's substance or cause; otherwise the span of its agent. */
  #originOf({ event, agent }: FoldStep): string {
    const { recent, envelope } = this.#context;
    const [origin] = event.substance === undefined ? causesOf(event) : [event.substance];
    const known = origin === undefined ? undefined : recent.known(envelope.dispatchId, origin);
    return known ?? agent.spanId;
  }

  #remember({ event }: FoldStep, spanId: string): void {
    this.#context.recent.set(this.#context.envelope.dispatchId, event.id, spanId);
  }

  get #hasContent(): boolean {
    return this.#context.content !== 'none';
  }
}
