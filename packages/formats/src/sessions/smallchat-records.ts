import { type CapturedEvent, definedOnly, type EventOf, isEventOf, type JsonObject } from '@hansard/events';
import { putTogether, type TranscriptMessage } from '@hansard/prompt';
import type { WriteDiagnostic } from '../lines/format-diagnostic.ts';
import { createNamePool } from '../lines/name-pool.ts';
import {
  createWrittenNames,
  type DerivedRecord,
  dispatchedAgent,
  isAddedByReader,
  RecordDeriver,
  type RecordMaker,
  SpecifiedRecords,
  sameNames,
  type Unit,
  type WrittenNames,
} from './derive-records.ts';
import { lineText } from './line-form.ts';
import { isRecordType, type SessionDialect } from './session-dialect.ts';
import { givenKey } from './session-reading.ts';
import { person } from './smallchat-form.ts';

/** An id that Hansard minted. */
const minted = /^[0-9A-HJKMNP-TV-Z]{26}$/;

const number = /^\d{1,15}$/;

/** The entry of a call, and the call in it. */
interface PlacedCall {
  readonly entry: string;
  readonly toolCallId: string;
}

/** Said of everything that has no record. */
interface Written {
  readonly record: JsonObject;
  readonly lost: Set<string>;
}

/**
 * The records of smallchat.
 *
 * 1. Minted ids become the next numbers, in the order of the records. Other ids stay, as in a log that Hansard continues.
 * 2. Its loader needs an `agent_created`, with a name, a parent and a model, before the first record of an agent. Where the log has none, one is
 *    added before that record.
 * 3. A message of a person has a fragment of the person before it.
 * 4. A rewind is a `transcript_edit`, if the branch that it goes back to is the current one.
 */
export class SmallchatRecords implements RecordMaker {
  readonly names: WrittenNames;
  /** What the log says and the loader of smallchat reads otherwise. */
  readonly unseen: WriteDiagnostic[] = [];
  readonly #isNumbered: boolean;
  readonly #ids = new Map<string, string>();
  readonly #fragments = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #agentIds = createNamePool(new Set([person]));
  readonly #agents = new Map<string, string>();
  readonly #created = new Set<string>();
  readonly #childNames = new Set<string>();
  readonly #authors = new Map<string, string>();
  /** What was said, by its event, and the texts of persons. Null: an answer without text. */
  readonly #texts = new Map<string, string | null>();
  readonly #calls = new Map<string, PlacedCall>();
  /** The latest entry of a call, by agent and call id. */
  readonly #entries = new Map<string, string>();
  /** The events of each entry on the current branch of an agent. */
  readonly #transcripts = new Map<string, string[][]>();
  readonly #rewinds = new Map<string, number>();
  readonly #others = new Set<string>();
  #next = 0;
  #hasRoot = false;

  /** `isNumbered`: whether minted ids become numbers. */
  constructor(isNumbered: boolean) {
    this.#isNumbered = isNumbered;
    this.names = isNumbered ? createWrittenNames() : sameNames;
  }

  recordIdOf(id: string): string | undefined {
    return this.#ids.get(id);
  }

  addToRecord(first: CapturedEvent, event: CapturedEvent): void {
    const { id, messageId, agentId = '', data } = event;
    if (first === event && this.#isOfPerson(event) && !this.#fragments.has(id))
      this.#fragments.set(id, this.#number());
    const known = this.#ids.get(first.id);
    const recordId = known ?? this.#idOf(first);
    this.#ids.set(id, recordId);
    if (messageId !== undefined && !this.#ids.has(messageId)) this.#ids.set(messageId, recordId);
    this.#authors.set(id, agentId);
    if (typeof data.text === 'string' || event.type === 'agent:output')
      this.#texts.set(id, typeof data.text === 'string' ? data.text : null);
    else if (event.type === 'smallchat:fragment') this.#texts.set(id, `${data.content ?? ''}`);
    if (event.type === 'agent:tool_call') {
      const toolCallId = `${data.toolCallId}`;
      this.#calls.set(id, { entry: recordId, toolCallId });
      this.#entries.set(JSON.stringify([agentId, toolCallId]), recordId);
    }
    this.#place(event, known === undefined);
  }

  addOther(event: CapturedEvent): void {
    if (!isAddedByReader(event)) this.#others.add(event.id);
  }

  derive(unit: Unit): readonly DerivedRecord[] {
    const [first, ...others] = unit.blocks as [CapturedEvent, ...CapturedEvent[]];
    if (isRecordType(first.type)) return [{ record: first.data, events: [first], lost: new Set() }];
    if (first.type === 'session:rewind') return this.#edit(first);
    if (isEventOf(first, 'agent:rejected')) return this.#rejection(first);
    const agentId = this.#agentOf(first.agentId);
    if (isEventOf(first, 'agent:created')) return this.#creation(first, agentId);
    const events: DerivedRecord['events'] = [first, ...others];
    const before = this.#creationBefore(first, agentId);
    const fragment = this.#fragmentOf(first);
    const { record, lost } = this.#record(unit, first, agentId);
    if (unit.isRest) lost.add('message_id');
    return [...before, ...fragment, { record, events, lost }];
  }

  /** Keeps the place of an event in the transcript of its agent. */
  #place(event: CapturedEvent, isFirst: boolean): void {
    const { type, id, agentId = '' } = event;
    if (type === 'agent:created' || type === 'agent:piece_of_text' || isRecordType(type)) return;
    const transcript = this.#transcripts.get(agentId) ?? [];
    this.#transcripts.set(agentId, transcript);
    if (isEventOf(event, 'session:rewind')) {
      const { keptThrough } = event.data;
      const index = transcript.findIndex((entry) => keptThrough !== null && entry.includes(keptThrough));
      if (keptThrough !== null && transcript[index]?.at(-1) !== keptThrough) return;
      transcript.splice(index + 1);
      this.#rewinds.set(id, transcript.length);
    } else if (type === 'agent:rejected') transcript.push([], [id]);
    else if (isFirst) transcript.push([id]);
    else transcript.at(-1)?.push(id);
  }

  #edit(event: CapturedEvent): DerivedRecord[] {
    const n = this.#rewinds.get(event.id);
    if (n === undefined) {
      const message = `smallchat cannot say ${event.id}: its agent goes back to a branch that it left, or into the middle of an entry.`;
      this.unseen.push({ code: 'not_seen_by_loader', eventId: event.id, message });
      return [];
    }
    const agent = this.#agentOf(event.agentId);
    const head = { message_id: this.#written(event), event_type: 'transcript_edit', agent };
    const record = { ...head, action: 'truncate', n };
    return [...this.#creationBefore(event, agent), { record, events: [event], lost: new Set() }];
  }

  /** The answer, and what its agent read instead of a reply. */
  #rejection(event: EventOf<'agent:rejected'>): DerivedRecord[] {
    const agent = this.#agentOf(event.agentId);
    const head = { event_type: 'transcript_entry', agent };
    const { text, reason } = event.data;
    const answer = { message_id: this.#written(event), ...head, role: 'assistant', content: text };
    const reply = { ...head, role: 'user', content: `<system>${reason}</system>` };
    return [
      ...this.#creationBefore(event, agent),
      { record: answer, events: [event], lost: new Set() },
      { record: { message_id: this.#number(), ...reply }, events: [event], lost: new Set(), isAdded: true },
    ];
  }

  #creation(event: CapturedEvent, agent: string): DerivedRecord[] {
    if (this.#isNumbered && this.#created.has(agent) && this.#ids.get(event.id) === undefined) return [];
    if (this.#isNumbered && this.#created.has(`added ${agent}`)) {
      this.#say(event, `${agent} is created after its first record, which has an agent_created before it.`);
      return [];
    }
    const { record, lost } = this.#createdRecord(event, agent);
    return [{ record, events: [event], lost }];
  }

  #createdRecord(event: CapturedEvent, agent: string): Written {
    const { data, cause } = event as CapturedEvent & { data: { name?: string; languageModel?: string } };
    const causes = [cause ?? []].flat();
    const author = causes.map((id) => this.#authors.get(id)).find((one) => one !== undefined);
    const parent = author === undefined ? person : this.#agentOf(author);
    const isHook = data.hook !== undefined && parent !== person;
    const name = data.name ?? agent;
    const record = {
      message_id: this.#written(event),
      event_type: 'agent_created',
      agent,
      role: isHook ? 'hook' : parent === person ? 'primary' : 'child',
      name,
      cause: this.#firstCause(event) ?? person,
      parent,
      language_model: data.languageModel ?? 'unknown',
    };
    this.#sayOfAgent(event, agent, { parent, isHook, name });
    this.#created.add(agent);
    return { record, lost: new Set() };
  }

  #sayOfAgent(
    event: CapturedEvent,
    agent: string,
    { parent, isHook, name }: { readonly parent: string; readonly isHook: boolean; readonly name: string },
  ): void {
    const { data } = event;
    if (parent === person && this.#hasRoot)
      this.#say(
        event,
        `${agent} has no parent among the agents: the loader takes the last such agent for the one that the person talks to.`,
      );
    this.#hasRoot ||= parent === person;
    if (data.hook !== undefined && !isHook) this.#say(event, `${agent} belongs to a hook.`);
    if (data.name === undefined) this.#say(event, `${agent} has no name.`);
    if (data.languageModel === undefined) this.#say(event, `${agent} has no model.`);
    if (data.inherits !== undefined)
      this.#say(event, `${agent} begins with the transcript of another agent.`);
    const place = JSON.stringify([parent, name]);
    if (!isHook && this.#childNames.has(place))
      this.#say(event, `${agent} has the name of another agent of ${parent}, which it replaces.`);
    this.#childNames.add(place);
  }

  /** The loader fails at a record of an agent that was not created. */
  #creationBefore(event: CapturedEvent, agent: string): DerivedRecord[] {
    if (!this.#isNumbered || this.#created.has(agent) || agent === person) return [];
    this.#created.add(agent).add(`added ${agent}`);
    this.#say(event, `${agent} was not created before, so an agent_created with the model unknown is added.`);
    const root = { role: 'primary', name: agent, cause: person, parent: person, language_model: 'unknown' };
    if (this.#hasRoot)
      this.#say(
        event,
        `${agent} has no parent among the agents: the loader takes the last such agent for the one that the person talks to.`,
      );
    this.#hasRoot = true;
    const record = { message_id: this.#number(), event_type: 'agent_created', agent, ...root };
    return [{ record, events: [event], lost: new Set(), isAdded: true }];
  }

  #fragmentOf(event: CapturedEvent): DerivedRecord[] {
    const id = this.#fragments.get(event.id);
    if (id === undefined) return [];
    const record = {
      message_id: id,
      event_type: 'fragment',
      agent: person,
      content: event.data.text,
      cause: person,
    };
    return [{ record: record as JsonObject, events: [event], lost: new Set(), isAdded: true }];
  }

  #record({ events }: Unit, first: CapturedEvent, agent: string): Written {
    const lost = new Set<string>();
    const id = this.#written(first);
    if (first.type === 'agent:piece_of_text') {
      const cause = this.#firstCause(first);
      const piece = { message_id: id, event_type: 'fragment', agent, content: first.data.text };
      return { record: { ...piece, ...definedOnly({ cause }) } as JsonObject, lost };
    }
    const entry = putTogether(events)[0];
    if (entry === undefined) throw new TypeError(`There is nothing to write for ${first.id}.`);
    const { message } = entry;
    const record = {
      message_id: id,
      event_type: 'transcript_entry',
      agent,
      role: message.role,
      ...definedOnly({ content: message.content ?? undefined }),
      ...this.#fieldsOf(first, message, lost),
      ...(first.type === 'agent:given' ? { [givenKey]: true } : {}),
    };
    if ((message.parts ?? []).length > 0)
      this.#say(first, 'it has attachments, and smallchat has texts only.');
    return { record: record as JsonObject, lost };
  }

  #fieldsOf(first: CapturedEvent, message: TranscriptMessage, lost: Set<string>): JsonObject {
    const { role, toolCalls, tool, toolCallId = '' } = message;
    const causes = [first.cause ?? []].flat();
    if (role === 'assistant') return toolCalls === undefined ? {} : { tool_calls: toolCalls.map(callRecord) };
    if (role === 'system') {
      const named = this.#causesOf(causes);
      return named.length === 0 ? {} : { cause: named };
    }
    const substance = this.#substanceOf(first, message, lost);
    if (role === 'user') return definedOnly({ substance });
    const entry = this.#entries.get(JSON.stringify([first.agentId ?? '', toolCallId]));
    const others = causes.filter((id) => this.#calls.get(id)?.toolCallId !== toolCallId);
    const named = substance === undefined ? this.#causesOf(others) : [];
    return {
      ...definedOnly({ name: tool, substance }),
      ...(named.length === 0 ? {} : { cause: named }),
      ...definedOnly({ tool_call: entry, tool_call_id: toolCallId }),
    };
  }

  /** The record of the content that a message carries. */
  #substanceOf(first: CapturedEvent, { content }: TranscriptMessage, lost: Set<string>): string | undefined {
    const { substance } = first;
    if (substance === undefined) return this.#fragments.get(first.id);
    const id = this.#ids.get(substance);
    if (id === undefined) {
      if (!this.#others.has(substance)) return substance;
      lost.add('substance');
      return undefined;
    }
    const said = this.#texts.get(substance) ?? 'None';
    const heard = content ?? '';
    const isPrefixed = heard.startsWith('[') && heard.endsWith(`]: ${said}`);
    if (this.#texts.has(substance) && heard !== said && !isPrefixed)
      this.#say(first, `it carries ${id} in other words, and smallchat shows both as one content.`);
    return id;
  }

  /** Agents and fragments have one cause. */
  #firstCause(event: CapturedEvent): string | undefined {
    const [first, ...others] = this.#causesOf([event.cause ?? []].flat());
    if (others.length > 0)
      this.#say(event, `it has ${others.length + 1} causes, and smallchat names the first.`);
    return first;
  }

  /** The calls `E.C` and records that brought an event about. What has no record is left out. */
  #causesOf(causes: readonly string[]): string[] {
    return causes.flatMap((id) => {
      const call = this.#calls.get(id);
      if (call !== undefined) return [`${call.entry}.${call.toolCallId}`];
      const recordId = this.#ids.get(id);
      return recordId ?? (this.#others.has(id) ? [] : [id]);
    });
  }

  /** Whether an event is a message of a person or the outside world, whose text has no record. */
  #isOfPerson(event: CapturedEvent): boolean {
    if (!isEventOf(event, 'user:message') || event.substance !== undefined) return false;
    return event.data.source.kind === 'user' || event.data.source.kind === 'external';
  }

  #say(event: CapturedEvent, what: string): void {
    if (!this.#isNumbered) return;
    const message = `The loader of smallchat does not see this of ${event.id}: ${what}`;
    this.unseen.push({ code: 'not_seen_by_loader', eventId: event.id, message });
  }

  #agentOf(agentId = ''): string {
    if (!this.#isNumbered) return agentId === '' ? dispatchedAgent : agentId;
    const known = this.#agents.get(agentId);
    if (known !== undefined) return known;
    const written = this.names.agentId(agentId === '' ? dispatchedAgent : agentId);
    const id = written === person ? this.#agentIds.take(`${person}1`) : written;
    this.#agents.set(agentId, id);
    return id;
  }

  #written(event: CapturedEvent): string {
    return this.#ids.get(event.id) ?? event.id;
  }

  #idOf(first: CapturedEvent): string {
    const id = this.names.idOf(first);
    if (!this.#isNumbered || (!minted.test(id) && !this.#taken.has(id))) {
      if (number.test(id)) this.#next = Math.max(this.#next, Number(id) + 1);
      this.#taken.add(id);
      return id;
    }
    return this.#number();
  }

  #number(): string {
    const id = `${this.#next}`;
    this.#next += 1;
    this.#taken.add(id);
    return id;
  }
}

function callRecord({
  toolCallId,
  tool,
  input,
}: NonNullable<TranscriptMessage['toolCalls']>[number]): JsonObject {
  const call = { name: tool, arguments: lineText({ input }, 'spaced').slice('{"input": '.length, -1) };
  return { id: toolCallId, type: 'function', function: call };
}

/** Makes the records of a dialect. `isExport`: for others, and not to compare them with those that were read. */
export function recordsOf(dialect: SessionDialect, isExport: boolean): RecordMaker {
  if (dialect.id === 'smallchat') return new SmallchatRecords(isExport);
  return new SpecifiedRecords(dialect, isExport ? createWrittenNames() : sameNames);
}

/** The records of a whole log, without names of their own. */
export function deriveRecords(dialect: SessionDialect, events: readonly CapturedEvent[]): DerivedRecord[] {
  const deriver = new RecordDeriver(dialect, recordsOf(dialect, false));
  return [...events.flatMap((event) => deriver.add(event)), ...deriver.finish()];
}
