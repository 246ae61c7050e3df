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
interface WrittenNames {
  /** The id of the record with this first event. */
  idOf(first: CapturedEvent): string;
  agentId(agentId: string): string;
}

const sameNames: WrittenNames = { idOf: ({ id }) => id, agentId: (agentId) => agentId };

export function createWrittenNames(events: readonly CapturedEvent[]): WrittenNames {
  const agents = new Map<string, string>();
  for (const event of events) {
    const written = event.agentId === undefined ? undefined : writtenAs(event, 'agent_id');
    if (event.agentId !== undefined && written !== undefined && !agents.has(event.agentId))
      agents.set(event.agentId, written);
  }
  return {
    idOf: (first) => writtenAs(first, 'message_id') ?? first.id,
    agentId: (agentId) => agents.get(agentId) ?? agentId,
  };
}

/** The text that a record of a log has as its id or as its agent; undefined if its events have it. */
function writtenAs(event: CapturedEvent, key: 'message_id' | 'agent_id'): string | undefined {
  const value = isRecordType(event.type) ? event.data[key] : keptRemainder(event)?.put?.[`/${key}`];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The links of a record in the form of a dialect, and the keys of those that the dialect cannot hold. */
interface WrittenLinks {
  readonly fields: JsonObject;
  readonly lost: ReadonlySet<string>;
}

type LinksOf = Pick<EventLinks, 'substance' | 'cause' | 'via'>;

/** Writes the links of each record, in order. */
class LinkWriter {
  readonly #dialect: SessionDialect;
  readonly #recordIds = new Map<string, string>();
  readonly #known: ReadonlyMap<string, CapturedEvent>;
  readonly #calls = createCallWriter();

  /** `records` holds the events of each record, of which the first names it; `events` holds all events of the log. */
  constructor(
    dialect: SessionDialect,
    events: readonly CapturedEvent[],
    records: readonly (readonly [CapturedEvent, ...CapturedEvent[]])[],
    names: WrittenNames,
  ) {
    this.#dialect = dialect;
    this.#known = new Map(events.map((event) => [event.id, event]));
    const ids = this.#recordIds;
    for (const blocks of records) {
      const recordId = names.idOf(blocks[0]);
      for (const { id } of blocks) ids.set(id, recordId);
    }
    for (const [first] of records) {
      const { messageId } = first;
      if (messageId !== undefined && !ids.has(messageId)) ids.set(messageId, names.idOf(first));
    }
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
    const event = this.#known.get(id);
    if (event === undefined) return [id];
    if (!isAddedByReader(event)) lost.add(field);
    return [];
  }

  /** In a dialect without pieces of text, a delivery stands for the piece: text that a tool call caused. */
  #unwrittenPiece(substance: string): CapturedEvent | undefined {
    const piece = this.#recordIds.has(substance) ? undefined : this.#known.get(substance);
    return piece?.type === 'agent:piece_of_text' ? piece : undefined;
  }

  /** In a dialect without pieces of text, whether these causes are those of a delivery of a piece, and are read as that. */
  #isReadAsPiece(named: readonly string[], sender: string | undefined): boolean {
    if (this.#dialect.kinds.includes('piece_of_text')) return false;
    const written = named.filter((id) => this.#recordIds.has(id) || !this.#known.has(id));
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
}

/** The agent of events without an agent id. */
const dispatchedAgent = 'agent_root';

/**
 * The records of events, in the order of their first events. Without `names`, ids are those of the events.
 * @throws EVENT_INVALID for a part of a transcript whose data has a shape that this version does not know
 */
export function deriveRecords(
  dialect: SessionDialect,
  events: readonly CapturedEvent[],
  names: WrittenNames = sameNames,
): DerivedRecord[] {
  const entries = new Map(putTogether(events).map((entry) => [entry.events[0], entry]));
  const units = events.flatMap((event) => unitOf(dialect, event, entries.get(event)));
  const writer = new LinkWriter(
    dialect,
    events,
    units.map(({ blocks }) => blocks),
    names,
  );
  return units.map(({ entry, blocks }): DerivedRecord => {
    const links = writer.write(entry ?? blocks[0], blocks, entry?.message);
    const base = { events: blocks, lost: links.lost };
    if (entry === undefined) {
      const record = ownRecord(blocks[0], links);
      // No dialect can say whose agent it is.
      const isHookLost = blocks[0].type === 'agent:created' && blocks[0].data.hook !== undefined;
      return { ...base, record, ...(isHookLost ? { lost: new Set([...links.lost, 'hook']) } : {}) };
    }
    const source = entry.message.role === 'user' ? { source: sourceName(entry.message, names) } : {};
    const sourceField = dialect.sourceKey === null ? {} : source;
    // No dialect can say what in the outside world, or which hook, sent a message.
    const { what, hook } = entry.message.source ?? {};
    const lost = what !== undefined || hook !== undefined ? new Set([...links.lost, 'source']) : links.lost;
    const record = entryRecord(dialect, blocks[0].id, entry, sourceField, links);
    return { events: blocks, lost, ...source, record };
  });
}

interface Unit {
  readonly entry?: TranscriptEntry;
  readonly blocks: DerivedRecord['events'];
}

function unitOf(dialect: SessionDialect, event: CapturedEvent, entry: TranscriptEntry | undefined): Unit[] {
  if (entry !== undefined) {
    // The dialects have no record for thinking.
    const [first, ...others] = entry.events.filter(({ type }) => type !== 'agent:thinking');
    return first === undefined ? [] : [{ entry, blocks: [first, ...others] }];
  }
  const isOwn =
    event.type === 'agent:created' ||
    (event.type === 'agent:piece_of_text' && dialect.kinds.includes('piece_of_text')) ||
    event.type.startsWith(unknownTypePrefix(dialect));
  return isOwn ? [{ blocks: [event] }] : [];
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
