import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';
import { type CheckedParts, type CheckedText, readParts } from './parts-of-texts.ts';

/** The parts of a mapping that say what is public, as they are written. */
export interface PacketMapping {
  /** Whether events are lines of streams, as those of an imported game log: `stream` in their data says of which. */
  readonly recorded?: boolean;
  readonly chat?: { readonly tools?: Readonly<Record<string, string>>; readonly utterances?: boolean };
  readonly whispers?: {
    readonly tools?: Readonly<Record<string, { readonly message: string }>>;
    readonly piecesOfText?: boolean;
  };
  /** How agents say several things in one text. */
  readonly parts?: CheckedParts;
  readonly actions?: Readonly<
    Record<string, { readonly payload?: Readonly<Record<string, string>> | undefined }>
  >;
  readonly names?: { readonly others?: Readonly<Record<string, string>> };
}

/** An event that a packet can cite. */
export interface Candidate {
  readonly id: string;
  readonly agentId: string;
  readonly position: number;
  readonly isCall: boolean;
  /** Whether its log says that it was public. */
  readonly isStated?: boolean;
  /** The kinds of lines that it can have. */
  readonly kinds: ReadonlySet<string>;
  /** The agents that received it. */
  readonly receivers: ReadonlySet<string>;
  /** What a line of a kind may show of it. */
  texts: (kind: string) => readonly string[];
}

interface Noted extends Candidate {
  texts: Candidate['texts'];
  readonly kinds: Set<string>;
  readonly receivers: Set<string>;
}

interface OpenCall {
  readonly event: CapturedEvent;
  readonly position: number;
  input: JsonValue | undefined;
  readonly receivers: Set<string>;
}

/** What the log of a game says and does, read for a check alone. */
export class GameReading {
  readonly #mapping: PacketMapping;
  readonly #candidates = new Map<string, Noted>();
  readonly #messages = new Map<string, Noted[]>();
  readonly #texts: [Noted, messageId: string][] = [];
  readonly #calls = new Map<string, OpenCall>();
  readonly #pieces = new Map<string, OpenCall>();
  readonly #created = new Map<string, { readonly name: string; readonly from: number; until: number }>();
  /** By player: the position of the last thing that it said or did in the packet. Others need not receive anything. */
  readonly lastDeed = new Map<string, number>();
  readonly #agents = new Set<string>();
  /** Whether an event lists players: one that is created later can be among them. */
  #hasList = false;
  /** The messages with a call, whose text goes to nobody. */
  readonly #withCalls = new Set<string>();
  /** By event: the parts of the message that its text belongs to. */
  readonly #parts = new Map<string, CheckedText>();
  readonly #receivers = new Map<string, Set<string>>();
  /** By message: its text. */
  readonly #whole = new Map<string, string>();
  /** Words that texts have in lower case. */
  readonly #lowerCase = new Set<string>();
  #position = -1;

  constructor(mapping: PacketMapping) {
    this.#mapping = mapping;
  }

  get candidates(): Iterable<Candidate> {
    return this.#candidates.values();
  }

  add(event: CapturedEvent): void {
    this.#position += 1;
    const { type, agentId = '', id, messageId, data, substance, cause } = event;
    if (/^(?:agent|user):/.test(type)) this.#agents.add(agentId);
    this.#hasList ||= [data, ...Object.values(data)].some(listsPlayers);
    for (const text of textsIn(data))
      for (const word of text.match(/\b\p{Ll}+\b/gu) ?? []) this.#lowerCase.add(word);
    if (this.#mapping.recorded === true && this.#addRecorded(event)) return;
    if (type === 'agent:created')
      this.#created.set(agentId, { name: String(data.name ?? ''), from: this.#position, until: Infinity });
    else if (type === 'agent:terminated' || type === 'agent:revived') {
      const created = this.#created.get(agentId);
      if (created !== undefined) created.until = type === 'agent:revived' ? Infinity : this.#position;
    } else if (type === 'agent:text' || type === 'agent:thinking') {
      const isText = type === 'agent:text';
      const noted = this.#note(
        event,
        false,
        () => [String(data.text ?? '')],
        this.#position,
        this.#heardBy(event),
      );
      noted.kinds.add('reasoning');
      if (isText && this.#mapping.chat?.utterances === true) noted.kinds.add('chat');
      if (isText) {
        const message = `${agentId} ${messageId ?? id}`;
        this.#whole.set(message, `${this.#whole.get(message) ?? ''}${String(data.text ?? '')}`);
        this.#texts.push([noted, messageId ?? id]);
        for (const key of new Set([id, messageId ?? id]))
          this.#messages.set(key, [...(this.#messages.get(key) ?? []), noted]);
      }
    } else if (type === 'agent:tool_call') {
      if (messageId !== undefined) this.#withCalls.add(messageId);
      const input = data.input;
      this.#calls.set(`${agentId} ${data.toolCallId}`, {
        event,
        position: this.#position,
        input,
        receivers: new Set(),
      });
    } else if (type === 'harness:hook_decision') {
      const call = this.#calls.get(`${agentId} ${data.toolCallId}`);
      if (call !== undefined && data.decision === 'alter' && data.input !== undefined)
        call.input = data.input;
    } else if (type === 'agent:tool_result') this.#finish(event);
    else if (type === 'agent:piece_of_text') {
      for (const call of this.#calls.values())
        if ([cause].flat().includes(call.event.id)) this.#pieces.set(id, call);
    } else if (type === 'user:message') {
      for (const noted of this.#messages.get(substance ?? '') ?? []) noted.receivers.add(agentId);
      if (substance !== undefined) this.#pieces.get(substance)?.receivers.add(agentId);
      for (const call of this.#calls.values())
        if ([cause].flat().includes(call.event.id)) call.receivers.add(agentId);
    }
  }

  /** Notes an event that says of which stream it is. */
  #addRecorded(event: CapturedEvent): boolean {
    const { stream, action, text, payload } = event.data;
    const kind = { chat: 'chat', agent_reasoning: 'reasoning', agent_actions: 'action' }[String(stream)];
    const note = (of: string, shown: JsonValue) => {
      const texts = textsIn(shown);
      this.#note(event, false, () => texts, undefined, undefined, true).kinds.add(of);
    };
    if (kind !== undefined) note(kind, kind === 'action' ? (payload ?? null) : (text ?? null));
    else if (typeof action === 'object' && action !== null && !Array.isArray(action))
      note('action', action.payload ?? null);
    return stream !== undefined;
  }

  /** After the last event: text beside a call is a thought, and any other one an utterance. */
  end(): void {
    const { parts } = this.#mapping;
    for (const [noted, messageId] of this.#texts) {
      if (parts === undefined || this.#withCalls.has(messageId))
        noted.kinds.delete(this.#withCalls.has(messageId) ? 'chat' : 'reasoning');
      else this.#takeParts(noted, readParts(this.#whole.get(`${noted.agentId} ${messageId}`) ?? '', parts));
    }
  }

  /** The tags, keys and headings of texts that the mapping does not name. */
  get unnamed(): readonly string[] {
    return [...new Set([...this.#parts.values()].flatMap(({ unnamed }) => unnamed))];
  }

  /** The agents that received a message: of a text in parts, those that received any of its blocks. */
  #heardBy({ id, agentId = '', messageId = id }: CapturedEvent): Set<string> {
    if (this.#mapping.parts === undefined) return new Set();
    const key = `${agentId} ${messageId}`;
    const known = this.#receivers.get(key) ?? new Set();
    this.#receivers.set(key, known);
    return known;
  }

  #takeParts(noted: Noted, read: CheckedText): void {
    this.#parts.set(noted.id, read);
    noted.kinds.delete('chat');
    if (read.said.length > 0) noted.kinds.add('chat');
    if (read.acts) noted.kinds.add('action');
    const whole = noted.texts;
    noted.texts = (kind) => (kind === 'chat' ? read.said : kind === 'action' ? [] : whole(kind));
  }

  /** Whether an utterance reached each player that existed and said or did something later. A call without any delivery went to all. */
  isPublic(candidate: Candidate): boolean {
    return this.#hasReached(
      candidate,
      [...this.lastDeed].flatMap(([agentId, deed]) => (deed > candidate.position ? agentId : [])),
    );
  }

  /** Whether an utterance reached every agent of the log that existed or can be a player of a list. */
  hasReachedAll(candidate: Candidate): boolean {
    return this.#hasReached(candidate, this.#agents, this.#hasList);
  }

  /** Whether the mapping says that an agent does not play. */
  isOther(agentId: string): boolean {
    const { others = {} } = this.#mapping.names ?? {};
    const name = this.#created.get(agentId)?.name;
    return Object.hasOwn(others, agentId) || (name !== undefined && Object.hasOwn(others, name));
  }

  /** The names and ids of agents in a text, word for word. A name that the log also writes in lower case can be a common word. */
  namesIn(text: string): string[] {
    const names = [...this.#created].flatMap(([agentId, { name }]) => [agentId, name]);
    return names.filter((name) => {
      const isWord = /^\p{L}+$/u.test(name);
      if (name.length < 3 || (isWord && this.#lowerCase.has(name.toLowerCase()))) return false;
      const at = text.indexOf(name);
      return at >= 0 && !isLetter(text[at - 1]) && !isLetter(text[at + name.length]);
    });
  }

  /** Names that the log also writes in lower case. */
  get commonNames(): readonly string[] {
    const names = [...this.#created.values()].map(({ name }) => name);
    return [...new Set(names)].filter(
      (name) => /^\p{L}+$/u.test(name) && this.#lowerCase.has(name.toLowerCase()),
    );
  }

  /** The texts of an event that no line of a packet may show. */
  privateTexts(event: CapturedEvent, isInternal: boolean): readonly string[] {
    const { type, id, agentId = '', data, messageId = id } = event;
    // A judge quotes packets.
    if (type === 'judge:verdict') return [];
    const parts = this.#parts.get(id);
    if (parts !== undefined) {
      const key = `${agentId} ${messageId}`;
      const whole = this.#whole.get(key);
      // The first block stands for the whole message.
      this.#whole.delete(key);
      if (whole === undefined) return [];
      return isInternal ? parts.whispered : [whole];
    }
    const noted = this.#candidates.get(id);
    const shown = new Set(
      [...(noted?.kinds ?? [])].flatMap((kind) => {
        if (noted === undefined || (kind === 'chat' && !this.isPublic(noted))) return [];
        if (kind === 'reasoning' && !isInternal) return [];
        return kind !== 'chat' && this.isOther(agentId) ? [] : noted.texts(kind);
      }),
    );
    // A name that is given is looked for as a name.
    const texts = textsIn(type === 'agent:created' ? { ...data, name: null } : data);
    const named = isInternal && type === 'agent:tool_call' ? this.#declaredTexts(data) : [];
    return texts.filter((text) => !shown.has(text) && !named.includes(text));
  }

  /** The texts of a call that its action shows: reasoning has the call in this form, whether it was carried out or not. */
  #declaredTexts({ tool, input }: JsonObject): readonly string[] {
    const { actions = {} } = this.#mapping;
    const payload = Object.hasOwn(actions, String(tool)) ? actions[String(tool)]?.payload : undefined;
    const fields = (typeof input === 'object' && input !== null ? input : {}) as JsonObject;
    return Object.values(payload ?? {}).flatMap((field) => textsIn(fields[field] ?? null));
  }

  #hasReached(
    { agentId, receivers, position, isCall, isStated }: Candidate,
    agentIds: Iterable<string>,
    withLater = false,
  ): boolean {
    if (isStated === true || (isCall && receivers.size === 0)) return true;
    return [...agentIds].every((other) => {
      if (other === agentId || receivers.has(other) || this.isOther(other)) return true;
      // An agent whose creation is not recorded was perhaps there from the beginning.
      const { from = -1, until = Number.POSITIVE_INFINITY } = this.#created.get(other) ?? {};
      return (from > position && !withLater) || until < position;
    });
  }

  /** A call that was carried out. */
  #finish({ agentId = '', data }: CapturedEvent): void {
    const key = `${agentId} ${data.toolCallId}`;
    const call = this.#calls.get(key);
    this.#calls.delete(key);
    if (call === undefined || data.status !== 'completed' || call.input === undefined) return;
    const { tools = {} } = this.#mapping.chat ?? {};
    const { actions = {} } = this.#mapping;
    const tool = String(call.event.data.tool);
    const input = (typeof call.input === 'object' && call.input !== null ? call.input : {}) as JsonObject;
    const field = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
    const message = field === undefined ? undefined : input[field];
    const action = Object.hasOwn(actions, tool) ? actions[tool] : undefined;
    if (typeof message !== 'string' && action === undefined) return;
    const payload = Object.values(action?.payload ?? {}).flatMap((name) =>
      textsIn({ value: input[name] ?? null }),
    );
    const noted = this.#note(
      call.event,
      true,
      (kind) => (kind === 'chat' ? [String(message)] : payload),
      call.position,
      call.receivers,
    );
    if (typeof message === 'string') noted.kinds.add('chat');
    if (action !== undefined) noted.kinds.add('action');
  }

  #note(
    { id, agentId = '' }: CapturedEvent,
    isCall: boolean,
    texts: Candidate['texts'],
    position = this.#position,
    receivers = new Set<string>(),
    isStated = false,
  ): Noted {
    const noted = { id, agentId, position, isCall, isStated, kinds: new Set<string>(), receivers, texts };
    this.#candidates.set(id, noted);
    return noted;
  }
}

/** All texts of a value, and the keys of its objects. */
function textsIn(value: JsonValue): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return Object.entries(value).flatMap(([key, item]) => [key, ...textsIn(item ?? null)]);
}

function listsPlayers(value: JsonValue | undefined): boolean {
  return typeof value === 'object' && value !== null && ('players' in value || 'living_players' in value);
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character);
}
