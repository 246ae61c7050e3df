import type { CapturedEvent, JsonObject, JsonValue, RequestTool } from '@hansard/events';
import { isPlainObject, isReadableAs } from '@hansard/events/plain';

const takesPart = /^(agent|user):/;

/**
 * What a log says of a part of a request. `recorded`: the part is in the log. `none`: the model was given none.
 * `names`: the log has only the names of the tools that the engine reported when its session began, or only the
 * parameters that it stated for the turn. `lost`: the call names a part that the log does not have. `absent`: the log
 * does not say.
 */
type RequestBasis = 'recorded' | 'none' | 'names' | 'lost' | 'absent';

interface RequestPart<T> {
  readonly basis: RequestBasis;
  /** What names the part: the id of the `request:stored` event, or the name that an engine gave it. Null: the log names none. */
  readonly id: string | null;
  /** Null: not in the log. */
  readonly value: T | null;
  /** False: the log has only a part of it, because the source, narrative fidelity or redaction left out the rest. */
  readonly isWhole: boolean;
}

/** What the model of a call was given beside its messages. */
export interface CallRequest {
  readonly tools: RequestPart<readonly RequestTool[]>;
  readonly parameters: RequestPart<JsonObject>;
}

const absent = { basis: 'absent', id: null, value: null, isWhole: false } as const;
const none = { basis: 'none', id: null, isWhole: true } as const;
const noRequest: CallRequest = { tools: absent, parameters: absent };

/** The requests of model calls: a fold over the events of a log, in their order. */
export class LoggedRequests {
  readonly #stored = new Map<string, CapturedEvent>();
  /** The names that the latest `session:init` reports. */
  #names: CallRequest | null = null;

  /** What the latest turn of Codex states of its parameters. */
  #turn: CallRequest['parameters'] | null = null;
  readonly #ofEngine = new EngineRequests();

  observe(event: CapturedEvent): void {
    this.#ofEngine.observe(event);
    if (event.type === 'request:stored') this.#stored.set(event.id, event);
    else if (event.type === 'system:turn_context' && event.agentId === undefined)
      this.#turn = parametersOfTurn(event.data);
    else if (isReadableAs(event, 'session:init') && event.agentId === undefined) {
      const { tools: names } = event.data;
      const value = names?.map((name) => ({ name }));
      this.#names =
        value === undefined
          ? null
          : { ...noRequest, tools: { basis: 'names', id: null, value, isWhole: false } };
    }
  }

  /** The request of a model call. The log before it was observed. */
  of(inference: CapturedEvent): CallRequest {
    if (!isReadableAs(inference, 'agent:inference')) return noRequest;
    const { agentId, data } = inference;
    // The names are those of the dispatched agent. Other agents of an engine have tools of their own.
    const named = agentId === undefined ? (this.#names ?? noRequest) : noRequest;
    const ofTurn =
      agentId === undefined && this.#turn !== null ? { ...named, parameters: this.#turn } : named;
    const { tools, parameters } = this.#ofEngine.of(inference) ?? ofTurn;
    const { request = {} } = data;
    return {
      tools: request.tools === undefined ? tools : this.#part(request.tools, 'tools', []),
      parameters:
        request.parameters === undefined ? parameters : this.#part(request.parameters, 'parameters', {}),
    };
  }

  #part<Key extends 'tools' | 'parameters'>(
    id: string | null,
    key: Key,
    empty: NonNullable<CallRequest[Key]['value']>,
  ): CallRequest[Key] {
    if (id === null) return { ...none, value: empty } as CallRequest[Key];
    const event = this.#stored.get(id);
    const value = event !== undefined && isReadableAs(event, 'request:stored') ? event.data[key] : undefined;
    if (event === undefined || value === undefined) return { basis: 'lost', id, value: null, isWhole: false };
    return { basis: 'recorded', id, value, isWhole: isWholeData(event.data) } as unknown as CallRequest[Key];
  }
}

/**
 * The requests that Claude Code writes beside its transcript since 2.1.332, as far as they were seen.
 * `api-request-shape` has the system prompt and the tools. `api-request` has the parameters and the hash of its
 * shape. `requestRef` of an answer names the request. The log has these records as captured.
 */
class EngineRequests {
  readonly #shapes = new Map<unknown, { readonly shape: JsonObject; readonly isWhole: boolean }>();
  readonly #requests = new Map<
    unknown,
    { readonly params: JsonObject; readonly shapeHash: unknown; readonly isWhole: boolean }
  >();
  /** The request of each answer, by its message. */
  readonly #answers = new Map<string, unknown>();

  observe({ type, id, messageId = id, data }: CapturedEvent): void {
    if (type === 'system:api_request_shape' && isPlainObject(data.shape))
      this.#shapes.set(data.shapeHash, { shape: data.shape as JsonObject, isWhole: isWholeData(data) });
    else if (type === 'system:api_request' && isPlainObject(data.params)) {
      const { id: requestId, params, shapeHash } = data;
      this.#requests.set(requestId, { params: params as JsonObject, shapeHash, isWhole: isWholeData(data) });
    } else if (isPlainObject(data.details) && typeof data.details.requestRef === 'string')
      this.#answers.set(messageId, data.details.requestRef);
  }

  /** Null: the log has no such record for the call. */
  of({ id, messageId = id }: CapturedEvent): CallRequest | null {
    const requestId = this.#answers.get(messageId);
    const request = this.#requests.get(requestId);
    if (request === undefined) return null;
    const { params, shapeHash } = request;
    const found = this.#shapes.get(shapeHash);
    const system = found?.shape.system;
    const tools = Array.isArray(found?.shape.tools) ? found.shape.tools.flatMap(toolOfEngine) : null;
    return {
      tools:
        found === undefined || tools === null
          ? { basis: 'lost', id: String(shapeHash), value: null, isWhole: false }
          : {
              basis: tools.length === 0 ? 'none' : 'recorded',
              id: String(shapeHash),
              value: tools,
              isWhole: found.isWhole,
            },
      parameters: {
        basis: 'recorded',
        id: String(requestId),
        value: system === undefined ? params : { ...params, system },
        isWhole: request.isWhole && found?.isWhole !== false,
      },
    };
  }
}

/** How much the model thinks, as Codex states it for a turn. Null: it does not say. */
function parametersOfTurn({ effort, summary }: JsonObject): CallRequest['parameters'] | null {
  if (typeof effort !== 'string') return null;
  const value = typeof summary === 'string' ? { effort, summary } : { effort };
  return { basis: 'names', id: null, value, isWhole: false };
}

/** A definition in the form of the Anthropic API. */
function toolOfEngine(tool: JsonValue): RequestTool[] {
  if (!isPlainObject(tool) || typeof tool.name !== 'string') return [];
  const { name, description, input_schema: inputSchema, ...details } = tool as JsonObject;
  return [
    {
      name: String(name),
      ...(typeof description === 'string' ? { description } : {}),
      ...(inputSchema === undefined ? {} : { inputSchema }),
      ...(Object.keys(details).length === 0 ? {} : { details: details as Record<string, JsonValue> }),
    },
  ];
}

/** Whether neither narrative fidelity nor redaction left something out. */
function isWholeData({ leftOut, redactions }: JsonObject): boolean {
  return leftOut === undefined && redactions === undefined;
}

/**
 * The agent that events without `agentId` belong to: the first agent created without a cause; '' if that is a peer, because
 * the log then has no root. Otherwise '' if such an event is part of a conversation, else the first agent in the log, else ''.
 */
export function rootOf(events: readonly CapturedEvent[]): string {
  let first: string | null = null;
  let isUnnamed = false;
  for (const { type, agentId, cause, data } of events) {
    if (agentId === undefined) isUnnamed ||= takesPart.test(type);
    else if (type === 'agent:created' && cause === undefined) return data.peer === true ? '' : agentId;
    else first ??= agentId;
  }
  return isUnnamed ? '' : (first ?? '');
}
