import { createHash, type Hash } from 'node:crypto';
import {
  type CapturedEvent,
  type EventOf,
  isPlainObject,
  type JsonObject,
  type JsonValue,
  type TaskSource,
  type TextSink,
} from '@hansard/events';
import { z } from 'zod';
import { type Cast, readCast } from '../game-streams/cast.ts';
import { createGameStreams } from '../game-streams/create-game-streams.ts';
import {
  type GameMapping,
  type GameMappingInput,
  parseGameMapping,
  textActionsOf,
} from '../game-streams/game-mapping.ts';
import { type GameStream, type StreamLine, shaped } from '../game-streams/stream-lines.ts';
import type { StreamedRun } from '../game-streams/write-game-streams.ts';
import type { NameSuspect } from './names/name-suspects.ts';
import { type Pseudonyms, readPseudonyms, sha256 } from './pseudonyms.ts';

/**
 * The material that a judge receives (G4). `external`: speech and actions. `internal`: the same and the reasoning.
 */
export const judgePasses = ['external', 'internal'] as const;

const kinds: Readonly<Partial<Record<GameStream, PacketKind>>> = {
  chat: 'chat',
  agent_actions: 'action',
  agent_reasoning: 'reasoning',
};

/** One line of a packet: everything that a judge sees of one event. */
export const packetLineSchema = z.strictObject({
  /** Counted from 1, without gaps. Verdicts cite it. */
  n: z.number().int().positive(),
  turn: z.string(),
  /** A pseudonym. */
  speaker: z.string(),
  kind: z.enum(['chat', 'action', 'reasoning']),
  text: z.string(),
  /** A hash that identifies the event for readers with the log, and reveals nothing to others. */
  ref: z.string(),
});

const count = z.number().int().nonnegative();

/** The contents and omissions of a packet, for its reader. Every number is counted from what was read and written. */
export const packetManifestSchema = z.strictObject({
  pass: z.enum(judgePasses),
  /** The events of the log that were read, verdicts of judges left out. */
  events: count,
  lines: count,
  /** The lines of each kind. */
  kinds: z.strictObject({ chat: count, action: count, reasoning: count.optional() }),
  /** What was found in the log and left out. */
  excluded: z.strictObject({
    /** The lines that the packet would have of each stream of the game that is not in it. */
    streams: z.record(z.string(), count),
    /** Actions and thoughts of agents that do not play. */
    not_players: count,
    /** Calls of tools without an action in the mapping. Reasoning has the others as the mapping shows actions. */
    calls: count,
    /** Calls of actions whose input the log does not have, by tool. */
    calls_without_input: z.record(z.string(), count),
    /** Events that are copied from another session. Their lines are in the packets of that session. */
    copied_events: count,
    /** Other events of the log, except verdicts, that no line of the packet names. Their types are left out: a judge could guess from them what is hidden. */
    events_without_line: count,
  }),
  /** The number of names replaced within texts. */
  redactions: count,
  /** The number of actions without their input, because the mapping does not declare any of it as public. */
  bare_actions: count,
  players: z.array(z.string()),
  pseudonyms_sha256: z.string(),
  sha256: z.string(),
  format: z.literal('hansard-judge-packet/1'),
});

/** A packet under construction, event by event. */
export interface JudgePacketWriter {
  /** The lines that an event adds, each with its event. */
  add(event: CapturedEvent): WrittenLine[];
  finish(): WrittenLine[];
  /** Calls without a line, because the log lacks their input; by tool. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** What texts have that `parts` of the mapping does not name, or that is not whole, such as `unnamed <plan>`; how often. */
  readonly faults: Readonly<Record<string, number>>;
  /** The players that events of the game name, but that match no agent: names, which no packet may show. */
  readonly unmatchedPlayers: readonly string[];
  /** After `finish`: the manifest of all lines. */
  manifest(): PacketManifest;
}

export interface WrittenLine {
  readonly line: PacketLine;
  readonly eventId: string;
}

export interface JudgePacketOptions {
  readonly pass: JudgePass;
  readonly mapping: GameMappingInput;
  readonly dispatchId: string;
  readonly pseudonyms: Pseudonyms;
  /** The cast of the whole log. */
  readonly cast: Cast;
  /**
   * The events that are copied from another dispatch. Their lines are only in the packets of that dispatch. Null or
   * absent: none.
   */
  readonly copied?: ReadonlyMap<string, string> | null;
}

/** @throws FORMAT_MAPPING_INVALID */
export function createJudgePacket(options: JudgePacketOptions): JudgePacketWriter {
  return new PacketWriter(options);
}

class PacketWriter implements JudgePacketWriter {
  readonly #pass: JudgePass;
  readonly #dispatchId: string;
  readonly #pseudonyms: Pseudonyms;
  readonly #streams: ReturnType<typeof createGameStreams>;
  readonly #bareTypes: ReadonlySet<string>;
  readonly #hash: Hash = createHash('sha256');
  readonly #kinds: PacketManifest['kinds'];
  readonly #excluded = new Map<string, number>();
  readonly #verdicts = new Set<string>();
  /** The events that a line of the packet names. */
  readonly #named = new Set<string>();
  readonly #copied: ReadonlyMap<string, string>;
  #copies = 0;
  #events = 0;
  #lines = 0;
  #notPlayers = 0;
  #calls = 0;
  #redactions = 0;
  #bareActions = 0;

  constructor({ pass, dispatchId, pseudonyms, cast, copied, mapping: given }: JudgePacketOptions) {
    const mapping = parseGameMapping(given);
    // Only in the form of the actions: their input may hold whispers and fields that no action shows.
    const callText = (call: EventOf<'agent:tool_call'>, agent: string) => {
      const text = declaredCall(mapping, call, agent);
      if (text === null && mapping.reasoning.toolCalls) this.#calls += 1;
      return text;
    };
    this.#pass = pass;
    this.#dispatchId = dispatchId;
    this.#pseudonyms = pseudonyms;
    this.#copied = copied ?? new Map();
    this.#streams = createGameStreams(mapping, { runId: dispatchId, cast, callText });
    this.#bareTypes = typesWithoutShape(mapping);
    this.#kinds = { chat: 0, action: 0, ...(pass === 'internal' && { reasoning: 0 }) };
  }

  get leftOut() {
    return this.#streams.leftOut;
  }

  get faults() {
    return this.#streams.faults;
  }

  get unmatchedPlayers() {
    return this.#streams.unmatchedPlayers;
  }

  add(event: CapturedEvent): WrittenLine[] {
    if (event.type === 'judge:verdict') this.#verdicts.add(event.id);
    else {
      this.#events += 1;
      if (this.#copied.has(event.id)) this.#copies += 1;
    }
    return this.#streams.add(event).flatMap((line) => this.#toPacket(line));
  }

  finish(): WrittenLine[] {
    return this.#streams.finish().flatMap((line) => this.#toPacket(line));
  }

  manifest(): PacketManifest {
    return {
      format: 'hansard-judge-packet/1',
      pass: this.#pass,
      events: this.#events,
      lines: this.#lines,
      kinds: { ...this.#kinds },
      excluded: {
        streams: Object.fromEntries([...this.#excluded].sort()),
        not_players: this.#notPlayers,
        calls: this.#calls,
        calls_without_input: { ...this.#streams.leftOut },
        copied_events: this.#copies,
        events_without_line: this.#events - this.#copies - this.#named.size,
      },
      redactions: this.#redactions,
      bare_actions: this.#bareActions,
      players: [...this.#pseudonyms.players],
      pseudonyms_sha256: this.#pseudonyms.sha256,
      sha256: this.#hash.copy().digest('hex'),
    };
  }

  #toPacket(streamed: StreamLine): WrittenLine[] {
    const { event_id: eventId } = streamed.line;
    if (this.#copied.has(eventId)) return [];
    const kind = packetKind(streamed.stream, this.#pass);
    const speaker = speakerOf(streamed);
    if (kind === null) {
      this.#excluded.set(streamed.stream, (this.#excluded.get(streamed.stream) ?? 0) + 1);
      return [];
    }
    if (kind !== 'chat' && this.#pseudonyms.isNoPlayer(speaker)) {
      this.#notPlayers += 1;
      return [];
    }
    if (!this.#verdicts.has(eventId)) this.#named.add(eventId);
    this.#lines += 1;
    this.#kinds[kind] = (this.#kinds[kind] ?? 0) + 1;
    const line: PacketLine = {
      n: this.#lines,
      turn: 'turn' in streamed.line ? this.#hide(streamed.line.turn) : '',
      speaker: this.#pseudonyms.of(speaker),
      kind,
      text: this.#textOf(streamed),
      ref: refOf(this.#dispatchId, eventId),
    };
    this.#hash.update(`${JSON.stringify(line)}\n`);
    return [{ line, eventId }];
  }

  #textOf({ stream, line }: StreamLine): string {
    if (stream === 'chat') return this.#hide(line.message);
    if (stream === 'agent_reasoning') return this.#hide(line.thinking_process);
    if (stream !== 'agent_actions') throw new TypeError(`${stream} is not part of packets.`);
    if (!this.#bareTypes.has(line.action_type))
      return `${line.action_type} ${hiddenJson(line.payload, (text) => this.#hide(text))}`;
    this.#bareActions += 1;
    return line.action_type;
  }

  #hide(text: string): string {
    const hidden = this.#pseudonyms.hide(text);
    this.#redactions += hidden.count;
    return hidden.text;
  }
}

/** A call as the mapping shows its action; null: it is none. */
function declaredCall(
  { actions }: GameMapping,
  { data: { tool, input } }: EventOf<'agent:tool_call'>,
  agent: string,
): string | null {
  const action = Object.hasOwn(actions, tool) ? actions[tool] : undefined;
  if (action === undefined) return null;
  const fields = isPlainObject(input) ? (input as JsonObject) : {};
  return action.payload === undefined
    ? tool
    : `${tool}(${JSON.stringify(shaped(action.payload, fields, agent))})`;
}

/** The reference to an event in packets. */
function refOf(dispatchId: string, eventId: string): string {
  return sha256(`${dispatchId}\n${eventId}`).slice(0, 16);
}

/** A whole input may hold private text, such as the reason that a model gives with its vote. */
function typesWithoutShape(mapping: GameMapping): ReadonlySet<string> {
  const bare = Object.values(mapping.actions).filter(({ payload }) => payload === undefined);
  const inTexts = [...textActionsOf(mapping)].flatMap(([type, shape]) => (shape === null ? type : []));
  return new Set([...bare.map(({ type }) => type), ...inTexts]);
}

function speakerOf({ line }: StreamLine): string {
  return 'speaker' in line ? line.speaker : 'agent' in line ? line.agent : '';
}

/** A JSON value as text. Names in strings and keys are replaced before JSON escapes are added. */
function hiddenJson(value: JsonValue, hide: (text: string) => string): string {
  if (Array.isArray(value)) return `[${value.map((item) => hiddenJson(item, hide)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(
      ([key, item]) => `${JSON.stringify(hide(key))}:${hiddenJson(item ?? null, hide)}`,
    );
    return `{${entries.join(',')}}`;
  }
  if (typeof value === 'string') return JSON.stringify(hide(value));
  const plain = JSON.stringify(value);
  const hidden = hide(plain);
  return hidden === plain ? plain : JSON.stringify(hidden);
}

export interface WrittenPackets extends Omit<StreamedRun, 'untimedLines' | 'omitted'> {
  /** Of the external and the internal packet. Without reasoning there is no internal one: it would be the same. */
  readonly manifests: readonly PacketManifest[];
  /** What texts have that `parts` of the mapping does not name, or that is not whole; how often. */
  readonly faults: Readonly<Record<string, number>>;
  /** What still looks like a name in the packets. The places are lines of the internal packet. */
  readonly suspects: readonly NameSuspect[];
}

/**
 * Both packets of a dispatch, each as a file `PASS.jsonl` with its `PASS.manifest.json`. `open` creates a file.
 * @throws FORMAT_MAPPING_INVALID, FORMAT_NAME_TOO_LONG
 */
export async function writeJudgePackets(
  { readEvents, copiedEvents }: Pick<TaskSource, 'readEvents' | 'copiedEvents'>,
  dispatchId: string,
  open: (name: string) => TextSink,
  mapping: GameMapping,
): Promise<WrittenPackets> {
  const cast = await readCast(readEvents(dispatchId), mapping);
  const pseudonyms = await readPseudonyms(readEvents(dispatchId), mapping, dispatchId);
  const copied = (await copiedEvents?.(dispatchId)) ?? null;
  const suspects = pseudonyms.suspects();
  const packets = judgePasses.map((pass) => {
    const packet = createJudgePacket({ pass, mapping, dispatchId, pseudonyms, cast, copied });
    let sink: TextSink | null = null;
    let waiting: string[] = [];
    const write = async (lines: readonly WrittenLine[]) => {
      for (const { line } of lines) {
        waiting.push(`${JSON.stringify(line)}\n`);
        // The internal packet has every text of the external one.
        if (pass === 'internal')
          for (const text of [line.turn, line.text]) suspects.add(text, `line ${line.n}`);
      }
      // An internal packet without reasoning would be the external one.
      if (sink === null && (pass === 'external' || lines.some(({ line }) => line.kind === 'reasoning')))
        sink = open(`${pass}.jsonl`);
      if (sink === null) return;
      for (const text of waiting) await sink.write(text);
      waiting = [];
    };
    return { pass, packet, write, isWritten: () => sink !== null };
  });
  for (const { write } of packets) await write([]);
  for await (const event of readEvents(dispatchId))
    for (const { packet, write } of packets) await write(packet.add(event));
  const manifests: PacketManifest[] = [];
  for (const { pass, packet, write, isWritten } of packets) {
    await write(packet.finish());
    if (!isWritten()) continue;
    const manifest = packet.manifest();
    manifests.push(manifest);
    await open(`${pass}.manifest.json`).write(`${JSON.stringify(manifest, null, 2)}\n`);
  }
  const [first] = packets;
  const { leftOut = {}, unmatchedPlayers = [], faults = {} } = first?.packet ?? {};
  return { dispatchId, manifests, leftOut, unmatchedPlayers, faults, suspects: suspects.list() };
}

export type JudgePass = (typeof judgePasses)[number];

/** The kinds of lines in a packet, and their streams. */
type PacketKind = 'chat' | 'action' | 'reasoning';

/** The kind of a stream's line in the packet of a pass; null if the line is left out. */
function packetKind(stream: GameStream, pass: JudgePass): PacketKind | null {
  const kind = kinds[stream] ?? null;
  return kind === 'reasoning' && pass === 'external' ? null : kind;
}

type PacketLine = z.infer<typeof packetLineSchema>;

export type PacketManifest = z.infer<typeof packetManifestSchema>;
