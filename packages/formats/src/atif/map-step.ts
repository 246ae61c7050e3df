import {
  type CapturedEvent,
  type ContentPart,
  type EventData,
  type EventLinks,
  eventProblem,
  isPlainObject,
  isTimestamp,
  type JsonObject,
  type JsonValue,
  type KnownEventType,
  type MediaPart,
  type NewEvent,
  newEvent,
  separateContent,
  storedRequest,
} from '@hansard/events';
import { timeOf } from '../lines/log-origin.ts';
import { type AtifHansard, asObject, asText, isNothing, usageOf, withoutNothing } from './atif-fields.ts';

/** What the trajectories of one document share. */
export interface AtifLog {
  /** The bytes of a file that a part names. Null if the file is outside of the document's folder or cannot be read. */
  readonly media: (path: string) => Uint8Array | null;
  readonly report: (code: 'wrong_value' | 'unknown_kind' | 'time_missing', message: string) => void;
  /** Whether Hansard has written the document, so that `extra.hansard` says what ATIF has no field for. */
  readonly isOwn: boolean;
  /** The ids of calls, of agents and of what is stored once. */
  readonly taken: Set<string>;
  /** The event of the call whose result refers to an embedded trajectory. */
  readonly callers: Map<string, string>;
  files: number;
  fileBytes: number;
}

/** The trajectory that a step belongs to. */
export interface AtifTrajectory {
  readonly agentId?: string;
  /** What the ids of its events begin with. */
  readonly prefix: string;
  readonly model: string | null;
  /** The `request:stored` event with its tools. Absent: not recorded. */
  readonly tools?: string;
}

/** A call of a step, for its results. */
interface Called {
  readonly given: string | undefined;
  readonly event: string;
  readonly data: EventData<'agent:tool_call'>;
}

const sources: ReadonlySet<unknown> = new Set(['system', 'user', 'agent']);

/** The events of one step, by its place in the trajectory, from 1. Each part of a step has an id of its own, so that a part that comes later changes no other. */
export function mapStep(
  log: AtifLog,
  trajectory: AtifTrajectory,
  step: JsonObject,
  place: number,
): CapturedEvent[] {
  const mapping = new StepMapping(log, trajectory, step, place);
  const events = sources.has(step.source) ? mapping.events() : [];
  const problem = events.map((event) => eventProblem(event)).find((one) => one !== null);
  if (events.length > 0 && problem === undefined) return events;
  log.report(
    problem === undefined ? 'unknown_kind' : 'wrong_value',
    `Step ${place} ${problem === undefined ? 'has no known source' : `cannot be read: ${problem}`}. It is kept as captured.`,
  );
  return mapping.captured();
}

class StepMapping {
  readonly #log: AtifLog;
  readonly #trajectory: AtifTrajectory;
  readonly #step: JsonObject;
  readonly #place: number;
  readonly #id: string;
  readonly #timestamp: string | null;
  readonly #made: NewEvent[] = [];
  readonly #calls: Called[] = [];
  /** Fields of the step that no event holds in another form. They go to its first event. */
  #details: JsonObject;

  constructor(log: AtifLog, trajectory: AtifTrajectory, step: JsonObject, place: number) {
    this.#log = log;
    this.#trajectory = trajectory;
    this.#step = step;
    this.#place = place;
    this.#id = `${trajectory.prefix}step-${place}`;
    const time = timeOf(step);
    const isKnown = time !== null && time >= 0 && time < 253_402_300_800_000;
    this.#timestamp = isKnown ? new Date(time).toISOString() : null;
    const { step_id: stepId, timestamp, source: _, message: __, observation: ___, ...others } = step;
    this.#details = withoutNothing({
      ...(stepId === place ? {} : { step_id: stepId ?? null }),
      ...(isTimestamp(timestamp) && timestamp === this.#timestamp ? {} : { timestamp: timestamp ?? null }),
      ...others,
    });
  }

  get #own(): AtifHansard {
    return asObject(asObject(this.#step.extra)?.hansard) ?? {};
  }

  captured(): CapturedEvent[] {
    this.#made.length = 0;
    this.#details = {};
    this.#add(this.#id, 'system:step', { step: this.#step });
    return this.#finished();
  }

  events(): CapturedEvent[] {
    const { source, is_copied_context: isCopied } = this.#step;
    if (isCopied === true) this.#copied();
    else if (source === 'agent') this.#answer();
    else this.#received();
    return this.#finished();
  }

  #finished(): CapturedEvent[] {
    const [first, ...others] = this.#made;
    if (first === undefined) return [];
    const own = first.data.details as JsonObject | undefined;
    const step = this.#details;
    const data = isNothing(step) ? first.data : { ...first.data, details: { ...own, step } };
    return [{ ...first, data }, ...others].flatMap((event) => {
      const separated = separateContent(event);
      const contents = separated.contents.filter(({ id = '' }) => this.#isFirst(`content ${id}`));
      return [...contents, separated.event] as CapturedEvent[];
    });
  }

  #isFirst(name: string): boolean {
    const { taken } = this.#log;
    return !taken.has(name) && taken.add(name) !== undefined;
  }

  #add(id: string, type: NewEvent['type'], data: JsonObject, links: EventLinks = {}): string {
    const { agentId } = this.#trajectory;
    const timestamp = this.#timestamp;
    this.#made.push({ id, type, timestamp, ...(agentId === undefined ? {} : { agentId }), ...links, data });
    return id;
  }

  #event<T extends KnownEventType>(id: string, type: T, data: EventData<T>, links: EventLinks = {}): string {
    return this.#add(id, type, data as JsonObject, links);
  }

  /** Takes fields that an event holds in another form out of the details. */
  #hold(...names: readonly string[]): void {
    this.#details = Object.fromEntries(
      Object.entries(this.#details).filter(([name]) => !names.includes(name)),
    );
  }

  /** A step of the agent: its thoughts, texts and calls, what the model used, and what came back. */
  #answer(): void {
    const links = { messageId: this.#id };
    const thought = asText(this.#step.reasoning_content);
    if (thought !== undefined) {
      this.#event(`${this.#id}:thinking`, 'agent:thinking', { text: thought }, links);
      this.#hold('reasoning_content');
    }
    this.#said(links);
    for (const [at, call] of listOf(this.#step.tool_calls).entries()) this.#call(call, at + 1, links);
    if (Array.isArray(this.#step.tool_calls)) this.#hold('tool_calls');
    if (this.#made.length === 0) this.#event(this.#id, 'agent:output', { parts: [] }, links);
    this.#inference(links);
    if (this.#log.isOwn) this.#hold('extra', 'llm_call_count');
    this.#observed();
  }

  #said(links: EventLinks): void {
    const { message } = this.#step;
    if (typeof message === 'string') {
      if (message !== '') this.#event(this.#id, 'agent:text', { text: message }, links);
      return;
    }
    const others: JsonValue[] = [];
    for (const [at, part] of listOf(message).entries()) {
      const id = at === 0 ? this.#id : `${this.#id}:part-${at + 1}`;
      const text = textOfPart(part);
      const media = text === undefined ? this.#media(part) : null;
      if (text !== undefined) this.#event(id, 'agent:text', { text }, links);
      else if (media !== null) this.#event(id, 'agent:output', { parts: [media] }, links);
      else others.push(part);
    }
    if (others.length > 0 || !Array.isArray(message))
      this.#details.message = Array.isArray(message) ? others : (message ?? null);
    else if (!this.#log.isOwn) this.#details.isParts = true;
  }

  #call(call: JsonValue, at: number, links: EventLinks): void {
    const id = `${this.#id}:call-${at}`;
    const data = this.#callOf(call, id);
    if (data === null) {
      this.#add(id, 'system:tool_call', { call }, links);
      return;
    }
    this.#event(id, 'agent:tool_call', data, links);
    this.#calls.push({ given: asText(asObject(call)?.tool_call_id), event: id, data });
  }

  #callOf(call: JsonValue, id: string): EventData<'agent:tool_call'> | null {
    const {
      tool_call_id: given,
      function_name: tool,
      arguments: input,
      extra,
      ...others
    } = asObject(call) ?? {};
    if (typeof tool !== 'string' || tool === '') return null;
    const { hansard, rest } = ownOf(extra);
    const isText = typeof given === 'string' && given !== '';
    // A log of Hansard can have an id again, on another branch or in a copied transcript.
    const isOwn = isText && (this.#isFirst(`call ${given}`) || this.#log.isOwn);
    const own = inputOf(input, hansard);
    const target = this.#log.isOwn ? asText(hansard.target) : targetOf(input);
    const details = withoutNothing({
      ...others,
      ...(isOwn ? {} : { tool_call_id: given ?? null }),
      extra: rest,
    });
    return {
      toolCallId: isOwn ? given : id,
      tool,
      ...(target === undefined ? {} : { target }),
      metadata: asObject(hansard.metadata) ?? {},
      ...(own === undefined ? {} : { input: own }),
      ...(isNothing(details) ? {} : { details }),
    };
  }

  /** Only a step with figures records a model call. */
  #inference(links: EventLinks): void {
    const { metrics, model_name: name, reasoning_effort: effort, llm_call_count: count } = this.#step;
    const given = asObject(metrics);
    if (given === undefined || count === 0) return;
    const { usage, costUsd, rest, problem } = usageOf(given);
    if (problem !== null) this.#log.report('wrong_value', `The metrics of step ${this.#place}: ${problem}`);
    const named = asText(name) ?? this.#trajectory.model;
    const parameters = isNothing(effort) ? null : storedRequest({ parameters: { reasoning_effort: effort } });
    if (parameters !== null && this.#isFirst(`content ${parameters.id}`)) this.#made.push(parameters);
    const { tools } = this.#trajectory;
    const stopReason = asText(asObject(this.#step.extra)?.stop_reason);
    const own = this.#own;
    const isOfAgent = asText(name) === undefined && named !== null;
    const details = this.#log.isOwn
      ? {}
      : withoutNothing({
          ...rest,
          ...(isOfAgent ? { model_name: 'that of the agent' } : {}),
          llm_call_count: count ?? null,
        });
    const data = {
      model: named ?? 'unknown',
      usage,
      ...(costUsd === undefined ? {} : { costUsd }),
      ...(stopReason === undefined ? {} : { stopReason }),
      ...(typeof own.durationMs === 'number' ? { durationMs: own.durationMs } : {}),
      ...(tools === undefined && parameters === null
        ? {}
        : {
            request: {
              ...(tools === undefined ? {} : { tools }),
              ...(parameters === null ? {} : { parameters: parameters.id }),
            },
          }),
      ...(isNothing(details) ? {} : { details }),
    };
    this.#event(`${this.#id}:inference`, 'agent:inference', data, links);
    this.#hold(
      'metrics',
      'llm_call_count',
      ...(asText(name) === undefined ? [] : ['model_name']),
      ...(parameters === null ? [] : ['reasoning_effort']),
    );
  }

  /** A step of the user or the system, and what the system observed. */
  #received(): void {
    const { source, message, extra } = this.#step;
    const { hansard, rest } = ownOf(extra);
    if (hansard !== none) this.#details = withoutNothing({ ...this.#details, extra: rest });
    if (source === 'system' && this.#compaction(asObject(rest), hansard)) return;
    if (hansard.isObservation === true) {
      this.#observed();
      return;
    }
    const { text, parts, layout } = this.#content(message, asObject(hansard.attached));
    if (layout !== null) this.#details.message = layout;
    const isFirst =
      source === 'system' && this.#place === 1 && hansard.source === undefined && parts.length === 0;
    if (isFirst || hansard.source === 'system_prompt') this.#event(this.#id, 'agent:system_prompt', { text });
    else
      this.#event(this.#id, 'user:message', {
        text,
        source: this.#sourceOf(source === 'system', hansard),
        ...(parts.length === 0 ? {} : { parts }),
        ...(hansard.command === true ? { command: true } : {}),
        ...(typeof hansard.wrapped === 'string' ? { wrapped: hansard.wrapped } : {}),
      });
    this.#observed();
  }

  #sourceOf(isSystem: boolean, { source }: AtifHansard): EventData<'user:message'>['source'] {
    const stated = asObject(source);
    if (stated !== undefined) return stated as EventData<'user:message'>['source'];
    if (isSystem) return { kind: 'system' };
    return { kind: this.#trajectory.prefix === '' ? 'user' : 'external' };
  }

  /** A text with its attachments. `layout` has the parts in their order, with the length of each text. It is null if the message is one text. */
  #content(
    message: JsonValue | undefined,
    attached: JsonObject = {},
  ): { text: string; parts: ContentPart[]; layout: JsonValue } {
    if (typeof message === 'string') return { text: message, parts: [], layout: null };
    const texts: string[] = [];
    const parts: ContentPart[] = [];
    const layout = listOf(message).map((part, at): JsonValue => {
      const text = textOfPart(part);
      const facts = asObject(attached[at]);
      const media = text === undefined ? this.#media(part) : null;
      if (media !== null) parts.push({ ...media, ...facts });
      else if (text !== undefined && facts !== undefined) parts.push({ kind: 'text', text, ...facts });
      else if (text !== undefined) texts.push(text);
      return text?.length ?? (media === null ? part : 'file');
    });
    const text = texts.join('\n');
    if (this.#log.isOwn) return { text, parts, layout: null };
    return { text, parts, layout: Array.isArray(message) ? layout : { is: message ?? null } };
  }

  /** A system step that says that the context was replaced. */
  #compaction(extra: JsonObject | undefined, hansard: AtifHansard): boolean {
    const { type, boundary } = asObject(extra?.context_management) ?? {};
    if (type !== 'compaction' || (boundary !== undefined && boundary !== 'replace')) return false;
    const { results, ...more } = asObject(this.#step.observation) ?? {};
    const [only, ...rest] = listOf(results);
    const { content, ...others } = asObject(only) ?? {};
    const isSummary = rest.length === 0 && isNothing(withoutNothing({ ...others, ...more }));
    const summary = isSummary ? asText(content) : undefined;
    const message = this.#step.message ?? null;
    this.#event(this.#id, 'session:compaction', {
      trigger: asText(hansard.trigger) ?? 'unknown',
      ...(summary === undefined ? {} : { summary }),
      ...(typeof hansard.preTokens === 'number' ? { preTokens: hansard.preTokens } : {}),
      ...(typeof hansard.postTokens === 'number' ? { postTokens: hansard.postTokens } : {}),
      ...(message === '' ? {} : { details: { message } }),
    });
    if (summary === undefined) this.#observed();
    return true;
  }

  #observed(): void {
    const { observation } = this.#step;
    if (isNothing(observation)) return;
    const { results, ...others } = asObject(observation) ?? {};
    if (!Array.isArray(results) || !isNothing(withoutNothing(others)))
      this.#details.observation = observation ?? null;
    if (!Array.isArray(results)) return;
    for (const [at, result] of results.entries()) this.#result(result, `${this.#id}:result-${at + 1}`);
  }

  /** A result of a call, or what the agent observed without one. */
  #result(result: JsonValue, id: string): void {
    const given = asObject(result);
    if (given === undefined) {
      this.#add(id, 'system:observation', { result });
      return;
    }
    const { source_call_id: callId, content, extra, ...others } = given;
    const call =
      this.#calls.find((one) => one.given !== undefined && one.given === callId) ??
      this.#calls.find((one) => callId === '' && one.given === undefined);
    const { hansard, rest } = ownOf(extra);
    const details = withoutNothing({
      ...others,
      ...(this.#log.isOwn ? { subagent_trajectory_ref: null } : {}),
      extra: rest,
    });
    const caller =
      call?.event ?? this.#calls.find((one) => one.given !== undefined && one.given === hansard.call)?.event;
    for (const reference of listOf(given.subagent_trajectory_ref)) {
      const child = asObject(reference)?.trajectory_id;
      if (typeof child === 'string' && caller !== undefined) this.#log.callers.set(child, caller);
    }
    if (hansard.call !== undefined) return;
    const more = isNothing(details) ? {} : { details };
    if (call !== undefined) {
      this.#answered(id, call, { content, extra: rest, hansard, more });
      return;
    }
    const parts = this.#observedParts(content);
    const isOnePart = Array.isArray(content) && content.length === 1 && !this.#log.isOwn;
    const unknown = {
      ...(isNothing(callId) ? {} : { source_call_id: callId }),
      ...(isOnePart ? { isParts: true } : {}),
    };
    if (parts === null) this.#add(id, 'system:observation', { ...given });
    else
      this.#add(id, 'agent:output', {
        parts,
        ...(isNothing({ ...details, ...unknown }) ? {} : { details: { ...details, ...unknown } }),
      });
  }

  #answered(
    id: string,
    { data: { toolCallId, tool, target, metadata }, event }: Called,
    {
      content,
      extra,
      hansard,
      more,
    }: { content: JsonValue | undefined; extra: JsonValue; hansard: AtifHansard; more: object },
  ): void {
    const error = asText(hansard.error);
    const isError = hansard.status === 'error' || statesError(extra);
    const own = asObject(hansard.metadata);
    const resultTarget = this.#log.isOwn ? asText(hansard.target) : target;
    this.#add(
      id,
      'agent:tool_result',
      {
        toolCallId,
        tool,
        ...(resultTarget === undefined ? {} : { target: resultTarget }),
        metadata: this.#log.isOwn ? (own ?? {}) : metadata,
        status: isError ? 'error' : 'completed',
        ...(typeof hansard.durationMs === 'number' ? { durationMs: hansard.durationMs } : {}),
        ...(error === undefined ? {} : { error }),
        ...(isNothing(content)
          ? {}
          : { output: hansard.isJson === true ? parsed(content) : this.#output(content) }),
        ...more,
      } as JsonObject,
      { cause: event },
    );
  }

  #output(content: JsonValue | undefined): JsonValue {
    if (!Array.isArray(content)) return content ?? null;
    return content.map((part) => (this.#media(part) as JsonObject | null) ?? part);
  }

  /** Null if there is nothing, or nothing that is known. */
  #observedParts(content: JsonValue | undefined): EventData<'agent:output'>['parts'] | null {
    if (typeof content === 'string') return [{ kind: 'text', text: content }];
    if (!Array.isArray(content)) return null;
    return content.map((part) => {
      const text = textOfPart(part);
      if (text !== undefined) return { kind: 'text', text };
      return this.#media(part) ?? { kind: 'json', json: part };
    });
  }

  /** A step that was taken over from an earlier trajectory: the agent did not do it here. */
  #copied(): void {
    this.#hold('is_copied_context');
    const { source, message } = this.#step;
    const { hansard, rest } = ownOf(this.#step.extra);
    if (hansard !== none) this.#details = withoutNothing({ ...this.#details, extra: rest });
    const { text, parts, layout } = this.#content(message);
    if (layout !== null) this.#details.message = layout;
    const isAnswer = source === 'agent';
    const thought = isAnswer ? asText(this.#step.reasoning_content) : undefined;
    const toolCalls = isAnswer ? this.#copiedCalls() : [];
    if (thought !== undefined) this.#hold('reasoning_content');
    const isStated = hansard.source !== undefined || (source === 'user' && !this.#log.isOwn);
    const from = isStated ? this.#sourceOf(false, hansard) : null;
    this.#event(this.#id, 'agent:given', {
      role: isAnswer ? 'assistant' : (source as 'user' | 'system'),
      ...(isAnswer && text === '' ? {} : { text }),
      ...(thought === undefined ? {} : { thinking: { text: thought } }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
      ...(from === null || from.kind === 'user' ? {} : { source: from }),
      ...(parts.length === 0 ? {} : { parts }),
    });
    const before = this.#made.length;
    this.#observed();
    for (let at = before; at < this.#made.length; at += 1)
      this.#made[at] = asGiven(this.#made[at] as NewEvent);
  }

  #copiedCalls(): NonNullable<EventData<'agent:given'>['toolCalls']> {
    const others: JsonValue[] = [];
    const calls = listOf(this.#step.tool_calls).flatMap((call, at) => {
      const data = this.#callOf(call, `${this.#id}:call-${at + 1}`);
      const given = asText(asObject(call)?.tool_call_id);
      if (data === null) return [];
      const { toolCallId, tool, input } = data;
      this.#calls.push({ given, event: this.#id, data });
      const { tool_call_id: _, function_name: __, arguments: ___, ...more } = asObject(call) ?? {};
      others.push(
        withoutNothing({ ...more, ...(toolCallId === given ? {} : { tool_call_id: given ?? '' }) }),
      );
      return [{ toolCallId, tool, ...(input === undefined ? {} : { input }) }];
    });
    const isWhole = Array.isArray(this.#step.tool_calls) && calls.length === this.#step.tool_calls.length;
    if (!isWhole) return calls;
    this.#hold('tool_calls');
    if (others.some((one) => !isNothing(one))) this.#details.calls = others;
    return calls;
  }

  /** An image or a sound, with its bytes if they are beside the document. Null for every other part. */
  #media(part: JsonValue): MediaPart | null {
    const { type, source, text, ...others } = asObject(part) ?? {};
    if ((type !== 'image' && type !== 'audio') || !isNothing(text)) return null;
    const { media_type: mediaType, path, ...more } = asObject(source) ?? {};
    if (typeof path !== 'string' || path === '' || typeof mediaType !== 'string' || path.startsWith('data:'))
      return null;
    const bytes = path.includes('://') ? null : this.#log.media(path);
    const details = withoutNothing({ ...others, ...more });
    if (bytes !== null && this.#isFirst(`file ${path}`)) {
      this.#log.files += 1;
      this.#log.fileBytes += bytes.length;
    }
    return {
      kind: type,
      mediaType,
      url: path,
      ...(bytes === null ? {} : { base64: Buffer.from(bytes).toString('base64') }),
      ...(isNothing(details) ? {} : { details }),
    };
  }
}

/** A result, or an observation, of a step that was taken over. */
function asGiven(event: NewEvent): NewEvent {
  const { type, data, cause: _, ...others } = event;
  const { details } = data;
  const more = details === undefined ? {} : { details };
  if (type === 'agent:tool_result') {
    const { toolCallId, tool, output, status } = data;
    const error = status === 'error' ? { isError: true } : {};
    return {
      ...others,
      type: 'agent:given',
      data: withoutUndefined({ role: 'tool', toolCallId, tool, output, ...error, ...more }),
    };
  }
  if (type !== 'agent:output') return event;
  const parts = data.parts as EventData<'agent:output'>['parts'];
  const texts = parts.flatMap((part) => (part.kind === 'text' ? part.text : []));
  const files = parts.flatMap((part) => (part.kind === 'image' || part.kind === 'audio' ? part : []));
  if (texts.length + files.length < parts.length) return event;
  return newEvent(
    'agent:given',
    {
      role: 'user',
      text: texts.join('\n'),
      source: { kind: 'system' },
      ...(files.length === 0 ? {} : { parts: files }),
      ...({
        details: {
          ...(details as JsonObject | undefined),
          observed: parts.map((part) => (part.kind === 'text' ? part.text.length : 'file')),
        },
      } as object),
    },
    others as EventLinks,
  );
}

function withoutUndefined(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}

const none: AtifHansard = {};

/** What an export of Hansard added to an `extra`, and the rest of it. */
function ownOf(extra: JsonValue | undefined): { readonly hansard: AtifHansard; readonly rest: JsonValue } {
  const { hansard, ...rest } = asObject(extra) ?? {};
  const own = asObject(hansard);
  return own === undefined ? { hansard: none, rest: extra ?? null } : { hansard: own, rest };
}

/** The input of a call. ATIF has objects only. */
function inputOf(input: JsonValue | undefined, { input: kind }: AtifHansard): JsonValue | undefined {
  if (kind === 'not recorded') return undefined;
  return kind === 'value' ? (asObject(input)?.value ?? null) : input;
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** The text of a part without other content. */
function textOfPart(part: JsonValue): string | undefined {
  const { type, text, ...others } = asObject(part) ?? {};
  return type === 'text' && typeof text === 'string' && isNothing(withoutNothing(others)) ? text : undefined;
}

function parsed(value: JsonValue | undefined): JsonValue {
  try {
    return typeof value === 'string' ? (JSON.parse(value) as JsonValue) : (value ?? null);
  } catch {
    return value ?? null;
  }
}

/** Whether the native result that a producer kept is an error. */
function statesError(extra: JsonValue): boolean {
  const { tool_result_metadata: kept, is_error: isError } = asObject(extra) ?? {};
  const { is_error: isOwn, raw_tool_result: raw } = asObject(kept) ?? {};
  return isError === true || isOwn === true || asObject(raw)?.is_error === true;
}

const targets = ['command', 'cmd', 'keystrokes', 'file_path', 'path', 'pattern', 'query', 'url', 'code'];
const longestTarget = 1_000;

function targetOf(input: JsonValue | undefined): string | undefined {
  if (!isPlainObject(input)) return undefined;
  const [text] = targets.flatMap((name) => asText((input as JsonObject)[name]) ?? []);
  const line = /\S[^\n]*/.exec(text ?? '')?.[0].trimEnd();
  return line?.slice(0, longestTarget);
}
