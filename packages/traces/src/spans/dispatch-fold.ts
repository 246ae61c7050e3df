import { type CapturedEvent, definedOnly, type EventData, type EventOf, isEventOf } from '@hansard/events';
import { LoggedRequests } from '@hansard/prompt';
import type { Attributes } from '@opentelemetry/api';
import {
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_REQUEST_MODEL,
  GEN_AI_OPERATION_NAME_VALUE_CREATE_AGENT,
  GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT,
} from '@opentelemetry/semantic-conventions/incubating';
import { hansard, providerNameOf, shownModel } from './attributes.ts';
import { ChatSpans } from './chat-spans.ts';
import { ContentBudget } from './content.ts';
import { type DispatchNews, dispatchSpan } from './dispatch-span.ts';
import { emitLog } from './emit-log.ts';
import {
  type AgentState,
  agentAttributes,
  agentNameOf,
  createAgentState,
  type FoldContext,
  type FoldStep,
} from './fold-state.ts';
import { derivedSpanId, spanIdOf } from './identity.ts';
import { causesOf, LinkList } from './links.ts';
import { ToolSpans } from './tool-spans.ts';

/** Folds the events of one dispatch, in order, into spans and log records. It keeps only open items. */
export class DispatchFold {
  readonly #context: FoldContext;
  readonly #parentSpanId: string | null;
  readonly #agents: AgentSpans;
  readonly #chats: ChatSpans;
  readonly #tools: ToolSpans;
  readonly #requests = new LoggedRequests();
  readonly #news: DispatchNews = {};
  readonly #start: number;
  #last: number;

  /** `start`: of the dispatch, in milliseconds since 1970. */
  constructor(context: FoldContext, parentSpanId: string | null, start: number) {
    this.#context = context;
    this.#parentSpanId = parentSpanId;
    this.#last = start;
    this.#start = start;
    this.#agents = new AgentSpans(context, this.#last);
    this.#chats = new ChatSpans(context);
    this.#tools = new ToolSpans(context);
  }

  take(event: CapturedEvent): void {
    // A damaged log can have a time that is none.
    const recorded = event.timestamp === null ? Number.NaN : Date.parse(event.timestamp);
    const time = Number.isNaN(recorded) ? this.#last : recorded;
    this.#last = Math.max(this.#last, time);
    const agent = isEventOf(event, 'agent:created')
      ? this.#agents.announced(event, time)
      : this.#agents.of(event.agentId, time);
    agent.last = Math.max(agent.last, time);
    this.#requests.observe(event);
    if (!this.#hasContent && event.type !== 'agent:inference' && Object.keys(event.data).length > 0)
      this.#context.onLeftOut(`data of ${event.type}`, 1);
    this.#record({ event, data: event.data, agent, time });
  }

  /** An event whose records another dispatch has. Only what later events need of it is kept. */
  skip(event: CapturedEvent): void {
    this.#requests.observe(event);
    if (isEventOf(event, 'agent:created')) this.#agents.learn(event, this.#last);
    if (event.type === 'agent:terminated') this.#agents.of(event.agentId, this.#last).ended = true;
  }

  end(): void {
    for (const agent of this.#agents.all()) this.#chats.endAll(agent);
    this.#tools.endAll(this.#last);
    for (const agent of this.#agents.all()) this.#agents.end(agent, agent.last);
    const { envelope, factory, emit, content } = this.#context;
    emit(
      factory.span(
        dispatchSpan(envelope, this.#agents.dispatched, this.#parentSpanId, this.#news, {
          start: this.#start,
          last: this.#last,
          content,
        }),
      ),
    );
  }

  #record(step: FoldStep): void {
    const { event, agent } = step;
    if (isEventOf(event, 'agent:created')) this.#agents.created({ ...step, data: event.data });
    else if (isEventOf(event, 'agent:text')) this.#said(step, 'text', event.data.text);
    else if (isEventOf(event, 'agent:thinking')) this.#said(step, 'reasoning', event.data.text);
    else if (isEventOf(event, 'agent:inference'))
      this.#chats.inference({ ...step, data: event.data }, this.#requests.of(event));
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
    if (!this.#hasContent) return;
    if (type === 'text' || this.#context.reasoning) output.addText('assistant', type, text);
    else this.#context.onLeftOut(`data of ${step.event.type}`, 1);
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

/** A decision of a hook: a span of zero length, below the tool call of the decision. */
function emitHookDecision(
  context: FoldContext,
  { event, agent, data, time }: FoldStep<EventData<'harness:hook_decision'>>,
  toolSpanId: string | undefined,
): void {
  const { envelope, recent, emit, factory, find, content } = context;
  const spanId = spanIdOf(envelope.dispatchId, event.id);
  const links = new LinkList();
  links.take(event, find, spanId);
  recent.set(envelope.dispatchId, event.id, spanId);
  context.noteTime(spanId, event);
  const budget = new ContentBudget();
  // The reason first: it is never cut for the texts.
  const shown = (text: string | undefined) =>
    content !== 'spans' || text === undefined ? undefined : budget.text(text);
  const reason = shown(data.reason);
  const input = shown(data.input === undefined ? undefined : JSON.stringify(data.input));
  const made = shown(data.text);
  const given = shown(data.given);
  emit(
    factory.span({
      spanId,
      parentSpanId: toolSpanId ?? agent.spanId,
      operation: 'execute_hook',
      subject: data.hook,
      start: time,
      end: time,
      attributes: {
        ...agentAttributes(agent, envelope),
        [hansard.hookName]: data.hook,
        [hansard.hookOn]: data.on,
        [hansard.hookDecision]: data.decision,
        ...definedOnly({
          [hansard.hookSubject]: data.subject,
          [hansard.hookPrevious]: data.previous,
          [hansard.hookMadeFrom]: data.madeFrom,
        }),
        ...(budget.truncatedBytes === 0 ? {} : { [hansard.truncatedBytes]: budget.truncatedBytes }),
        [hansard.eventId]: event.id,
      },
      content: definedOnly({
        [hansard.hookReason]: reason,
        [hansard.hookInput]: input,
        [hansard.hookText]: made,
        [hansard.hookGiven]: given,
      }),
      links: links.links,
      droppedLinks: links.dropped,
    }),
  );
}

/** The agents of a dispatch. The dispatched agent has the span of its dispatch; every other agent has its own span. */
class AgentSpans {
  readonly dispatched: AgentState;
  readonly #context: FoldContext;
  readonly #agents = new Map<string, AgentState>();
  #rootId: string | null = null;

  constructor(context: FoldContext, start: number) {
    this.#context = context;
    const { dispatchId, model } = context.envelope;
    const spanId = spanIdOf(dispatchId, dispatchId);
    this.dispatched = createAgentState({
      agentId: null,
      name: null,
      model: shownModel(model),
      spanId,
      parentSpanId: null,
      start,
    });
  }

  /** The agent of an event. An agent without `agent:created` begins with its first event. */
  of(agentId: string | undefined, time: number): AgentState {
    if (agentId === undefined || agentId === this.#rootId) return this.dispatched;
    return this.#agents.get(agentId) ?? this.#begin(agentId, time, this.dispatched.spanId);
  }

  /** What an `agent:created` says of its agent. */
  learn(event: EventOf<'agent:created'>, time: number): void {
    const agent = this.announced(event, time);
    agent.name = event.data.name ?? agent.name;
    agent.model = shownModel(event.data.languageModel ?? agent.model);
  }

  /** The first agent without `agent:created` is the dispatched one. */
  created({ event, agent, data, time }: FoldStep<EventData<'agent:created'>>): void {
    agent.name = data.name ?? agent.name;
    agent.model = shownModel(data.languageModel ?? agent.model);
    const { envelope, recent, factory, emit, find } = this.#context;
    const links = new LinkList();
    const spanId = spanIdOf(envelope.dispatchId, event.id);
    links.take(event, find, spanId);
    recent.set(envelope.dispatchId, event.id, spanId);
    this.#context.noteTime(spanId, event);
    emit(
      factory.span({
        spanId,
        parentSpanId: agent.parentSpanId ?? agent.spanId,
        operation: 'create_agent',
        subject: agentNameOf(agent, envelope),
        start: time,
        end: time,
        attributes: {
          ...this.#attributes(agent, GEN_AI_OPERATION_NAME_VALUE_CREATE_AGENT),
          [hansard.eventId]: event.id,
        },
        links: links.links,
        droppedLinks: links.dropped,
      }),
    );
  }

  /** The state of an agent from its `agent:created`, below the tool call that created it. */
  announced(
    { agentId, cause }: { agentId?: string; cause?: string | readonly string[] },
    time: number,
  ): AgentState {
    if (agentId === undefined) return this.dispatched;
    const known = this.#agents.get(agentId);
    if (known !== undefined) return known;
    const [creator] = typeof cause === 'string' ? [cause] : (cause ?? []);
    if (creator === undefined && this.#rootId === null) this.#rootId = agentId;
    if (agentId === this.#rootId) return this.dispatched;
    const { recent, envelope } = this.#context;
    const parent = creator === undefined ? undefined : recent.known(envelope.dispatchId, creator);
    return this.#begin(agentId, time, parent ?? this.dispatched.spanId);
  }

  end(agent: AgentState, time: number): void {
    if (agent.parentSpanId === null || agent.ended) return;
    agent.ended = true;
    const { factory, emit, envelope } = this.#context;
    emit(
      factory.span({
        spanId: agent.spanId,
        parentSpanId: agent.parentSpanId,
        operation: 'invoke_agent',
        subject: agentNameOf(agent, envelope),
        start: agent.start,
        end: time,
        attributes: {
          ...this.#attributes(agent, GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT),
          ...(envelope.completedAt === null ? { [hansard.truncated]: true } : {}),
        },
      }),
    );
  }

  all(): Iterable<AgentState> {
    return [...this.#agents.values(), this.dispatched];
  }

  #begin(agentId: string, start: number, parentSpanId: string): AgentState {
    const spanId = derivedSpanId('agent', this.#context.envelope.dispatchId, agentId);
    const agent = createAgentState({ agentId, name: null, model: null, spanId, parentSpanId, start });
    this.#agents.set(agentId, agent);
    return agent;
  }

  #attributes(agent: AgentState, operation: string): Attributes {
    return {
      [ATTR_GEN_AI_OPERATION_NAME]: operation,
      [ATTR_GEN_AI_PROVIDER_NAME]: agent.model === null ? '_OTHER' : providerNameOf(agent.model),
      ...(agent.model === null ? {} : { [ATTR_GEN_AI_REQUEST_MODEL]: agent.model }),
      ...agentAttributes(agent, this.#context.envelope),
    };
  }
}
