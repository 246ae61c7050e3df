import {
  type CapturedEvent,
  definedOnly,
  type EventData,
  type JsonObject,
  type JsonValue,
} from '@hansard/events';
import type { Attributes } from '@opentelemetry/api';
import {
  ATTR_ERROR_TYPE,
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_TOOL_CALL_ARGUMENTS,
  ATTR_GEN_AI_TOOL_CALL_ID,
  ATTR_GEN_AI_TOOL_CALL_RESULT,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_GEN_AI_TOOL_TYPE,
  GEN_AI_OPERATION_NAME_VALUE_EXECUTE_TOOL,
} from '@opentelemetry/semantic-conventions/incubating';
import { hansard } from './attributes.ts';
import { ContentBudget } from './content.ts';
import { type AgentState, agentAttributes, type FoldContext, type FoldStep } from './fold-state.ts';
import { spanIdOf } from './identity.ts';
import { LinkList } from './links.ts';

/** The maximum number of calls that wait for a result. A log with more is broken. */
const mostOpen = 4_096;

type ToolCall = EventData<'agent:tool_call'>;
type ToolResult = EventData<'agent:tool_result'>;

interface OpenCall {
  readonly agent: AgentState;
  readonly spanId: string;
  readonly tool: string;
  readonly start: number;
  readonly attributes: Attributes;
  readonly content: Attributes;
  readonly links: LinkList;
  readonly budget: ContentBudget;
}

/** Tool calls: from the call to its result. */
export class ToolSpans {
  readonly #context: FoldContext;
  readonly #open = new Map<string, OpenCall>();

  constructor(context: FoldContext) {
    this.#context = context;
  }

  call(step: FoldStep<ToolCall>): void {
    const { event, agent, data } = step;
    const key = keyOf(agent, data.toolCallId);
    this.#truncate(key, step.time);
    if (this.#open.size >= mostOpen)
      for (const oldest of this.#open.keys()) {
        this.#truncate(oldest, step.time);
        break;
      }
    const call = this.#begin(step, step.time);
    if (data.input !== undefined) this.#addContent(call, ATTR_GEN_AI_TOOL_CALL_ARGUMENTS, data.input);
    this.#addDescription(call, data);
    this.#open.set(key, call);
    this.#note(event, call, data.metadata);
  }

  result(step: FoldStep<ToolResult>): void {
    const { event, agent, data, time } = step;
    const key = keyOf(agent, data.toolCallId);
    const found = this.#open.get(key);
    this.#open.delete(key);
    // A result without its call in the log has at most a duration.
    const call = found ?? this.#begin(step, time - (data.durationMs ?? 0));
    if (found !== undefined) call.links.take(event, this.#context.find, call.spanId);
    else this.#addDescription(call, data);
    if (data.output !== undefined) this.#addContent(call, ATTR_GEN_AI_TOOL_CALL_RESULT, data.output);
    this.#note(event, call, data.metadata);
    const failed = data.status === 'error';
    const shown = this.#context.content === 'spans' ? data.error : undefined;
    const message = shown === undefined ? undefined : call.budget.text(shown);
    if (failed) call.attributes[ATTR_ERROR_TYPE] = 'tool_error';
    this.#emit(call, time, failed ? definedOnly({ message }) : undefined);
  }

  /** The span of a call without a result so far. */
  find(agent: AgentState, toolCallId: string): string | undefined {
    return this.#open.get(keyOf(agent, toolCallId))?.spanId;
  }

  /** Ends calls without a result, of one agent or of all. */
  endAll(time: number, agent?: AgentState): void {
    for (const [key, call] of this.#open)
      if (agent === undefined || call.agent === agent) this.#truncate(key, time);
  }

  #begin({ event, agent, data }: FoldStep<ToolCall | ToolResult>, start: number): OpenCall {
    const spanId = spanIdOf(this.#context.envelope.dispatchId, event.id);
    const links = new LinkList();
    links.take(event, this.#context.find, spanId);
    return {
      agent,
      spanId,
      tool: data.tool,
      start,
      links,
      budget: new ContentBudget(),
      content: {},
      attributes: {
        [ATTR_GEN_AI_OPERATION_NAME]: GEN_AI_OPERATION_NAME_VALUE_EXECUTE_TOOL,
        [ATTR_GEN_AI_TOOL_NAME]: data.tool,
        [ATTR_GEN_AI_TOOL_CALL_ID]: data.toolCallId,
        [ATTR_GEN_AI_TOOL_TYPE]: 'function',
        ...agentAttributes(agent, this.#context.envelope),
        [hansard.eventId]: event.id,
      },
    };
  }

  /** Target and metadata count as content: a path, a command or a query, and facts about it. */
  #addDescription(call: OpenCall, { target, metadata }: ToolCall | ToolResult): void {
    if (this.#context.content !== 'spans') return;
    const shown = target === undefined ? undefined : call.budget.text(target);
    if (shown !== undefined) call.content[hansard.toolTarget] = shown;
    if (Object.keys(metadata).length > 0) this.#addJson(call, hansard.toolMetadata, metadata);
  }

  #addContent(call: OpenCall, name: string, value: JsonValue): void {
    if (this.#context.content === 'spans') this.#addJson(call, name, value);
  }

  #addJson(call: OpenCall, name: string, value: JsonValue): void {
    const kept = call.budget.text(JSON.stringify(value));
    if (kept !== undefined) call.content[name] = kept;
  }

  #note(event: CapturedEvent, { spanId }: OpenCall, { dispatchId }: JsonObject): void {
    const { id } = event;
    this.#context.noteTime(spanId, event);
    this.#context.recent.set(this.#context.envelope.dispatchId, id, spanId);
    if (typeof dispatchId === 'string') this.#context.startedBy(dispatchId, spanId);
  }

  #truncate(key: string, time: number): void {
    const call = this.#open.get(key);
    if (call === undefined) return;
    this.#open.delete(key);
    call.attributes[hansard.truncated] = true;
    // Its agent still waited.
    call.agent.last = Math.max(call.agent.last, time);
    this.#emit(call, time);
  }

  #emit(
    { agent, spanId, tool, start, attributes, content, links, budget }: OpenCall,
    end: number,
    error?: { message?: string },
  ) {
    if (budget.truncatedBytes > 0) attributes[hansard.truncatedBytes] = budget.truncatedBytes;
    this.#context.emit(
      this.#context.factory.span({
        spanId,
        parentSpanId: agent.spanId,
        operation: 'execute_tool',
        subject: tool,
        start,
        end,
        attributes,
        content,
        links: links.links,
        droppedLinks: links.dropped,
        ...definedOnly({ error }),
      }),
    );
  }
}

function keyOf({ spanId }: AgentState, toolCallId: string): string {
  return `${spanId} ${toolCallId}`;
}
