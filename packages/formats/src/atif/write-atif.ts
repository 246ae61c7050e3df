import {
  type CapturedEvent,
  type ContentPart,
  type DispatchEnvelope,
  type EventOf,
  isPlainObject,
  type JsonObject,
  type JsonValue,
  type MediaPart,
  type OutputPart,
  type Usage,
} from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import { isEntryEvent, rootOf, TranscriptTree } from '@hansard/prompt';
import { asObject, asText, isNothing, withoutNothing } from './atif-fields.ts';

/** A trajectory of ATIF, as its parts are written. */
export interface WrittenAtif {
  readonly document: JsonObject;
  /** Of all agents. */
  readonly steps: number;
  /** The files that parts name, in Base64, by their paths below the folder of the document. */
  readonly files: ReadonlyMap<string, string>;
  /** What ATIF cannot say, by kind: types of events, or fields of them. */
  readonly leftOut: Readonly<Record<string, number>>;
}

type AtifEnvelope = Pick<DispatchEnvelope, 'dispatchId' | 'model' | 'source' | 'botId'>;

/**
 * The events of one dispatch as a trajectory: the agent of the dispatch, and the others embedded. It has the current branch of each agent.
 * Where ATIF has no field, `extra.hansard` has what an import needs for equal views.
 */
export function writeAtif(events: readonly CapturedEvent[], envelope: AtifEnvelope): WrittenAtif {
  return new AtifWriting(events, envelope).finish();
}

interface Draft {
  readonly source: 'system' | 'user' | 'agent';
  readonly isCopied: boolean;
  readonly timestamp: string | null;
  readonly thoughts: string[];
  readonly blocks: JsonObject[];
  isParts: boolean;
  text: string | null;
  calls: JsonObject[];
  results: JsonObject[];
  metrics: JsonObject | null;
  fields: JsonObject;
  hansard: JsonObject;
  /** The last kind of block, to see whether their order can be said. */
  stage: number;
}

/** One agent while its steps are collected. */
interface Trajectory {
  readonly agentId: string;
  readonly drafts: Draft[];
  readonly answers: Map<string, Draft>;
  readonly calls: Map<string, { readonly draft: Draft; readonly id: string }>;
  readonly children: Trajectory[];
  created: JsonObject | null;
  root: JsonObject | null;
  end: JsonObject;
  name: string | null;
  model: string | null;
  tools: JsonValue[] | null;
}

const imageTypes: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'jpg'],
  ['image/png', 'png'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
]);
const audioTypes: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp4', 'm4a'],
  ['audio/aac', 'aac'],
  ['audio/ogg', 'ogg'],
  ['audio/flac', 'flac'],
  ['audio/webm', 'webm'],
  ['audio/aiff', 'aiff'],
]);
const stepFields = [
  'step_id',
  'timestamp',
  'model_name',
  'reasoning_effort',
  'reasoning_content',
  'tool_calls',
  'observation',
  'metrics',
  'is_copied_context',
  'llm_call_count',
  'extra',
];
const usualVersion = 'ATIF-v1.7';

class AtifWriting {
  readonly #events: readonly CapturedEvent[];
  readonly #envelope: AtifEnvelope;
  readonly #tree = new TranscriptTree<CapturedEvent>();
  readonly #rootId: string;
  /** Whether the log was imported from a trajectory that Hansard did not write. */
  readonly #isForeign: boolean;
  readonly #trajectories = new Map<string, Trajectory>();
  readonly #contents = new Map<string, string>();
  readonly #requests = new Map<string, EventOf<'request:stored'>['data']>();
  readonly #files = new Map<string, string>();
  readonly #leftOut: Record<string, number> = {};
  readonly #causes = new Map<string, { readonly agentId: string; readonly toolCallId: string }>();
  #hasAudio = false;

  constructor(events: readonly CapturedEvent[], envelope: AtifEnvelope) {
    this.#events = events;
    this.#envelope = envelope;
    this.#rootId = rootOf(events);
    const roots = events.filter(({ type }) => /^system:trajectory(?:_state)?$/.test(type));
    const isOwn = roots.some(({ data }) => asObject(asObject(data.extra)?.hansard) !== undefined);
    this.#isForeign = roots.length > 0 && !isOwn;
    for (const event of events) this.#tree.add(event, event);
  }

  finish(): WrittenAtif {
    const root = this.#of(this.#rootId);
    for (const event of this.#events) this.#take(event);
    const document = this.#document(root, true);
    const steps = [...this.#trajectories.values()].reduce((sum, { drafts }) => sum + drafts.length, 0);
    return { document, steps, files: this.#files, leftOut: this.#leftOut };
  }

  #omit(kind: string, count = 1): void {
    this.#leftOut[kind] = (this.#leftOut[kind] ?? 0) + count;
  }

  #of(agentId: string): Trajectory {
    const known = this.#trajectories.get(agentId);
    if (known !== undefined) return known;
    const made: Trajectory = {
      agentId,
      drafts: [],
      answers: new Map(),
      calls: new Map(),
      children: [],
      created: null,
      root: null,
      end: {},
      name: null,
      model: null,
      tools: null,
    };
    this.#trajectories.set(agentId, made);
    if (agentId !== this.#rootId) this.#of(this.#rootId).children.push(made);
    return made;
  }

  #take(event: CapturedEvent): void {
    const { id, agentId = this.#rootId === '' ? '' : '', type } = event;
    const isEntry = isEntryEvent(event);
    if (
      this.#tree.isRetracted(id) ||
      ((isEntry || type === 'agent:inference') && !this.#tree.isCurrent(id))
    ) {
      this.#omit(`${type} (${this.#tree.isRetracted(id) ? 'taken back' : 'on another branch'})`);
      return;
    }
    const trajectory = this.#of(agentId);
    if (!this.#structure(event, trajectory) && !this.#entry(event, trajectory)) this.#omit(type);
  }

  /** Events that say something about trajectories. False: it is another one. */
  #structure(event: CapturedEvent, trajectory: Trajectory): boolean {
    if (isReadableAs(event, 'content:stored')) {
      if (event.data.base64 !== undefined) this.#contents.set(event.id, event.data.base64);
      return true;
    }
    if (isReadableAs(event, 'request:stored')) {
      this.#requests.set(event.id, event.data);
      const { tools } = event.data;
      if (tools === undefined) return true;
      if (trajectory.tools !== null) return false;
      trajectory.tools = tools.map(definitionOf);
      return true;
    }
    if (isReadableAs(event, 'agent:created')) this.#created(event, trajectory);
    else if (isReadableAs(event, 'session:init')) trajectory.model ??= event.data.model;
    else if (event.type === 'system:trajectory') trajectory.root = event.data;
    else if (event.type === 'system:trajectory_state') trajectory.end = event.data;
    else if (event.type === 'system:observation' && this.#isForeign && event.data.result === undefined)
      this.#observe(event, trajectory, event.data);
    else return false;
    return true;
  }

  #created({ data, cause }: EventOf<'agent:created'>, trajectory: Trajectory): void {
    const { inherits: _, ...created } = data;
    trajectory.created = created as JsonObject;
    trajectory.name = data.name ?? null;
    trajectory.model ??= data.languageModel ?? null;
    if (data.inherits !== undefined) this.#omit('agent:created.inherits');
    const creator = typeof cause === 'string' ? this.#causes.get(cause) : undefined;
    if (creator === undefined || trajectory.agentId === this.#rootId) return;
    const above = this.#of(creator.agentId);
    const { children } = this.#of(this.#rootId);
    if (above.agentId !== this.#rootId && above !== trajectory) {
      children.splice(children.indexOf(trajectory), 1);
      above.children.push(trajectory);
    }
    const call = above.calls.get(creator.toolCallId);
    if (call === undefined) return;
    const references = (call.draft.hansard.references as JsonObject[] | undefined) ?? [];
    call.draft.hansard.references = [...references, { call: call.id, trajectory_id: trajectory.agentId }];
  }

  #draft(trajectory: Trajectory, event: CapturedEvent, source: Draft['source'], isCopied = false): Draft {
    const draft: Draft = {
      source,
      isCopied,
      timestamp: event.timestamp,
      thoughts: [],
      blocks: [],
      isParts: false,
      text: null,
      calls: [],
      results: [],
      metrics: null,
      fields: {},
      hansard: {},
      stage: 0,
    };
    trajectory.drafts.push(draft);
    return draft;
  }

  #answer(trajectory: Trajectory, event: CapturedEvent, stage: number): Draft {
    const key = event.messageId ?? event.id;
    const draft = trajectory.answers.get(key) ?? this.#draft(trajectory, event, 'agent');
    trajectory.answers.set(key, draft);
    if (stage < draft.stage) this.#omit('order of blocks in a message');
    draft.stage = Math.max(stage, draft.stage);
    return draft;
  }

  /** The fields of an imported step that no event holds in another form. Those of other products are left out. */
  #restore(draft: Draft, event: CapturedEvent): JsonObject {
    const details = detailsOf(event);
    if (!this.#isForeign) {
      if (!isNothing(details)) this.#omit('details');
      return {};
    }
    const step = asObject(details.step) ?? {};
    for (const [name, value] of Object.entries(step))
      if (stepFields.includes(name)) draft.fields[name] = value ?? null;
    return { ...details, ...step, extra: details.extra ?? null };
  }

  #links({ substance, via, cause, type }: CapturedEvent): void {
    const hasCause = cause !== undefined && type !== 'agent:tool_result';
    if (substance !== undefined || via !== undefined || hasCause) this.#omit('links between events');
  }

  /** Events that steps are made of. False: it is another one. */
  #entry(event: CapturedEvent, trajectory: Trajectory): boolean {
    if (isReadableAs(event, 'agent:thinking')) this.#thought(event, trajectory);
    else if (isReadableAs(event, 'agent:text')) {
      const draft = this.#answer(trajectory, event, 2);
      const { isParts } = this.#restore(draft, event);
      draft.isParts ||= isParts === true;
      draft.blocks.push({ type: 'text', text: event.data.text });
    } else if (isReadableAs(event, 'agent:tool_call')) this.#call(event, trajectory);
    else if (isReadableAs(event, 'agent:tool_result')) return this.#result(event, trajectory);
    else if (isReadableAs(event, 'agent:inference')) return this.#inference(event, trajectory);
    else if (isReadableAs(event, 'agent:output')) this.#output(event, trajectory);
    else if (isReadableAs(event, 'user:message')) this.#message(event, trajectory);
    else if (isReadableAs(event, 'agent:given')) return this.#given(event, trajectory);
    else if (isReadableAs(event, 'session:compaction')) this.#compaction(event, trajectory);
    else if (isReadableAs(event, 'agent:system_prompt')) {
      const isFirst = trajectory.drafts.length === 0;
      const draft = this.#draft(trajectory, event, 'system');
      const { message } = this.#restore(draft, event);
      if (!isFirst) draft.hansard.source = 'system_prompt';
      if (event.data.outcomesOf !== undefined) this.#omit('agent:system_prompt.outcomesOf');
      this.#compose(draft, event.data.text, [], message);
    } else return false;
    this.#links(event);
    return true;
  }

  #thought(event: EventOf<'agent:thinking'>, trajectory: Trajectory): void {
    const draft = this.#answer(trajectory, event, 1);
    this.#restore(draft, event);
    draft.thoughts.push(event.data.text);
    if (draft.thoughts.length === 2) this.#omit('bounds of thoughts');
    if (event.data.signature !== undefined) this.#omit('agent:thinking.signature');
  }

  #call(event: EventOf<'agent:tool_call'>, trajectory: Trajectory): void {
    const { toolCallId, tool, target, metadata, input } = event.data;
    const draft = this.#answer(trajectory, event, 3);
    const details = this.#restore(draft, event);
    const id = asText(details.tool_call_id) ?? toolCallId;
    const own = details.tool_call_id === '' ? '' : id;
    const isObject = isPlainObject(input);
    const hansard = {
      ...(target === undefined ? {} : { target }),
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
      ...(isObject ? {} : { input: input === undefined ? 'not recorded' : 'value' }),
    };
    const args = isObject ? (input as JsonObject) : input === undefined ? {} : { value: input };
    const { extra } = details;
    const isRestored = this.#isForeign;
    const call = {
      tool_call_id: own,
      function_name: tool,
      arguments: args,
      ...extraOf(extra, isRestored ? {} : hansard),
    };
    this.#causes.set(event.id, { agentId: trajectory.agentId, toolCallId });
    trajectory.calls.set(toolCallId, { draft, id: own });
    draft.calls.push(call);
  }

  #result(event: EventOf<'agent:tool_result'>, trajectory: Trajectory): boolean {
    const call = trajectory.calls.get(event.data.toolCallId);
    if (call === undefined) return false;
    const { output, status, error, durationMs, target, metadata, changes } = event.data;
    if (changes !== undefined) this.#omit('agent:tool_result.changes');
    const details = this.#isForeign ? detailsOf(event) : {};
    const { content, isJson } =
      output === undefined ? { content: undefined, isJson: false } : this.#content(output);
    const hansard = !this.#isForeign
      ? {
          ...(status === 'error' ? { status } : {}),
          ...(error === undefined ? {} : { error }),
          ...(durationMs === undefined ? {} : { durationMs }),
          ...(target === undefined ? {} : { target }),
          ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
          ...(isJson ? { isJson } : {}),
        }
      : {};
    const { extra, subagent_trajectory_ref: references } = details;
    call.draft.results.push({
      source_call_id: call.id,
      ...(content === undefined ? {} : { content }),
      ...(isNothing(references) ? {} : { subagent_trajectory_ref: references }),
      ...extraOf(extra, hansard),
    });
    this.#links(event);
    return true;
  }

  /** An output as content: a text, or parts, or else its JSON. */
  #content(output: JsonValue): { content: JsonValue; isJson: boolean } {
    if (typeof output === 'string') return { content: output, isJson: false };
    const parts = Array.isArray(output) ? output.map((part) => this.#partOf(part)) : [null];
    if (parts.every((part) => part !== null)) return { content: parts, isJson: false };
    return { content: JSON.stringify(output), isJson: true };
  }

  #partOf(part: JsonValue): JsonObject | null {
    const { type, text, kind, ...others } = asObject(part) ?? {};
    if (type === 'text' && typeof text === 'string' && kind === undefined && isNothing(others))
      return { type, text };
    return kind === 'image' || kind === 'audio' ? this.#media(part as MediaPart) : null;
  }

  /** A part that names its file. Null if ATIF has no such part. */
  #media({ kind, mediaType = '', sha256, url, details }: MediaPart): JsonObject | null {
    const types = kind === 'image' ? imageTypes : kind === 'audio' ? audioTypes : new Map<string, string>();
    const ending = types.get(mediaType);
    const isStated = url !== undefined && details !== undefined;
    const bytes = sha256 === undefined ? undefined : this.#contents.get(sha256);
    if (ending === undefined && !isStated && url === undefined) return null;
    if (ending === undefined && kind !== 'image' && kind !== 'audio') return null;
    const isSafe = url !== undefined && /^(?!\.\.?\/)[\w.-]+(?:\/(?!\.\.?\/)[\w.-]+)*$/.test(url);
    const path =
      bytes === undefined || isSafe
        ? url
        : `${kind === 'image' ? 'images' : 'audio'}/${sha256}.${ending ?? 'bin'}`;
    if (path === undefined) return null;
    if (bytes !== undefined && bytes !== '') this.#files.set(path, bytes);
    if (kind === 'audio') this.#hasAudio = true;
    return { type: kind, source: { media_type: mediaType, path, ...details } };
  }

  #inference(event: EventOf<'agent:inference'>, trajectory: Trajectory): boolean {
    if (/:rewritten-\d+$/.test(event.id)) return false;
    const { model, usage, costUsd, stopReason, durationMs, request, context, replay } = event.data;
    const draft = this.#answer(trajectory, event, 4);
    if (draft.metrics !== null) return false;
    const isRestored = this.#isForeign;
    const details = isRestored ? detailsOf(event) : {};
    draft.metrics = metricsOf(usage, costUsd, details, isRestored);
    const isOfAgent = details.model_name === 'that of the agent';
    if (!isOfAgent && model !== 'unknown') draft.fields.model_name = model;
    const parameters = this.#requests.get(request?.parameters ?? '')?.parameters;
    const { reasoning_effort: effort, ...others } = parameters ?? {};
    if (typeof effort === 'string' || typeof effort === 'number') draft.fields.reasoning_effort = effort;
    if (Object.keys(others).length > 0) this.#omit('request:stored.parameters');
    const count = isRestored ? details.llm_call_count : 1;
    if (!isNothing(count)) draft.fields.llm_call_count = count;
    if (context !== undefined) this.#omit('agent:inference.context');
    if (replay !== undefined) this.#omit('agent:inference.replay');
    if (isRestored) return true;
    if (stopReason !== undefined) draft.fields.extra = { stop_reason: stopReason };
    if (durationMs !== undefined) draft.hansard.durationMs = durationMs;
    return true;
  }

  /** What an agent observed belongs to its last step. */
  #output(event: EventOf<'agent:output'>, trajectory: Trajectory): void {
    const { parts } = event.data;
    if (event.messageId !== undefined) {
      const draft = this.#answer(trajectory, event, parts.length === 0 ? 0 : 2);
      const { isParts } = this.#restore(draft, event);
      draft.isParts ||= isParts === true;
      for (const part of parts) this.#addBlock(draft, part);
      return;
    }
    const details = detailsOf(event);
    const { extra, isParts, ...others } = this.#isForeign ? details : {};
    const content = parts.map((part) => this.#observed(part)).filter((part) => part !== null);
    const [only] = content;
    const isText = content.length === 1 && only?.type === 'text' && isParts !== true;
    const result = { content: isText ? (only.text ?? '') : content, ...others, ...extraOf(extra, {}) };
    this.#observe(event, trajectory, result);
  }

  #observe(event: CapturedEvent, trajectory: Trajectory, result: JsonObject): void {
    const last = trajectory.drafts.at(-1);
    const isOwn = last !== undefined && last.source !== 'user';
    const draft = isOwn ? last : this.#draft(trajectory, event, 'system');
    if (!isOwn) draft.hansard.isObservation = true;
    draft.results.push(result);
  }

  #addBlock(draft: Draft, part: OutputPart): void {
    const block = this.#observed(part);
    if (block === null) return;
    draft.isParts = true;
    draft.blocks.push(block);
  }

  #observed(part: OutputPart): JsonObject | null {
    if (part.kind === 'text') return { type: 'text', text: part.text };
    if (part.kind === 'image' || part.kind === 'audio' || part.kind === 'document')
      return this.#media(part) ?? this.#omitPart(part.kind);
    this.#omit(`agent:output.${part.kind}`);
    if (part.kind === 'json') return { type: 'text', text: JSON.stringify(part.json) };
    return {
      type: 'text',
      text: part.kind === 'value' ? part.encoded : part.kind === 'repr' ? part.repr : '',
    };
  }

  #omitPart(kind: string): null {
    this.#omit(`${kind} parts`);
    return null;
  }

  #message(event: EventOf<'user:message'>, trajectory: Trajectory): void {
    const { text, source, parts = [], command, wrapped } = event.data;
    const isFirst = trajectory.drafts.length === 0;
    const isSystem = source.kind === 'system';
    const draft = this.#draft(trajectory, event, isSystem ? 'system' : 'user');
    const { message } = this.#restore(draft, event);
    const usual = isSystem ? 'system' : trajectory.agentId === this.#rootId ? 'user' : 'external';
    const isUsual = source.kind === usual && Object.keys(source).length === 1;
    if (!isUsual || (isSystem && isFirst)) draft.hansard.source = source as JsonObject;
    if (command === true) draft.hansard.command = true;
    if (wrapped !== undefined) draft.hansard.wrapped = wrapped;
    this.#compose(draft, text, parts, message);
  }

  /** The message of a step: the parts in the order that an import kept, or the text and what is attached to it. */
  #compose(draft: Draft, text: string, parts: readonly ContentPart[], layout: JsonValue | undefined): void {
    if (Array.isArray(layout)) {
      const files = [...parts];
      let at = 0;
      for (const one of layout) {
        const file = one === 'file' ? files.shift() : undefined;
        if (typeof one === 'number') {
          draft.blocks.push({ type: 'text', text: text.slice(at, at + one) });
          at += one + 1;
        } else if (file !== undefined && file.kind !== 'text') {
          const block = this.#media(file);
          if (block !== null) draft.blocks.push(block);
        }
      }
      draft.isParts = true;
      return;
    }
    if (parts.length === 0) {
      draft.text = text;
      return;
    }
    draft.isParts = true;
    if (text !== '') draft.blocks.push({ type: 'text', text });
    const attached: Record<string, JsonValue> = {};
    for (const part of parts) {
      const block =
        part.kind === 'text'
          ? { type: 'text', text: part.text }
          : (this.#media(part) ?? this.#omitPart(part.kind));
      if (block === null) continue;
      const { kind: _, url, base64: __, details: ___, ...facts } = part as MediaPart & { text?: string };
      const { text: ____, sha256: _____, size: ______, mediaType, ...named } = facts;
      const own = {
        ...named,
        ...(part.kind === 'text' && mediaType !== undefined ? { mediaType } : {}),
        ...(url === undefined ? {} : { url }),
      };
      if (part.kind === 'text' || !isNothing(own)) attached[String(draft.blocks.length)] = own;
      draft.blocks.push(block);
    }
    if (!isNothing(attached)) draft.hansard.attached = attached;
  }

  /** A step that was taken over from an earlier trajectory. */
  #given(event: EventOf<'agent:given'>, trajectory: Trajectory): boolean {
    const {
      role,
      text = '',
      thinking,
      toolCalls = [],
      toolCallId = '',
      output,
      isError,
      source,
      parts = [],
    } = event.data;
    const details = detailsOf(event);
    const isRestored = this.#isForeign;
    const last = trajectory.drafts.at(-1);
    if (role === 'tool' || (isRestored && Array.isArray(details.observed) && last !== undefined)) {
      const call = trajectory.calls.get(toolCallId);
      const draft = call?.draft ?? (role === 'tool' ? undefined : last);
      if (draft === undefined) return false;
      const { extra, observed, ...others } = isRestored ? details : {};
      const content =
        role === 'tool'
          ? output === undefined
            ? undefined
            : this.#content(output).content
          : this.#contentOf(text, parts, observed);
      const isJson = role === 'tool' && output !== undefined && this.#content(output).isJson;
      draft.results.push({
        ...(call === undefined ? {} : { source_call_id: call.id }),
        ...(content === undefined ? {} : { content }),
        ...others,
        ...extraOf(extra, {
          ...(isError === true && !isRestored ? { status: 'error' } : {}),
          ...(isJson ? { isJson } : {}),
        }),
      });
      return true;
    }
    const draft = this.#draft(trajectory, event, role === 'assistant' ? 'agent' : role, true);
    const { message, calls } = this.#restore(draft, event);
    if (source !== undefined) draft.hansard.source = source as JsonObject;
    if (thinking !== undefined) draft.thoughts.push(thinking.text);
    if (thinking?.signature !== undefined) this.#omit('agent:thinking.signature');
    for (const [at, { toolCallId: id, tool, input }] of toolCalls.entries()) {
      const more = asObject(Array.isArray(calls) ? calls[at] : undefined) ?? {};
      const own = typeof more.tool_call_id === 'string' ? more.tool_call_id : id;
      const isObject = isPlainObject(input);
      const hansard = isObject ? {} : { input: input === undefined ? 'not recorded' : 'value' };
      draft.calls.push({
        tool_call_id: own,
        function_name: tool,
        arguments: isObject ? (input as JsonObject) : input === undefined ? {} : { value: input },
        ...extraOf(more.extra, hansard),
      });
      trajectory.calls.set(id, { draft, id: own });
    }
    this.#compose(draft, text, parts, message);
    return true;
  }

  #contentOf(text: string, parts: readonly ContentPart[], layout: JsonValue | undefined): JsonValue {
    if (!Array.isArray(layout) || layout.length === 1) return text;
    const draft = { blocks: [] as JsonObject[] } as Draft;
    this.#compose(draft, text, parts, layout);
    return draft.blocks;
  }

  #compaction(event: EventOf<'session:compaction'>, trajectory: Trajectory): void {
    const { trigger, summary, preTokens, postTokens, keptFrom } = event.data;
    const draft = this.#draft(trajectory, event, 'system');
    const { message } = this.#restore(draft, event);
    draft.text = typeof message === 'string' ? message : '';
    if (summary !== undefined) draft.results.push({ content: summary });
    if (keptFrom !== undefined) this.#omit('session:compaction.keptFrom');
    if (this.#isForeign) return;
    draft.fields.extra = { context_management: { type: 'compaction', boundary: 'replace' } };
    Object.assign(draft.hansard, withoutNothing({ trigger, preTokens, postTokens }));
  }

  #document(trajectory: Trajectory, isRoot: boolean): JsonObject {
    const { agentId, root, end, children, drafts } = trajectory;
    const steps = drafts.map((draft, at) => this.#step(draft, at + 1));
    const embedded = children.flatMap((child): JsonObject[] => {
      if (child.drafts.length > 0) return [this.#document(child, false)];
      this.#omit('agents without a step');
      return [];
    });
    const { extra: ofRoot, ...members } = root ?? {};
    const agent = asObject(members.agent) ?? this.#agent(trajectory);
    const tools = trajectory.tools;
    const ids =
      root !== null
        ? {}
        : isRoot
          ? { session_id: this.#envelope.dispatchId, trajectory_id: this.#envelope.dispatchId }
          : { trajectory_id: agentId };
    const label = asText(members.schema_version) ?? (this.#hasAudio ? 'ATIF-v1.8' : usualVersion);
    const { created } = trajectory;
    const hansard = {
      ...(isRoot && agentId !== '' ? { agentId } : {}),
      ...(created === null ? {} : { created }),
    };
    const extra = {
      ...asObject(ofRoot),
      ...asObject(end.extra),
      ...(this.#isForeign || (!isRoot && created === null) ? {} : { hansard }),
    };
    return {
      ...members,
      schema_version: label,
      ...ids,
      agent: { ...agent, ...(tools === null ? {} : { tool_definitions: tools }) },
      ...(isNothing(extra) ? {} : { extra }),
      steps: steps.length > 0 ? steps : [{ step_id: 1, source: 'system', message: '' }],
      ...(root !== null ? {} : { final_metrics: finalMetrics(drafts) }),
      ...Object.fromEntries(Object.entries(end).filter(([name]) => name !== 'extra')),
      ...(embedded.length === 0 ? {} : { subagent_trajectories: embedded }),
    };
  }

  #agent({ agentId, name, model }: Trajectory): JsonObject {
    const { source, botId } = this.#envelope;
    const product =
      source === null ? 'hansard' : source.format.startsWith('claude') ? 'claude-code' : source.format;
    const own = name ?? (agentId === this.#rootId ? (botId ?? product) : agentId);
    const named = model ?? (agentId === this.#rootId ? this.#envelope.model : null);
    return { name: own, version: 'unknown', ...(named === null ? {} : { model_name: named }) };
  }

  #step(draft: Draft, stepId: number): JsonObject {
    const { source, timestamp, thoughts, blocks, isParts, text, calls, results, metrics, isCopied, fields } =
      draft;
    const { references, ...hansard } = draft.hansard;
    const [only] = blocks;
    const isText = blocks.length === 0 || (blocks.length === 1 && only?.type === 'text' && !isParts);
    const { extra, observation, ...others } = fields;
    for (const reference of Array.isArray(references) ? references : [])
      refer(results, asObject(reference) ?? {});
    const observed = isNothing(observation)
      ? results.length === 0
        ? {}
        : { observation: { results } }
      : { observation };
    return {
      step_id: stepId,
      ...(timestamp === null ? {} : { timestamp }),
      source,
      message: text ?? (isText ? (only?.text ?? '') : blocks),
      ...(thoughts.length === 0 ? {} : { reasoning_content: thoughts.join('\n\n') }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...observed,
      ...(metrics === null ? {} : { metrics }),
      ...(isCopied ? { is_copied_context: true } : {}),
      ...others,
      ...extraOf(extra, hansard),
    };
  }
}

/** Names an embedded trajectory at the result of the call that created its agent. */
function refer(results: JsonObject[], { call, trajectory_id: id }: JsonObject): void {
  const at = results.findIndex((result) => result.source_call_id === call);
  const result = results[at];
  const reference = { trajectory_id: id ?? null };
  if (result === undefined)
    results.push({ subagent_trajectory_ref: [reference], extra: { hansard: { call: call ?? null } } });
  else if (result.subagent_trajectory_ref === undefined)
    results[at] = { ...result, subagent_trajectory_ref: [reference] };
  else if (Array.isArray(result.subagent_trajectory_ref)) {
    const known = result.subagent_trajectory_ref;
    if (!known.some((one) => asObject(one)?.trajectory_id === id))
      results[at] = { ...result, subagent_trajectory_ref: [...known, reference] };
  }
}

function detailsOf({ data }: Pick<CapturedEvent, 'data'>): JsonObject {
  return asObject((data as JsonObject).details) ?? {};
}

function extraOf(extra: JsonValue | undefined, hansard: JsonObject): { readonly extra?: JsonObject } {
  const own = asObject(extra);
  if (isNothing(hansard)) return own === undefined ? {} : { extra: own };
  return { extra: { ...own, hansard } };
}

function definitionOf(tool: NonNullable<EventOf<'request:stored'>['data']['tools']>[number]): JsonObject {
  const { name, description, inputSchema, details } = tool;
  const { function: more, ...others } = details ?? {};
  return {
    type: 'function',
    ...others,
    function: withoutUndefined({ name, description, parameters: inputSchema, ...asObject(more) }),
  };
}

function withoutUndefined(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}

function metricsOf(
  usage: Usage,
  costUsd: number | undefined,
  details: JsonObject,
  isRestored: boolean,
): JsonObject {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const { stated, notStated, model_name: _, llm_call_count: __, ...rest } = details;
  const absent = Array.isArray(notStated) ? notStated : [];
  const own = {
    prompt_tokens: inputTokens + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0),
    completion_tokens: outputTokens,
    ...(cacheReadTokens === undefined ? {} : { cached_tokens: cacheReadTokens }),
  };
  const counts = Object.fromEntries(Object.entries(own).filter(([name]) => !absent.includes(name)));
  const extra = isRestored ? {} : extraMetrics(usage);
  return withoutNothing({
    ...counts,
    ...(costUsd === undefined ? {} : { cost_usd: costUsd }),
    ...(isNothing(extra) ? {} : { extra }),
    ...rest,
    ...asObject(stated),
  });
}

/** The figures of a usage that ATIF has no field for, as producers name them. */
function extraMetrics(usage: Usage): JsonObject {
  const { cacheWrite5mTokens: short, cacheWrite1hTokens: long, turns, durationMs } = usage;
  const { webSearchRequests: searches, webFetchRequests: fetches } = usage;
  return withoutUndefined({
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_creation:
      short === undefined && long === undefined
        ? undefined
        : withoutUndefined({ ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long }),
    reasoning_output_tokens: usage.reasoningTokens,
    server_tool_use:
      searches === undefined && fetches === undefined
        ? undefined
        : withoutUndefined({ web_search_requests: searches, web_fetch_requests: fetches }),
    speed: usage.speed,
    service_tier: usage.serviceTier,
    inference_geo: usage.inferenceGeo,
    hansard:
      turns === undefined && durationMs === undefined ? undefined : withoutUndefined({ turns, durationMs }),
  });
}

function finalMetrics(drafts: readonly Draft[]): JsonObject {
  const counted = drafts.flatMap(({ metrics, isCopied }): JsonObject[] =>
    metrics === null || isCopied ? [] : [metrics],
  );
  const sum = (name: string) =>
    counted.reduce((total, { [name]: value }) => total + (typeof value === 'number' ? value : 0), 0);
  const has = (name: string) => counted.some((metrics) => metrics[name] !== undefined);
  return {
    total_prompt_tokens: sum('prompt_tokens'),
    total_completion_tokens: sum('completion_tokens'),
    ...(has('cached_tokens') ? { total_cached_tokens: sum('cached_tokens') } : {}),
    ...(has('cost_usd') ? { total_cost_usd: sum('cost_usd') } : {}),
    total_steps: drafts.length,
  };
}
