import { hash } from 'node:crypto';
import {
  asList,
  asName,
  asObject,
  asText,
  recordedTime,
  timestampOf,
  unknownEventType,
  withDetails,
  withoutNull,
  withoutUndefined,
} from '@hansard/claude';
import {
  type DispatchStatus,
  type EventData,
  type EventLinks,
  type EventType,
  isPlainObject,
  type JsonObject,
  type JsonValue,
  type KnownEventType,
  type NewEvent,
  separateContent,
} from '@hansard/events';
import { dispatchOfThread, forkOf, type ThreadFacts, threadFactsOf } from './thread-facts.ts';
import { heldOfCall, isEmpty, readContent, ToolCalls } from './tool-calls.ts';
import { isTwin, kindOf, type Twin, twinOf } from './twins.ts';
import { type CountedUsage, digestOf, UsageCounter } from './usage.ts';

/** Where a record stands. */
export interface RecordPlace {
  /** The id of its first event. */
  readonly id: string;
  readonly line: number;
  readonly bytes: number;
}

/** The events of a record. Without an event the record is left out, as the `twin` of another one. */
export interface SettledRecord {
  readonly place: RecordPlace;
  readonly events: readonly NewEvent[];
  /** How many bytes of the record are left out, because they are encrypted. */
  readonly encrypted: number;
}

type Report = (
  code: 'unknown_kind' | 'usage_unreadable' | 'session_changed' | 'wrong_value',
  message: string,
) => void;

/** The events of one record: the first has its id, the others ID.1, ID.2 … */
class RecordEvents {
  readonly id: string;
  readonly list: NewEvent[] = [];
  /** The bytes of attachments. */
  contents: readonly NewEvent[] = [];
  /** How many characters of the record are left out, because they are encrypted. */
  encrypted = 0;
  /** Fields of the record that no event holds in another form. */
  details: JsonObject = {};
  readonly #timestamp: string | null;

  constructor(id: string, timestamp: string | null) {
    this.id = id;
    this.#timestamp = timestamp;
  }

  add<T extends KnownEventType>(type: T, data: EventData<T>, links: EventLinks = {}): string {
    return this.other(type, data as JsonObject, links);
  }

  other(type: EventType, data: JsonObject, links: EventLinks = {}): string {
    const id = this.list.length === 0 ? this.id : `${this.id}.${this.list.length}`;
    this.list.push({ id, type, timestamp: this.#timestamp, ...links, data });
    return id;
  }

  /** The events, the first with the details. */
  finish(): NewEvent[] {
    const [first, ...others] = this.list;
    if (first === undefined) return [];
    return [...this.contents, { ...first, data: withDetails(first.data, this.details) }, ...others];
  }
}

interface HeldRecord {
  readonly record: JsonObject;
  readonly place: RecordPlace;
  readonly twin: Twin | null;
}

/** The blocks that one answer of the model has so far. */
interface Answer {
  readonly id: string;
  isOpen: boolean;
  isCounted: boolean;
}

const mostHeld = 64;

/**
 * Maps the records of one rollout, in their order. Items of the model are the truth, and messages of the engine that
 * repeat them are left out. A record is held if the next one decides its meaning. Such records are a prompt, because
 * only its twin says that a person wrote it, and a twin that stands before its item. So a file that grew gives the
 * same events, and then more.
 */
export class CodexMapping {
  model: string | null = null;
  status: DispatchStatus = 'running';
  /** The ids of the first answers: of the thread, and after each compaction. */
  readonly heads: string[] = [];
  readonly #report: Report;
  #facts: ThreadFacts | null = null;
  #counter = new UsageCounter(false);
  readonly #calls = new ToolCalls();
  #held: HeldRecord[] = [];
  #answer: Answer | null = null;
  #isHead = true;
  #turn: string | null = null;
  /** Names what the model has answered in this turn so far, equal in every thread that has the turn. */
  #chain = '';
  #hasInit = false;
  #hasPrompt = false;
  #instructions: { readonly text: string; readonly event: string } | null = null;
  /** The threads of agents, by their paths. */
  readonly #threads = new Map<string, string>();
  /** Where messages are, by their item, for a compaction that repeats them. */
  readonly #items = new Map<string, string>();

  constructor(report: Report) {
    this.#report = report;
  }

  /** The places of the records that the next one decides. */
  get heldPlaces(): readonly RecordPlace[] {
    return this.#held.map(({ place }) => place);
  }

  /** Takes a record, and returns what is settled by it. */
  take(record: JsonObject, place: RecordPlace): SettledRecord[] {
    const payload = asObject(record.payload) ?? {};
    const twin = twinOf(record);
    const [first] = this.#held;
    const settled: SettledRecord[] = [];
    if (first !== undefined && first.twin === null) {
      const isPerson = twin?.of === 'prompt' && isTwin(twin, asObject(first.record.payload) ?? {});
      settled.push(this.#settle(first, isPerson));
      this.#held = [];
      if (isPerson && twin !== null)
        return [...settled, this.#settleTwin(twin, record, place, first.place.id)];
    } else if (first !== undefined && (twin === null || twin.of !== first.twin?.of || this.#isFull)) {
      const isItem = record.type === 'response_item';
      for (const held of this.#held)
        settled.push(
          isItem && held.twin !== null && isTwin(held.twin, payload)
            ? this.#settleTwin(held.twin, held.record, held.place, place.id)
            : this.#settle(held, false),
        );
      this.#held = [];
    }
    const isHeld = isPrompt(record) || (twin !== null && twin.of !== 'prompt');
    if (isHeld) this.#held.push({ record, place, twin });
    else settled.push(this.#settle({ record, place, twin }, false));
    return settled;
  }

  get #isFull(): boolean {
    return this.#held.length >= mostHeld;
  }

  /** A twin is left out, except what only the twin has. */
  #settleTwin(twin: Twin, record: JsonObject, place: RecordPlace, item: string): SettledRecord {
    if (isEmpty(twin.extras)) return { place, events: [], encrypted: 0 };
    const events = new RecordEvents(place.id, timeOf(record));
    const type = unknownEventType('system', asText(asObject(record.payload)?.type) ?? 'twin');
    events.other(type, twin.extras, { cause: item });
    return { place, events: events.finish(), encrypted: events.encrypted };
  }

  #settle({ record, place }: HeldRecord, isPerson: boolean): SettledRecord {
    const events = new RecordEvents(place.id, timeOf(record));
    const { timestamp, type: _, payload: __, ...others } = record;
    events.details = withoutNull(
      timestamp === timeOf(record) ? others : { ...others, timestamp: timestamp ?? null },
    );
    const payload = asObject(record.payload);
    const kind = kindOf(record);
    if (payload === undefined) this.#capture(record, events);
    else this.#map(kind, payload, events, isPerson);
    if (events.list.length === 0) this.#capture(record, events);
    if (!knownKinds.has(kind))
      this.#report(
        'unknown_kind',
        `A record of the kind ${JSON.stringify(kind)} (${place.bytes} bytes) is not known. It is kept as captured.`,
      );
    return { place, events: events.finish(), encrypted: events.encrypted };
  }

  #map(kind: string, payload: JsonObject, events: RecordEvents, isPerson: boolean): void {
    switch (kind) {
      case 'session_meta':
        this.#mapMeta(payload, events);
        break;
      case 'turn_context':
        this.#mapTurn(payload, events);
        break;
      case 'compacted':
        this.#mapCompaction(payload, events);
        break;
      case 'token_usage_record':
        this.#mapUsage(payload, this.#counter.takeRecord(payload), events);
        break;
      case 'event_msg/token_count':
        this.#mapCount(payload, events);
        break;
      case 'event_msg/task_complete':
      case 'event_msg/turn_complete':
      case 'event_msg/turn_aborted':
        this.#mapEnd(payload, events);
        break;
      case 'event_msg/thread_name_updated':
        events.add('session:status', { ...withoutNull(payload, ['type']), kind: 'thread_name_updated' });
        break;
      case 'event_msg/task_started':
      case 'event_msg/turn_started':
        this.status = 'running';
        this.#beginTurn(payload.turn_id);
        this.#close();
        this.#captureAs(payload, events);
        break;
      default:
        if (kind.startsWith('response_item/'))
          this.#mapItem(kind.slice('response_item/'.length), payload, events, isPerson);
        else if (kind.startsWith('event_msg/')) this.#mapEvent(payload, events);
    }
  }

  #mapMeta(payload: JsonObject, events: RecordEvents): void {
    const facts = threadFactsOf(payload);
    const isFirst = this.#facts === null;
    const { base_instructions: instructions, ...others } = payload;
    const given = asObject(instructions);
    const text = asName(given?.text);
    const isRepeated = text !== undefined && text === this.#instructions?.text;
    const event = isRepeated ? this.#instructions?.event : `${events.id}.1`;
    const named =
      text === undefined ? (instructions ?? null) : withoutUndefined({ ...given, text: undefined, event });
    events.other('system:session_meta', withoutNull({ ...others, base_instructions: named }));
    if (text !== undefined && !isRepeated)
      this.#instructions = { text, event: events.add('agent:system_prompt', { text }) };
    if (!isFirst) {
      const isHead = facts.threadId === this.#facts?.forkedFromId || facts.threadId === this.#facts?.threadId;
      if (!isHead)
        this.#report(
          'session_changed',
          `This begins the thread ${facts.threadId}, which the file does not name as its origin.`,
        );
      return;
    }
    this.#facts = facts;
    this.#counter = new UsageCounter(isPlainObject(payload.history_base));
    const fork = forkOf(payload, facts);
    if (fork !== null) events.add('session:fork', fork);
    if (facts.parentThreadId !== null && facts.agentPath !== null)
      this.#threads.set(facts.agentPath.replace(/\/[^/]+$/, ''), facts.parentThreadId);
  }

  /** A copied head has the turns of its origin, and maybe only the last ones. */
  #beginTurn(turn: JsonValue | undefined): void {
    if (typeof turn !== 'string' || turn === this.#turn) return;
    this.#turn = turn;
    this.#chain = `turn\n${turn}`;
  }

  #mapTurn(payload: JsonObject, events: RecordEvents): void {
    this.#beginTurn(payload.turn_id);
    this.#useModel(payload.model);
    this.#captureAs(payload, events);
    if (this.#hasInit || this.model === null) return;
    this.#hasInit = true;
    const cwd = asName(payload.cwd);
    const sessionId = this.#facts?.threadId ?? 'unknown';
    events.add('session:init', { model: this.model, sessionId, ...(cwd === undefined ? {} : { cwd }) });
  }

  #useModel(value: JsonValue | undefined): void {
    this.model = asName(value) ?? this.model;
  }

  /** `replacement_history` is what the model has from here on. What it repeats of this thread is named. */
  #mapCompaction(payload: JsonObject, events: RecordEvents): void {
    const { message, replacement_history: history, ...others } = payload;
    const items = asList(history)?.map((item) => {
      const known = this.#items.get(digestOf(item));
      return known === undefined ? item : { event: known };
    });
    const kept = items === undefined ? (history ?? null) : items;
    const cause = events.other('system:compacted', withoutNull({ ...others, replacement_history: kept }));
    const summary = asName(message);
    const trigger = asName(others.trigger) ?? 'unknown';
    events.add('session:compaction', { trigger, ...(summary === undefined ? {} : { summary }) }, { cause });
    this.#isHead = true;
    if (message !== undefined && summary === undefined && message !== '')
      events.details = { ...events.details, message };
    this.#close();
  }

  #mapCount(payload: JsonObject, events: RecordEvents): void {
    const info = asObject(payload.info);
    if (info === undefined) this.#captureAs(payload, events);
    else this.#mapUsage(payload, this.#counter.takeCount(info), events);
  }

  #mapUsage(payload: JsonObject, counted: CountedUsage, events: RecordEvents): void {
    if (counted.kind === 'unreadable')
      this.#report('usage_unreadable', 'The usage of a model call cannot be read. The call is not counted.');
    if (counted.kind !== 'call') {
      this.#captureAs(payload, events);
      return;
    }
    const answer = this.#answer;
    const messageId = answer === null || answer.isCounted ? undefined : answer.id;
    if (answer !== null) answer.isCounted = true;
    this.#close();
    events.details = { ...withoutNull(payload, ['type']), ...events.details };
    events.add(
      'agent:inference',
      { model: this.model ?? 'unknown', usage: counted.usage },
      messageId === undefined ? {} : { messageId },
    );
  }

  #mapEnd(payload: JsonObject, events: RecordEvents): void {
    const { type, last_agent_message: result, reason, error, ...others } = payload;
    const isAborted = type === 'turn_aborted';
    const message = asName(asObject(error)?.message) ?? asName(error);
    const hasFailed = !isEmpty(error) && error !== '';
    this.status = isAborted ? 'aborted' : hasFailed ? 'crashed' : 'completed';
    this.#close();
    events.details = {
      ...withoutNull(others),
      ...(hasFailed && message !== error ? { error: error as JsonValue } : {}),
      ...(typeof result === 'string' || isEmpty(result) ? {} : { last_agent_message: result as JsonValue }),
      ...(typeof reason === 'string' || isEmpty(reason) ? {} : { reason: reason as JsonValue }),
      ...events.details,
    };
    events.add('session:complete', {
      status: isAborted ? 'aborted' : hasFailed ? 'failed' : 'completed',
      ...(typeof reason === 'string' ? { reason } : {}),
      ...(typeof result === 'string' ? { result } : {}),
      ...(message === undefined ? {} : { errors: [message] }),
    });
  }

  #mapItem(kind: string, payload: JsonObject, events: RecordEvents, isPerson: boolean): void {
    if (kind === 'message') this.#mapMessage(payload, events, isPerson);
    else if (kind === 'reasoning') this.#mapThought(payload, events);
    else if (kind === 'agent_message') this.#mapAgentMessage(payload, events);
    else if (/_call$/.test(kind)) this.#mapCall(payload, events);
    else if (/_call_output$/.test(kind)) this.#mapOutput(payload, events);
  }

  #mapMessage(payload: JsonObject, events: RecordEvents, isPerson: boolean): void {
    const { type: _, role, content, ...others } = payload;
    const { text, others: parts } = readContent(content);
    if (role === 'assistant') {
      events.details = {
        ...withoutNull(others),
        ...(parts.length === 0 ? {} : { content: parts }),
        ...events.details,
      };
      events.add('agent:text', { text }, { messageId: this.#block('text', text) });
      return;
    }
    this.#close();
    if (this.#items.size < mostItems) this.#items.set(digestOf(payload), events.id);
    const source = this.#sourceOf(role, isPerson, payload);
    const attachments = parts.map(attachmentOf);
    const attached = attachments.flatMap((one) => (one === null ? [] : [one.part]));
    const rest = parts.filter((_, index) => attachments[index] === null);
    events.details = {
      ...(role === 'user' ? {} : { role: role ?? null }),
      ...withoutNull(others),
      ...(rest.length === 0 ? {} : { content: rest }),
      ...events.details,
    };
    events.contents = attachments.flatMap((one) => one?.contents ?? []);
    events.other('user:message', { text, source, ...(attached.length === 0 ? {} : { parts: attached }) });
  }

  /** Who wrote a message to the model: as the record says, or else as its twin does. */
  #sourceOf(
    role: JsonValue | undefined,
    isPerson: boolean,
    payload: JsonObject,
  ): EventData<'user:message'>['source'] {
    const written = provenanceOf(payload);
    if (role !== 'user' || written === 'engine' || (written === null && !isPerson)) return { kind: 'system' };
    if (written === 'person' || this.#facts?.isSubAgent !== true) return { kind: 'user' };
    // The first prompt of a sub-agent is its task. A later one can be from a person, too.
    const isTask = !this.#hasPrompt;
    this.#hasPrompt = true;
    const parent = this.#facts.parentThreadId;
    if (!isTask) return { kind: 'external' };
    return { kind: 'agent', ...(parent === null ? {} : { dispatchId: dispatchOfThread(parent) }) };
  }

  #mapThought(payload: JsonObject, events: RecordEvents): void {
    const { type: _, summary, content, encrypted_content: encrypted, ...others } = payload;
    const read = readThoughts(summary);
    const raw = readContent(content);
    const text = [...read.texts, ...(raw.text === '' ? [] : [raw.text])].join('\n\n');
    events.details = {
      ...withoutNull(others),
      ...(read.others.length === 0 ? {} : { summary: read.others }),
      ...(raw.others.length === 0 ? {} : { content: raw.others }),
      ...(typeof encrypted === 'string' ? { encrypted: { characters: encrypted.length } } : {}),
      ...(typeof encrypted === 'string' || isEmpty(encrypted)
        ? {}
        : { encrypted_content: encrypted as JsonValue }),
      ...events.details,
    };
    // Of encrypted reasoning, only its presence and its length are kept.
    events.encrypted = typeof encrypted === 'string' ? Buffer.byteLength(encrypted) : 0;
    events.add('agent:thinking', { text }, { messageId: this.#block('thought', text) });
  }

  /** A message between agents: in the thread of its recipient it was received. */
  #mapAgentMessage(payload: JsonObject, events: RecordEvents): void {
    const { type: _, author, recipient, content, ...others } = payload;
    const { text, others: parts } = readContent(content);
    this.#close();
    const sender = this.#threads.get(asText(author) ?? '');
    events.details = {
      ...withoutNull({ author: author ?? null, recipient: recipient ?? null, ...others }),
      ...(parts.length === 0 ? {} : { content: parts }),
      ...events.details,
    };
    const source = {
      kind: 'agent' as const,
      ...(sender === undefined ? {} : { dispatchId: dispatchOfThread(sender) }),
    };
    events.add('user:message', { text, source });
  }

  #mapCall(payload: JsonObject, events: RecordEvents): void {
    const callId = asName(payload.call_id) ?? asName(payload.id) ?? events.id;
    const messageId = this.#block('call', callId);
    const data = this.#calls.called(callId, events.id, payload);
    events.details = { ...withoutNull(payload, heldOfCall(payload)), ...events.details };
    events.add('agent:tool_call', data, { messageId });
    // A search of the model's provider has no output item.
    if (payload.type === 'web_search_call' && payload.status === 'completed')
      events.add('agent:tool_result', this.#calls.answered(callId, null));
  }

  #mapOutput(payload: JsonObject, events: RecordEvents): void {
    const callId = asName(payload.call_id);
    if (callId === undefined) {
      this.#captureAs(payload, events);
      return;
    }
    this.#close();
    const updates = this.#calls.updatesOf(callId);
    events.details = {
      ...(updates === undefined ? {} : { changes: updates }),
      ...withoutNull(payload, ['type', 'call_id', 'output']),
      ...events.details,
    };
    events.add('agent:tool_result', this.#calls.answered(callId, payload.output ?? null));
  }

  /** A message of the engine: figures of calls and facts about agents are used, and all are kept as captured. */
  #mapEvent(payload: JsonObject, events: RecordEvents): void {
    const item = asObject(payload.item) ?? payload;
    const type = asText(item.type) ?? '';
    const callId = asName(item.call_id) ?? asName(item.id) ?? asName(item.event_id);
    if (endKinds.has(type)) this.#calls.ended(callId, item);
    if (type === 'thread_settings_applied') this.#useModel(asObject(payload.thread_settings)?.model);
    const thread = asName(item.new_thread_id) ?? asName(item.agent_thread_id);
    const path = asName(item.agent_path);
    if (thread !== undefined && path !== undefined && this.#threads.size < mostItems)
      this.#threads.set(path, thread);
    const call = this.#calls.get(callId);
    const data =
      payload.item === undefined ? withoutRepeats(payload) : { ...payload, item: withoutRepeats(item) };
    events.other(
      unknownEventType('system', asText(payload.type) ?? 'event'),
      withoutNull(data, ['type']),
      call === undefined ? {} : { cause: call.event },
    );
    this.#mapSent(item, events, call?.event);
  }

  /** What this thread sent to another one. */
  #mapSent(item: JsonObject, events: RecordEvents, cause: string | undefined): void {
    const thread = asName(item.new_thread_id) ?? asName(item.receiver_thread_id);
    const text = asName(item.prompt);
    if (thread === undefined || text === undefined) return;
    const to = { dispatchId: dispatchOfThread(thread) };
    events.add('agent:message_sent', { text, to }, cause === undefined ? {} : { cause });
  }

  #captureAs(payload: JsonObject, events: RecordEvents): void {
    events.other(unknownEventType('system', kindNamed(payload)), withoutNull(payload, ['type']));
  }

  /** Keeps a record as it is. */
  #capture({ type, payload }: JsonObject, events: RecordEvents): void {
    const isOfKind = type === 'response_item' || type === 'event_msg';
    const kind = (isOfKind ? asName(asObject(payload)?.type) : undefined) ?? asName(type) ?? 'record';
    if (!/^[a-z_]+$/.test(kind)) events.details = { ...events.details, type: type ?? null };
    events.other(unknownEventType('system', kind), asObject(payload) ?? { payload: payload ?? null });
  }

  /** The answer that a block belongs to. Its id is equal in a thread and in a copied head. */
  #block(kind: string, content: string): string {
    this.#chain = hash('sha256', `${this.#chain}\n${kind}\n${content}`, 'hex');
    if (this.#answer?.isOpen !== true) {
      this.#answer = { id: `answer-${this.#chain.slice(0, 32)}`, isOpen: true, isCounted: false };
      if (this.#isHead && this.heads.length < mostHeads) this.heads.push(this.#answer.id);
      this.#isHead = false;
    }
    return this.#answer.id;
  }

  /** Input of the model ends its answer. */
  #close(): void {
    if (this.#answer !== null) this.#answer.isOpen = false;
  }
}

const mostItems = 20_000;
const mostHeads = 32;
const mediaKinds: ReadonlySet<unknown> = new Set(['image', 'document', 'audio', 'text']);
const named = (prefix: string, words: string) => words.split(' ').map((word) => `${prefix}${word}`);
/** The kinds of records, items and messages that were seen, or that the sources of Codex name. */
const knownKinds: ReadonlySet<string> = new Set([
  ...named(
    '',
    'session_meta turn_context compacted token_usage_record world_state inter_agent_communication_metadata',
  ),
  ...named(
    'response_item/',
    'message reasoning agent_message function_call function_call_output custom_tool_call custom_tool_call_output web_search_call local_shell_call additional_tools compaction ghost_snapshot',
  ),
  ...named(
    'event_msg/',
    'user_message agent_message agent_reasoning item_completed token_count task_started task_complete turn_aborted exec_command_end patch_apply_end mcp_tool_call_end web_search_end context_compacted thread_settings_applied thread_name_updated entered_review_mode exited_review_mode sub_agent_activity collab_agent_spawn_end collab_agent_interaction_end collab_waiting_end collab_close_end',
  ),
]);
/** The messages that say how a call ended. */
const endKinds: ReadonlySet<string> = new Set([
  'exec_command_end',
  'patch_apply_end',
  'mcp_tool_call_end',
  'dynamic_tool_call_response',
  'CommandExecution',
  'FileChange',
  'McpToolCall',
]);

function isPrompt(record: JsonObject): boolean {
  if (record.type !== 'response_item') return false;
  const payload = asObject(record.payload);
  return payload?.type === 'message' && payload.role === 'user';
}

function timeOf(record: JsonObject): string | null {
  const time = recordedTime(record);
  return time === undefined ? null : timestampOf(time);
}

/** Who wrote an item, where newer versions say so. */
function provenanceOf(payload: JsonObject): 'person' | 'engine' | null {
  const metadata = asObject(payload.internal_chat_message_metadata_passthrough)?.content_item_metadata;
  const kinds = (asList(metadata) ?? []).map((one) => asObject(asObject(one)?.provenance)?.type);
  if (kinds.includes('user')) return 'person';
  return kinds.some((kind) => typeof kind === 'string') ? 'engine' : null;
}

/** An image or a file of a message as a part, with its bytes. Null: the value is something else. */
function attachmentOf(part: JsonValue): { part: JsonValue; contents: readonly NewEvent[] } | null {
  if (!isPlainObject(part) || 'kind' in part) return null;
  const { event, contents } = separateContent({ type: 'user:message', data: { parts: [part] } });
  const [moved = null] = asList(event.data.parts) ?? [];
  return mediaKinds.has(asObject(moved)?.kind) ? { part: moved, contents } : null;
}

function readThoughts(summary: JsonValue | undefined): { texts: string[]; others: JsonValue[] } {
  const texts: string[] = [];
  const others: JsonValue[] = [];
  for (const one of asList(summary) ?? (isEmpty(summary) ? [] : [summary as JsonValue])) {
    const { type, text, ...more } = asObject(one) ?? {};
    if (typeof text === 'string' && type === 'summary_text' && isEmpty(more)) texts.push(text);
    else others.push(one);
  }
  return { texts, others };
}

function kindNamed(payload: JsonObject): string {
  return asName(payload.type) ?? ('usage' in payload ? 'token_usage_record' : 'turn_context');
}

/** The process's view of a call states its output up to three times. */
function withoutRepeats(item: JsonObject): JsonObject {
  const { aggregated_output: output, stdout, formatted_output: formatted, ...others } = item;
  if (typeof output !== 'string') return item;
  return {
    ...others,
    aggregated_output: output,
    ...(stdout === undefined || stdout === output ? {} : { stdout }),
    ...(formatted === undefined || formatted === output ? {} : { formatted_output: formatted }),
  };
}
