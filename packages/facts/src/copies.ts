import type { CapturedEvent, DispatchEnvelope, EventOf, Usage } from '@hansard/events';
import { isPlainObject, isReadableAs } from '@hansard/events/plain';
import { addUsage } from './totals/tokens-of.ts';

/** A session whose events are compared with those of others. */
export interface SessionToCompare {
  readonly dispatchId: string;
  /**
   * The name that its product gives it. If several sessions have no origin among them, an identity belongs to the one
   * with the smallest name.
   */
  readonly sessionId: string;
  /** The dispatch that it was forked or continued from, according to its log. Null: its log names none. */
  readonly origin: string | null;
}

/** What an envelope says of its session for the comparison. Claude Code names the file of a session by the session. */
export function sessionToCompare({ dispatchId, forkedFrom, source }: DispatchEnvelope): SessionToCompare {
  const [file] = source?.files ?? [];
  const sessionId = file?.name.replace(/\.jsonl$/, '') ?? dispatchId;
  return { dispatchId, sessionId, origin: forkedFrom?.from.dispatchId ?? null };
}

/** The events of a session that other sessions have, too. */
export interface SessionCopies {
  /** The events that are copied from another session, with the dispatch of that session. */
  readonly copied: ReadonlyMap<string, string>;
  /** By copied event: the event that it is a copy of, where that session has one with the same name. */
  readonly originals: ReadonlyMap<string, string>;
  /** The calls of this session whose usage is larger in a copy, with the usage of the copy. */
  readonly raised: ReadonlyMap<string, EventOf<'agent:inference'>>;
  /** Whether the log names the origin of the copied events. Otherwise they belong to the session with the smallest name. */
  readonly isOriginKnown: boolean;
  /** The answers that have the id of an answer of another session, but other content. Both count. */
  readonly differing: readonly string[];
}

/** An event that can be a copy. */
interface Item {
  readonly session: number;
  readonly id: string;
  /** The names of its identity. Items with a common name are one, if their content is equal. */
  readonly names: readonly string[];
  /** The checksum of each field. Null: the field was redacted. */
  readonly content: ReadonlyMap<string, number | null>;
  /** Of a block or a call of an answer. */
  readonly messageId: string | undefined;
  readonly call: EventOf<'agent:inference'> | undefined;
}

/** The fields that are the content of an event. Details, places, times and figures differ in copies. */
const contentFields = ['text', 'signature', 'toolCallId', 'tool', 'input', 'status', 'output', 'parts'];

const redacted = '[REDACTED:';

const blockTypes: ReadonlySet<string> = new Set(['agent:text', 'agent:thinking', 'agent:tool_call']);

/** Claude Code 1.x writes the head of a continuation with new ids and times. */
const isOldVersion = (version: unknown) => typeof version === 'string' && version.startsWith('1.');

/**
 * Finds the events that several sessions have because one began with a copy of another's records.
 *
 * 1. Two sessions are compared if one names the other as its origin, or if they have a record with the same id or
 *    with the same time and content. Two sessions of Claude Code 1.x are also compared if they have the same answer
 *    after the same prompt.
 * 2. Blocks of answers are identical if their message, their kind, and their number within the kind (of a call: its id) are equal. Other records are
 *    identical if their ids are, if one names the other as its source, or if they have equal content in the same
 *    place: the same number between the same two answers. An id that is only a place in a file proves nothing.
 * 3. Identical events have equal content: each field that neither has redacted is equal. An answer with a differing
 *    block is another answer.
 * 4. An identity belongs to the session without an origin among those that have it, otherwise to the one with the
 *    smallest name.
 */
export class CopyFinder {
  readonly #sessions: SessionToCompare[] = [];
  readonly #items: Item[] = [];
  /** What proves that sessions belong together: the sessions that have it. */
  readonly #evidence = new Map<string, Set<number>>();
  /** By the uuid of a copied record: the record that it names as its source. */
  readonly #sources = new Map<string, string>();
  /** By session: the dispatches that its log names as origins. */
  readonly #origins: Set<string>[] = [];
  /** By session: those that its log says it continues in. */
  readonly #continuedIn = new Map<string, number>();
  readonly #numbers = new Map<string, number>();
  #reading: SessionReading | null = null;

  /** The events that are added next are of this session. Those of a session are added at once, in the order of its log. */
  begin(session: SessionToCompare): void {
    this.end();
    const number = this.#sessions.push(session) - 1;
    this.#numbers.set(session.dispatchId, number);
    this.#origins.push(new Set(session.origin === null ? [] : [session.origin]));
    this.#reading = new SessionReading(number);
  }

  add(event: CapturedEvent): void {
    const reading = this.#reading;
    if (reading === null) return;
    const { continuedInSessionId } = event.data;
    if (event.type === 'system:continued_in' && typeof continuedInSessionId === 'string')
      this.#continuedIn.set(continuedInSessionId, reading.number);
    if (isReadableAs(event, 'session:fork') && event.data.from.dispatchId !== undefined)
      this.#origins[reading.number]?.add(event.data.from.dispatchId);
    reading.add(event);
  }

  /** Ends the session. */
  end(): void {
    const reading = this.#reading;
    this.#reading = null;
    if (reading === null) return;
    for (const [uuid, source] of reading.sources) this.#sources.set(uuid, source);
    for (const name of reading.evidence) {
      const having = this.#evidence.get(name) ?? new Set();
      this.#evidence.set(name, having.add(reading.number));
    }
    for (const item of reading.items()) this.#items.push(item);
  }

  /** The copies by dispatch, of the sessions that have an event of another one or an answer with its id. */
  find(): ReadonlyMap<string, SessionCopies> {
    this.end();
    const found = new Map<number, CopiesOfSession>();
    const of = (session: number) => {
      const known = found.get(session) ?? new CopiesOfSession();
      found.set(session, known);
      return known;
    };
    const related = this.#related();
    const { rows, answers } = this.#shared(related);
    for (const row of rows) for (const equal of this.#parted(row)) this.#note(equal, of);
    for (const answer of answers.values()) {
      const parts = this.#parted(answer);
      for (const equal of parts) this.#note(equal, of);
      for (const { shared } of parts.slice(1))
        of(shared.keys().next().value ?? 0).differing.push(answer.name);
    }
    for (const [session, messageId] of this.#unrelated(related)) of(session).differing.push(messageId);
    const changed = [...found].filter(
      ([, { copied, raised, differing }]) => copied.size + raised.size + differing.length > 0,
    );
    return new Map(changed.map(([session, copies]) => [this.#session(session).dispatchId, copies]));
  }

  #session(number: number): SessionToCompare {
    return this.#sessions[number] as SessionToCompare;
  }

  /** By session: the number of the group of sessions that belong together. */
  #related(): number[] {
    const groups = new Groups(this.#sessions.length);
    for (const at of this.#sessions.keys())
      for (const origin of this.#nextOrigins(at)) groups.join(at, origin);
    const first = new Map<string, number>();
    for (const [name, sessions] of this.#evidence) {
      const key = name.startsWith('u:') ? `u:${this.#sourceOf(name.slice(2))}` : name;
      for (const session of sessions) {
        groups.join(session, first.get(key) ?? session);
        first.set(key, session);
      }
    }
    return this.#sessions.map((_, at) => groups.of(at));
  }

  /** The record that a record was copied from, through all copies. */
  #sourceOf(uuid: string): string {
    const seen = new Set<string>();
    let at = uuid;
    for (
      let next = this.#sources.get(at);
      next !== undefined && !seen.has(next);
      next = this.#sources.get(at)
    ) {
      seen.add(next);
      at = next;
    }
    return at;
  }

  /** The records and the answers that sessions of a group have in common. */
  #shared(related: readonly number[]): { readonly rows: Shared[]; readonly answers: Map<string, Shared> } {
    const groups = new Groups(this.#items.length);
    const first = new Map<string, number>();
    const answers = new Map<string, Shared>();
    for (const [at, item] of this.#items.entries()) {
      const { session, names, messageId } = item;
      if (messageId !== undefined) {
        const key = `${related[session]} ${messageId}`;
        const answer = answers.get(key) ?? { name: messageId, shared: new Map() };
        answers.set(key, answer);
        addTo(answer.shared, item);
        continue;
      }
      for (const name of names) {
        const key = `${related[session]} ${this.#resolved(name)}`;
        groups.join(at, first.get(key) ?? at);
        first.set(key, at);
      }
    }
    const rows = new Map<number, Shared>();
    for (const [at, item] of this.#items.entries()) {
      if (item.messageId !== undefined) continue;
      const row = rows.get(groups.of(at)) ?? { name: '', shared: new Map() };
      rows.set(groups.of(at), row);
      if (!row.shared.has(item.session)) addTo(row.shared, item);
    }
    return { rows: [...rows.values()], answers };
  }

  /** The name of a record that names its source is that of the source. */
  #resolved(name: string): string {
    const [, uuid = '', rest = ''] = /^u:([^ ]*)(.*)$/.exec(name) ?? [];
    return uuid === '' ? name : `u:${this.#sourceOf(uuid)}${rest}`;
  }

  /** Parts of equal content, each with its first session. */
  #parted({ name, shared }: Shared): Shared[] {
    const parts: Shared[] = [];
    let left = shared;
    while (left.size > 0) {
      const owner = this.#ownerOf(left);
      const own = left.get(owner) ?? [];
      const equal = [...left].filter(([session, items]) => session === owner || areEqual(items, own));
      parts.push({ name, shared: this.#fromOwner(new Map(equal)) });
      left = new Map([...left].filter(([session]) => !equal.some(([one]) => one === session)));
    }
    return parts;
  }

  #note({ shared }: Shared, of: (session: number) => CopiesOfSession): void {
    const [first, ...copies] = shared;
    if (first === undefined || copies.length === 0) return;
    const [owner, own] = first;
    const { dispatchId } = this.#session(owner);
    const isKnown = copies.every(([session]) => this.#originsOf(session).includes(owner));
    const [ownCall, ...more] = own.flatMap(({ call }) => call ?? []);
    const byName = new Map(own.map(({ names: [name], id }) => [name, id]));
    const lacking = new Map<number, Item[]>();
    for (const [session, items] of copies) {
      const found = of(session);
      found.isOriginKnown &&= isKnown;
      for (const item of items) {
        const { id, names, messageId } = item;
        const original = messageId === undefined ? own[0]?.id : byName.get(names[0]);
        if (original === undefined) {
          addTo(lacking, item);
          continue;
        }
        found.copied.set(id, dispatchId);
        found.originals.set(id, original);
      }
      const [copy, ...others] = items.flatMap(({ call }) => call ?? []);
      if (copy !== undefined && ownCall !== undefined)
        raise(of(owner).raised, [ownCall, ...more], [copy, ...others]);
    }
    // The copy at the owner can end within the answer.
    if (lacking.size > 0) this.#note({ name: '', shared: this.#fromOwner(lacking) }, of);
  }

  /** The same, with the first session at the beginning. */
  #fromOwner(having: ReadonlyMap<number, Item[]>): Map<number, Item[]> {
    const owner = this.#ownerOf(having);
    return new Map([...having].sort(([one], [other]) => Number(other === owner) - Number(one === owner)));
  }

  /** The answers of sessions that have the id of an answer of a session of another group. */
  #unrelated(related: readonly number[]): [session: number, messageId: string][] {
    const first = new Map<string, number>();
    const found = new Map<string, [number, string]>();
    for (const { session, messageId } of this.#items) {
      if (messageId === undefined) continue;
      const group = related[session] ?? 0;
      const other = first.get(messageId) ?? group;
      first.set(messageId, other);
      if (other !== group) found.set(`${group} ${messageId}`, [session, messageId]);
    }
    return [...found.values()];
  }

  #ownerOf(having: ReadonlyMap<number, unknown>): number {
    const sessions = [...having.keys()];
    const roots = sessions.filter((one) => !this.#originsOf(one).some((origin) => having.has(origin)));
    const unmarked = roots.filter(
      (one) => this.#origins[one]?.size === 0 && this.#nextOrigins(one).length === 0,
    );
    const candidates = [unmarked, roots, sessions].find(({ length }) => length > 0) ?? sessions;
    return candidates.reduce((one, other) =>
      this.#session(one).sessionId <= this.#session(other).sessionId ? one : other,
    );
  }

  /** The sessions among these that a session comes from, as its own log or the log of its origin says. */
  #nextOrigins(session: number): number[] {
    const named = [...(this.#origins[session] ?? [])].map((origin) => this.#numbers.get(origin));
    const continued = this.#continuedIn.get(this.#session(session).sessionId);
    return [...named, continued].filter((one) => one !== undefined);
  }

  /** The sessions that a session comes from, and all that those come from. */
  #originsOf(session: number): number[] {
    const origins = new Set<number>();
    const waiting = this.#nextOrigins(session);
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (origins.has(at)) continue;
      origins.add(at);
      waiting.push(...this.#nextOrigins(at));
    }
    origins.delete(session);
    return [...origins];
  }
}

/** Gives a call what its copy used, if that is more: the copy was written when the answer was complete. Each may be several events, which add up. */
function raise(raised: CopiesOfSession['raised'], own: Calls, copy: Calls): void {
  const [first, ...more] = own;
  const usage = copy.slice(1).reduce((sum, { data }) => addUsage(sum, data.usage), copy[0].data.usage);
  const known = own.map((call) => raised.get(call.id) ?? call);
  if (tokensIn(usage) <= known.reduce((sum, { data }) => sum + tokensIn(data.usage), 0)) return;
  raised.set(first.id, { ...first, data: { ...first.data, usage } });
  const nothing = { inputTokens: 0, outputTokens: 0 };
  for (const call of more) raised.set(call.id, { ...call, data: { ...call.data, usage: nothing } });
}

type Calls = readonly [EventOf<'agent:inference'>, ...EventOf<'agent:inference'>[]];

/** What sessions have in common: a record, or the blocks and the call of an answer. */
interface Shared {
  readonly name: string;
  readonly shared: Map<number, Item[]>;
}

function addTo(shared: Map<number, Item[]>, item: Item): void {
  const items = shared.get(item.session);
  if (items === undefined) shared.set(item.session, [item]);
  else items.push(item);
}

/** Whether no item of one has the name of an item of the other and different content. */
function areEqual(one: readonly Item[], other: readonly Item[]): boolean {
  if (one.length === 1 && other.length === 1 && one[0]?.messageId === undefined)
    return isEqual(one[0]?.content ?? new Map(), other[0]?.content ?? new Map());
  const byName = new Map(other.map((item) => [item.names[0], item.content]));
  return one.every(({ names, content }) => isEqual(content, byName.get(names[0]) ?? new Map()));
}

class CopiesOfSession implements SessionCopies {
  readonly copied = new Map<string, string>();
  readonly originals = new Map<string, string>();
  readonly raised = new Map<string, EventOf<'agent:inference'>>();
  readonly differing: string[] = [];
  isOriginKnown = true;
}

/** A record after an answer, and the records between the two. */
interface RecordBetween {
  readonly item: Item;
  /** The answer, how many records come between, and what the record is. */
  readonly place: string;
  readonly number: number;
  /** The content of the first record after the answer. */
  readonly first: string;
  readonly before: RecordBetween | null;
}

/** A place in the conversation of the session's own agent: its last answer, and the last record since then. */
interface Place {
  readonly answer: string;
  readonly between: RecordBetween | null;
}

const beginning: Place = { answer: '', between: null };

/** One session while its events are added. */
class SessionReading {
  readonly number: number;
  readonly evidence = new Set<string>();
  readonly sources = new Map<string, string>();
  readonly #items: Item[] = [];
  /** How many blocks of each kind a message has so far. */
  readonly #blocks = new Map<string, number>();
  /** The end of the current branch. */
  #place = beginning;
  /** By event of the session's own agent: the conversation through that event. */
  readonly #places = new Map<string, Place>();
  #isOld = false;

  constructor(number: number) {
    this.number = number;
  }

  add(event: CapturedEvent): void {
    const { type, id, messageId, agentId, data } = event;
    const place = agentId === undefined ? this.#placeOf(event) : null;
    if (place !== null) this.#put(event, place);
    if (type === 'agent:inference') {
      if (messageId === undefined) return;
      const call = event as EventOf<'agent:inference'>;
      this.#items.push(this.#item(event, [`i:${messageId}`], { messageId, call }));
      return;
    }
    const uuid = recordOf(id);
    const details = isPlainObject(data.details) ? data.details : {};
    const from = isPlainObject(details.forkedFrom) ? details.forkedFrom.messageUuid : undefined;
    if (uuid !== null && typeof from === 'string' && from !== uuid) this.sources.set(uuid, from);
    this.#isOld = isOldVersion(details.version);
    if (blockTypes.has(type) && messageId !== undefined) {
      this.#addBlock(event, messageId, uuid, place);
      return;
    }
    const isRow = type === 'user:message' || type === 'agent:tool_result';
    if (uuid === null && !(isRow && isPlace(id))) return;
    const item = this.#item(event, uuid === null ? [] : [`u:${uuid} ${type}${id.slice(uuid.length)}`], {});
    if ((isRow || type === 'session:compaction') && uuid !== null) this.#prove(uuid, event, item);
    this.#items.push(item);
    if (!isRow || place === null) return;
    const { answer, between: before } = place;
    const content = JSON.stringify([...item.content]);
    const number = before === null ? 0 : before.number + 1;
    const of = { item, place: `${answer} ${number} ${type} ${content}`, number };
    this.#put(event, { answer, between: { ...of, first: before?.first ?? content, before } });
  }

  /** The place of an event of the session's own agent. */
  #placeOf(event: CapturedEvent): Place {
    const isRewind = isReadableAs(event, 'session:rewind');
    const after = isRewind ? event.data.keptThrough : event.follows;
    if (after === undefined) return this.#place;
    if (after === null) return beginning;
    return this.#places.get(after) ?? { ...this.#place, between: null };
  }

  /** The conversation through an event. The next event follows it, unless it is on another branch. */
  #put(event: CapturedEvent, place: Place): void {
    this.#places.set(event.id, place);
    if (!isLate(event)) this.#place = place;
  }

  /** The items, after the last event. */
  items(): readonly Item[] {
    return this.#items;
  }

  #addBlock(event: CapturedEvent, messageId: string, uuid: string | null, place: Place | null): void {
    const { type, data } = event;
    const key = `${messageId} ${type}`;
    const number = this.#blocks.get(key) ?? 0;
    this.#blocks.set(key, number + 1);
    const name = typeof data.toolCallId === 'string' ? data.toolCallId : number;
    const item = this.#item(event, [`a:${key} ${name}`], { messageId });
    if (uuid !== null) this.#prove(uuid, event, item);
    this.#items.push(item);
    if (place === null || messageId === place.answer) return;
    const { between } = place;
    if (this.#isOld && between !== null)
      this.evidence.add(`p:${messageId} ${between.first} ${JSON.stringify([...item.content])}`);
    // Without a later answer, nothing shows that a record is not repeated.
    for (let one = between; one !== null; one = one.before)
      (one.item.names as string[]).push(`p:${one.place} ${messageId}`);
    this.#put(event, { answer: messageId, between: null });
  }

  /** Records with the same id, or with the same time and content, were written once. */
  #prove(uuid: string, { timestamp, messageId = '' }: CapturedEvent, { content }: Item): void {
    this.evidence.add(`u:${uuid}`);
    if (timestamp !== null && content.size > 0)
      this.evidence.add(`t:${timestamp} ${messageId} ${JSON.stringify([...content])}`);
  }

  #item(event: CapturedEvent, names: string[], more: Partial<Pick<Item, 'messageId' | 'call'>>): Item {
    const { messageId, call } = more;
    const content = call === undefined ? contentOf(event) : new Map();
    return { session: this.number, id: event.id, names, content, messageId, call };
  }
}

/** Whether an event is on another branch than the next event: a record other than a prompt that states what it follows. */
function isLate({ type, follows, data }: CapturedEvent): boolean {
  if (follows === undefined) return false;
  const { kind, hook } = isPlainObject(data.source) ? data.source : {};
  return type !== 'user:message' || kind === 'system' || hook !== undefined;
}

/** The uuid of the record that an event was made of; null if the record has none. */
function recordOf(id: string): string | null {
  const [uuid = ''] = /^[^.:]+/.exec(id) ?? [];
  return uuid === '' || uuid === 'end' || uuid.startsWith('line-') || id.includes(':') ? null : uuid;
}

/** Whether an id is only the place of its record in a file, which differs in a copy. */
function isPlace(id: string): boolean {
  return id.startsWith('line-') || id.startsWith('ordinal:');
}

function contentOf({ type, data }: CapturedEvent): Map<string, number | null> {
  const content = new Map<string, number | null>();
  if (!blockTypes.has(type) && type !== 'user:message' && type !== 'agent:tool_result') return content;
  for (const field of contentFields) {
    const value = data[field];
    if (value === undefined) continue;
    const text = JSON.stringify(value);
    content.set(field, text.includes(redacted) ? null : checksumOf(text));
  }
  return content;
}

/** FNV-1a over the UTF-16 code units. */
function checksumOf(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return sum;
}

/** Whether each field that both have is equal. */
function isEqual(one: Item['content'], other: Item['content']): boolean {
  for (const [field, checksum] of one) {
    const same = other.get(field);
    if (checksum !== null && same !== undefined && same !== null && same !== checksum) return false;
  }
  return true;
}

function tokensIn({ inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }: Usage): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}

/** Numbers that are joined into groups. */
class Groups {
  readonly #up: number[];

  constructor(size: number) {
    this.#up = Array.from({ length: size }, (_, at) => at);
  }

  of(number: number): number {
    let at = number;
    while (this.#up[at] !== at) {
      const up = this.#up[at] as number;
      this.#up[at] = this.#up[up] as number;
      at = up;
    }
    return at;
  }

  join(one: number, other: number): void {
    this.#up[this.of(one)] = this.of(other);
  }
}
