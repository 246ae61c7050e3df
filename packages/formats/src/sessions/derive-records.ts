import { type CapturedEvent, definedOnly, type EventLinks, type JsonObject } from '@hansard/events';
import {
  putTogether,
  type TranscriptEntry,
  type TranscriptMessage,
  type TranscriptToolCall,
} from '@hansard/prompt';
import { keptRemainder } from './remainder.ts';
import { isRecordType, type SessionDialect, unknownTypePrefix } from './session-dialect.ts';
import { exactCallKey, givenKey, meantCall } from './session-reading.ts';

/** Says which call of an earlier message with several a record means by its causes. */
interface CallWriter {
  /** The agent of an earlier message with exactly one call; undefined for any other id. */
  soleCaller(id: string): string | undefined;
  /** Adds the events of a record, after its own links were written. */
  add(blocks: readonly CapturedEvent[]): void;
  /**
   * `callId` is the call that the record has to name; absent if its references are enough. `isLost`: no call id says what is
   * meant.
   */
  meantCall(causes: readonly string[], ownCallId: string | undefined): MeantCall;
}

interface MeantCall {
  readonly callId?: string;
  readonly isLost: boolean;
}

interface Call {
  readonly id: string;
  readonly toolCallId: string;
}

function createCallWriter(): CallWriter {
  /** The calls of messages with several, by the ids of their events. */
  const messages = new Map<string, readonly Call[]>();
  const soleCallers = new Map<string, string>();

  return {
    soleCaller: (id) => soleCallers.get(id),

    add(blocks) {
      const calls = blocks.filter(({ type }) => type === 'agent:tool_call').map(callOf);
      if (calls.length === 1) for (const { id, agentId = '' } of blocks) soleCallers.set(id, agentId);
      if (calls.length < 2) return;
      for (const { id } of blocks) messages.set(id, calls);
      const messageId = blocks[0]?.messageId;
      if (messageId !== undefined && !messages.has(messageId)) messages.set(messageId, calls);
    },

    meantCall(causes, ownCallId) {
      if (messages.size === 0) return { isLost: false };
      const meant = new Map<readonly Call[], Set<Call>>();
      for (const cause of causes) {
        const calls = messages.get(cause);
        // The id of a message means its first call.
        const call = calls?.find(({ id }) => id === cause) ?? calls?.[0];
        if (calls === undefined || call === undefined) continue;
        meant.set(calls, (meant.get(calls) ?? new Set()).add(call));
      }
      const own = ownCallId === undefined ? {} : { role: 'tool', tool_call_id: ownCallId };
      const says = (callId: string | undefined) =>
        [...meant].every(([calls, chosen]) => {
          const call = meantCall(callId === undefined ? own : { cause_tool_call_id: callId }, calls);
          return call === undefined ? chosen.size === calls.length : chosen.size === 1 && chosen.has(call);
        });
      if (says(undefined)) return { isLost: false };
      const candidates = [...meant.values()].flatMap((chosen) =>
        [...chosen].map(({ toolCallId }) => toolCallId),
      );
      const callId = candidates.find(says);
      if (callId !== undefined) return { callId, isLost: false };
      const isFirst = [...meant].every(
        ([calls, chosen]) => chosen.size === 1 && chosen.has(calls[0] as Call),
      );
      // A reference to a message that does not say which call it means is read as its first.
      return { isLost: !isFirst };
    },
  };
}

function callOf({ id, data: { toolCallId } }: CapturedEvent): Call {
  return { id, toolCallId: typeof toolCallId === 'string' ? toolCallId : '' };
}

/** The ids of records and agents as their own log has them, for events that had to get other ids. */
export interface WrittenNames {
  /** Takes the events of the log, in order. */
  observe(event: CapturedEvent): void;
  /** The id of the record with this first event. */
  idOf(first: CapturedEvent): string;
  agentId(agentId: string): string;
}

export const sameNames: WrittenNames = { observe() {}, idOf: ({ id }) => id, agentId: (agentId) => agentId };

export function createWrittenNames(): WrittenNames {
  const agents = new Map<string, string>();
  return {
    observe(event) {
      if (event.agentId === undefined || agents.has(event.agentId)) return;
      const written = writtenAs(event, 'agent_id');
      if (written !== undefined) agents.set(event.agentId, written);
    },
    idOf: (first) => writtenAs(first, 'message_id') ?? first.id,
    agentId: (agentId) => agents.get(agentId) ?? agentId,
  };
}

/** The text that a record of a log has as its id or as its agent; undefined if its events have it. */
function writtenAs(event: CapturedEvent, key: 'message_id' | 'agent_id'): string | undefined {
  const put = keptRemainder(event)?.put ?? {};
  const agent = key === 'agent_id' ? put['/agent'] : undefined;
  const value = isRecordType(event.type) ? event.data[key] : (put[`/${key}`] ?? agent);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The links of a record in the form of a dialect, and the keys of those that the dialect cannot hold. */
interface WrittenLinks {
  readonly fields: JsonObject;
  readonly lost: ReadonlySet<string>;
}

type LinksOf = Pick<EventLinks, 'substance' | 'cause' | 'via'>;

/** Writes the links of each record, in order. It knows the events so far: what comes later is named by the id of its event. */
class LinkWriter {
  readonly #dialect: SessionDialect;
  readonly #recordIds = new Map<string, string>();
  /** The events without a record. Of most, only the id is kept. */
  readonly #others = new Map<string, CapturedEvent | 'added' | 'left out'>();
  readonly #calls = createCallWriter();

  constructor(dialect: SessionDialect) {
    this.#dialect = dialect;
  }

  /** The id of the record that an event or a message has so far. */
  recordIdOf(id: string): string | undefined {
    return this.#recordIds.get(id);
  }

  /** Adds an event of a record. `messageId`: of its first event, by which links may name it, too. */
  addToRecord(recordId: string, { id }: CapturedEvent, messageId?: string): void {
    this.#recordIds.set(id, recordId);
    if (messageId !== undefined && !this.#recordIds.has(messageId)) this.#recordIds.set(messageId, recordId);
  }

  /** Adds an event that has no record. */
  addOther(event: CapturedEvent): void {
    const isPiece = event.type === 'agent:piece_of_text';
    this.#others.set(event.id, isPiece ? event : isAddedByReader(event) ? 'added' : 'left out');
  }

  write(
    links: LinksOf,
    blocks: readonly CapturedEvent[],
    { toolCallId: ownCallId, source } = noMessage,
  ): WrittenLinks {
    const { substanceKey, causeKey } = this.#dialect;
    const lost = new Set<string>();
    const { carried, piece } = this.#carriedBy(links.substance, lost);
    const isSubstanceLost = lost.size > 0;
    // The cause of a piece takes its place; a log with both links may have named its substance as its cause, too.
    if (isSubstanceLost) lost.add(causeKey);
    const cause = [piece?.cause ?? links.cause ?? []].flat();
    const { named, causes } = this.#causesOf({ ...links, cause }, carried, ownCallId, lost);
    if (links.substance === undefined && this.#isReadAsPiece(named, source?.agentId)) {
      lost.add(substanceKey).add(causeKey);
    }
    const meant = this.#calls.meantCall(named, ownCallId);
    this.#calls.add(blocks);
    if (meant.isLost || (isSubstanceLost && meant.callId !== undefined)) lost.add(exactCallKey);
    const [first, ...others] = new Set(causes);
    return {
      fields: {
        ...definedOnly({ [substanceKey]: carried }),
        ...(first === undefined ? {} : { [causeKey]: others.length === 0 ? first : [first, ...others] }),
        ...definedOnly({ [exactCallKey]: meant.callId }),
      },
      lost,
    };
  }

  /** The record that a substance is written as, or the piece of text for which the delivery stands. */
  #carriedBy(
    substance: string | undefined,
    lost: Set<string>,
  ): { readonly carried?: string | undefined; readonly piece?: CapturedEvent } {
    if (substance === undefined) return {};
    const { substanceKey } = this.#dialect;
    const piece = this.#unwrittenPiece(substance);
    if (piece === undefined) return { carried: this.#refer(substance, substanceKey, lost)[0] };
    if (!isAddedByReader(piece)) lost.add(substanceKey);
    return { piece };
  }

  /** The ids of the causes as the events name them, and as the record does. */
  #causesOf(
    { substance, cause, via }: LinksOf & { readonly cause: string[] },
    carried: string | undefined,
    ownCallId: string | undefined,
    lost: Set<string>,
  ): { readonly named: readonly string[]; readonly causes: readonly string[] } {
    const { causeKey, mayHaveBoth } = this.#dialect;
    const named = [...cause];
    const causes = named.flatMap((id) => this.#refer(id, causeKey, lost));
    if (substance !== undefined && via !== undefined) {
      const passed = this.#refer(via, causeKey, lost);
      if (carried === undefined || mayHaveBoth) {
        causes.push(...passed);
        named.push(via);
      } else if (passed.length > 0) {
        lost.add(causeKey);
        const { callId } = this.#calls.meantCall([...named, via], ownCallId);
        if (callId !== undefined) lost.add(exactCallKey);
      }
    }
    // A content that came directly has the same record as its cause.
    if (carried !== undefined && mayHaveBoth && causes.length === 0) causes.push(carried);
    return { named, causes };
  }

  /** Leaves out references to events that are not written. A reference to an unknown id stays. */
  #refer(id: string, field: string, lost: Set<string>): string[] {
    const recordId = this.#recordIds.get(id);
    if (recordId !== undefined) return [recordId];
    const event = this.#others.get(id);
    if (event === undefined) return [id];
    const isAdded = event === 'added' || (typeof event !== 'string' && isAddedByReader(event));
    if (!isAdded) lost.add(field);
    return [];
  }

  /** In a dialect without pieces of text, a delivery stands for the piece: text that a tool call caused. */
  #unwrittenPiece(substance: string): CapturedEvent | undefined {
    const piece = this.#recordIds.has(substance) ? undefined : this.#others.get(substance);
    return typeof piece === 'string' ? undefined : piece;
  }

  /** In a dialect without pieces of text, whether these causes are those of a delivery of a piece, and are read as that. */
  #isReadAsPiece(named: readonly string[], sender: string | undefined): boolean {
    if (this.#dialect.kinds.includes('piece_of_text')) return false;
    const written = named.filter((id) => this.#recordIds.has(id) || !this.#others.has(id));
    const [onlyCause, ...others] = written;
    const caller =
      onlyCause === undefined || others.length > 0 ? undefined : this.#calls.soleCaller(onlyCause);
    return caller !== undefined && sender === caller;
  }
}

const noMessage: Partial<TranscriptMessage> = {};

/** Whether an event was added when the log was read: a decision or a text that has no record of its own. */
export function isAddedByReader({ type, data }: CapturedEvent): boolean {
  return data.record === null && (type === 'agent:piece_of_text' || type === 'harness:hook_decision');
}

/** A record derived from its events alone, without fields that only the original record has. */
export interface DerivedRecord {
  readonly record: JsonObject;
  /** The events of its content. The first one gives it its id. */
  readonly events: readonly [CapturedEvent, ...CapturedEvent[]];
  /** The keys of the links that the dialect cannot hold. */
  readonly lost: ReadonlySet<string>;
  /** The value of a v1 log for the sender of a user message. */
  readonly source?: string;
  /** Whether the dialect demands this record, and another record has the events. */
  readonly isAdded?: boolean;
}

/** Makes the records of one dialect. */
export interface RecordMaker {
  readonly names: WrittenNames;
  /** The id of the record that an event or a message has so far. */
  recordIdOf(id: string): string | undefined;
  /** Adds an event of a record, after the first one of the record. */
  addToRecord(first: CapturedEvent, event: CapturedEvent): void;
  /** Adds an event that has no record. */
  addOther(event: CapturedEvent): void;
  /** The records of complete events, in the order in which `addToRecord` got their first ones. */
  derive(unit: Unit): readonly DerivedRecord[];
}

/** The agent of events without an agent id. */
export const dispatchedAgent = 'agent_root';

/** A record whose events may not be complete. */
export interface Unit {
  /** The events of its message, with its thoughts; or the one event of another record. */
  readonly events: CapturedEvent[];
  /** The events of its content, without thoughts, for which the dialects have no record. */
  readonly blocks: CapturedEvent[];
  readonly isMessage: boolean;
  /** Whether it has blocks of a message that has a record already. */
  readonly isRest: boolean;
  isOver: boolean;
}

/**
 * Derives the records of a log while its events are added, in the order of their first events. A record is given when it is complete, and
 * every record before it. A record that is not the answer of a model has one event, so it is complete at once. An answer is complete:
 *
 * 1. with the `agent:inference` of its message;
 * 2. with a block of another answer of its agent;
 * 3. in a log that had no `agent:inference` so far, such as a log that was read from a session log: with any other event that has a record in a
 *    dialect;
 * 4. when an agent received it: with an event whose substance names it;
 * 5. at the end of the log.
 *
 * A tool result does not complete an answer, because a tool may answer before the model has made its other calls. A block that comes
 * after its answer was complete begins a record of its own.
 */
export class RecordDeriver {
  readonly #dialect: SessionDialect;
  readonly #maker: RecordMaker;
  /** The records that were not given. */
  #waiting: Unit[] = [];
  /** The answer of each agent that may get further blocks, with the id of its message. */
  readonly #answers = new Map<string, { readonly messageId: string; readonly unit: Unit }>();
  #isEndTold = false;

  constructor(dialect: SessionDialect, maker: RecordMaker) {
    this.#dialect = dialect;
    this.#maker = maker;
  }

  /**
   * Adds the next event of the log. Returns the records that are complete now.
   * @throws EVENT_INVALID for a part of a transcript whose data has a shape that this version does not know
   */
  add(event: CapturedEvent): DerivedRecord[] {
    this.#maker.names.observe(event);
    const { agentId = '', id, messageId = id, substance } = event;
    if (substance !== undefined) this.#endReceived(substance);
    if (isAnswerBlock(event)) {
      this.#addBlock(event, agentId, messageId);
    } else if (isWhole(this.#dialect, event)) {
      if (!this.#isEndTold) this.#endAll();
      const isMessage = !isOwnRecord(this.#dialect, event);
      this.#waiting.push({ events: [event], blocks: [event], isMessage, isRest: false, isOver: true });
      this.#maker.addToRecord(event, event);
    } else {
      this.#maker.addOther(event);
      if (event.type === 'agent:piece_of_text' && !this.#isEndTold) this.#endAll();
      if (event.type === 'agent:inference') {
        this.#isEndTold = true;
        if (this.#answers.get(agentId)?.messageId === messageId) this.#end(agentId);
      }
    }
    return this.#given();
  }

  /** Ends the log. Returns the remaining records. */
  finish(): DerivedRecord[] {
    this.#endAll();
    return this.#given();
  }

  #addBlock(event: CapturedEvent, agentId: string, messageId: string): void {
    let answer = this.#answers.get(agentId);
    if (answer?.messageId !== messageId) {
      if (this.#isEndTold) this.#end(agentId);
      else this.#endAll();
      const isRest = this.#maker.recordIdOf(messageId) !== undefined;
      answer = { messageId, unit: { events: [], blocks: [], isMessage: true, isRest, isOver: false } };
      this.#answers.set(agentId, answer);
    }
    const { events, blocks } = answer.unit;
    events.push(event);
    if (event.type === 'agent:thinking') {
      this.#maker.addOther(event);
      return;
    }
    if (blocks.push(event) === 1) this.#waiting.push(answer.unit);
    this.#maker.addToRecord(blocks[0] ?? event, event);
  }

  #end(agentId: string): void {
    const answer = this.#answers.get(agentId);
    if (answer === undefined) return;
    answer.unit.isOver = true;
    this.#answers.delete(agentId);
  }

  #endReceived(substance: string): void {
    for (const [agentId, { messageId, unit }] of this.#answers)
      if (messageId === substance || unit.events.some(({ id }) => id === substance)) this.#end(agentId);
  }

  #endAll(): void {
    for (const agentId of this.#answers.keys()) this.#end(agentId);
  }

  /** The records up to the first one that is not complete. */
  #given(): DerivedRecord[] {
    const end = this.#waiting.findIndex(({ isOver }) => !isOver);
    if (end === 0 || this.#waiting.length === 0) return [];
    const complete = end < 0 ? this.#waiting : this.#waiting.slice(0, end);
    this.#waiting = end < 0 ? [] : this.#waiting.slice(end);
    return complete.flatMap((unit) => this.#maker.derive(unit));
  }
}

/** The records of the two dialects of the specification. */
export class SpecifiedRecords implements RecordMaker {
  readonly names: WrittenNames;
  readonly #dialect: SessionDialect;
  readonly #links: LinkWriter;

  constructor(dialect: SessionDialect, names: WrittenNames) {
    this.names = names;
    this.#dialect = dialect;
    this.#links = new LinkWriter(dialect);
  }

  recordIdOf(id: string): string | undefined {
    return this.#links.recordIdOf(id);
  }

  addToRecord(first: CapturedEvent, event: CapturedEvent): void {
    this.#links.addToRecord(this.names.idOf(first), event, event.messageId);
  }

  addOther(event: CapturedEvent): void {
    this.#links.addOther(event);
  }

  derive(unit: Unit): DerivedRecord[] {
    return [this.#derive(unit)];
  }

  #derive({ events, blocks, isMessage, isRest }: Unit): DerivedRecord {
    const dialect = this.#dialect;
    const entry = isMessage ? putTogether(events)[0] : undefined;
    const [first, ...others] = blocks as [CapturedEvent, ...CapturedEvent[]];
    const content: DerivedRecord['events'] = [first, ...others];
    const links = this.#links.write(entry ?? first, content, entry?.message);
    const base = { events: content, lost: links.lost };
    if (entry === undefined) {
      const record = ownRecord(first, links);
      // No dialect can say whose agent it is.
      const isHookLost = first.type === 'agent:created' && first.data.hook !== undefined;
      return { ...base, record, ...(isHookLost ? { lost: new Set([...links.lost, 'hook']) } : {}) };
    }
    const source = entry.message.role === 'user' ? { source: sourceName(entry.message, this.names) } : {};
    const sourceField = dialect.sourceKey === null ? {} : source;
    // No dialect can say what in the outside world, which hook, or which agent without an id, sent a message.
    const { kind, what, hook, name, agentId } = entry.message.source ?? {};
    const lost = new Set(links.lost);
    if (
      what !== undefined ||
      hook !== undefined ||
      (kind === 'agent' && agentId === undefined && name !== undefined)
    )
      lost.add('source');
    // It looks like a message of its own.
    if (isRest) lost.add('message_id');
    const record = entryRecord(dialect, first.id, entry, sourceField, links);
    return { events: content, lost, ...source, record };
  }
}

/** Whether an event is a block of a model's answer. An empty answer is an output without parts. */
function isAnswerBlock({ type, messageId, data }: CapturedEvent): boolean {
  if (type === 'agent:output')
    return messageId !== undefined && Array.isArray(data.parts) && data.parts.length === 0;
  return type === 'agent:text' || type === 'agent:thinking' || type === 'agent:tool_call';
}

const wholeMessages: ReadonlySet<string> = new Set([
  'agent:given',
  'agent:system_prompt',
  'agent:tool_result',
  'user:message',
]);

/** Whether an event is a record by itself. */
function isWhole(dialect: SessionDialect, event: CapturedEvent): boolean {
  return wholeMessages.has(event.type) || isOwnRecord(dialect, event);
}

/** Whether an event has a record other than a message. */
function isOwnRecord(dialect: SessionDialect, { type }: CapturedEvent): boolean {
  return (
    type === 'agent:created' ||
    (dialect.id === 'smallchat' && (type === 'session:rewind' || type === 'agent:rejected')) ||
    (type === 'agent:piece_of_text' && dialect.kinds.includes('piece_of_text')) ||
    type.startsWith(unknownTypePrefix(dialect))
  );
}

function ownRecord(event: CapturedEvent, { fields }: WrittenLinks): JsonObject {
  const { id, type, data, agentId = dispatchedAgent } = event;
  if (type === 'agent:created') {
    return {
      message_id: id,
      event_type: 'agent_created',
      agent_id: agentId,
      ...fields,
      ...definedOnly({ name: data.name, language_model: data.languageModel }),
    };
  }
  if (type !== 'agent:piece_of_text') return data;
  return {
    message_id: id,
    event_type: 'piece_of_text',
    agent_id: agentId,
    content: data.text,
    ...fields,
  };
}

function entryRecord(
  dialect: SessionDialect,
  id: string,
  entry: TranscriptEntry,
  sourceField: JsonObject,
  { fields }: WrittenLinks,
): JsonObject {
  const { message, agentId } = entry;
  const { role, content, toolCalls, toolCallId, tool } = message;
  return {
    message_id: id,
    ...(dialect.entryType === null ? {} : { event_type: dialect.entryType }),
    agent_id: agentId === '' ? dispatchedAgent : agentId,
    role,
    ...definedOnly({
      tool_call_id: toolCallId,
      name: tool,
      content: content ?? undefined,
      tool_calls: toolCalls?.map(callRecord),
    }),
    ...sourceField,
    ...fields,
    ...(entry.events[0]?.type === 'agent:given' ? { [givenKey]: true } : {}),
  };
}

function callRecord({ toolCallId, tool, input }: TranscriptToolCall): JsonObject {
  return {
    id: toolCallId,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(input) },
  };
}

function sourceName({ source }: TranscriptMessage, names: WrittenNames): string {
  if (source?.kind === 'system') return 'system';
  const agentId = source?.kind === 'agent' ? source.agentId : undefined;
  return agentId === undefined ? 'external' : names.agentId(agentId);
}
