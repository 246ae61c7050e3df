import type { EventData } from '@hansard/events';
import type { Attributes } from '@opentelemetry/api';
import {
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_REQUEST_MODEL,
  GEN_AI_OPERATION_NAME_VALUE_CREATE_AGENT,
  GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT,
} from '@opentelemetry/semantic-conventions/incubating';
import { agentAttributes, agentNameOf } from './agent-attributes.ts';
import { type AgentState, createAgentState } from './agent-state.ts';
import { hansard } from './attributes.ts';
import type { FoldContext, FoldStep } from './fold-context.ts';
import { derivedSpanId, spanIdOf } from './identity.ts';
import { LinkList } from './links.ts';
import { providerNameOf, shownModel } from './provider-name.ts';

/** The agents of a dispatch. The dispatched agent has the span of its dispatch; every other agent has its own span. */
export class AgentSpans {
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

  /** The first agent without `agent:created` is the dispatched one. */
  created({ event, agent, data, time }: FoldStep<EventData<'agent:created'>>): void {
    agent.name = data.name ?? agent.name;
    agent.model = shownModel(data.languageModel ?? agent.model);
    const { envelope, recent, factory, emit, find } = this.#context;
    const links = new LinkList();
    const spanId = spanIdOf(envelope.dispatchId, event.id);
    links.take(event, find, spanId);
    recent.set(envelope.dispatchId, event.id, spanId);
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
