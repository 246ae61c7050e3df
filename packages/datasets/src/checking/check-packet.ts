import { createHash } from 'node:crypto';
import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';
import { GameReading, type PacketMapping } from './game-reading.ts';
import { tagsIn } from './parts-of-texts.ts';

/** The number of words in a row that are found again, and the number of characters of one word that is. */
const run = 4;

const rareWord = 12;

/** A fault of a packet. `line`: its number, from 1; null for the whole packet. */
export interface PacketProblem {
  readonly kind:
    | 'malformed'
    | 'numbering'
    | 'counts'
    | 'checksum'
    | 'speaker'
    | 'unknown_event'
    | 'wrong_event'
    | 'copied'
    | 'not_public'
    | 'private_words'
    | 'name'
    | 'missing'
    | 'unnamed';
  readonly line: number | null;
  /** The event that the line cites; null: none. */
  readonly ref: string | null;
  readonly message: string;
}

export interface CheckedPacket {
  /** `external` or `internal`. */
  readonly pass: string;
  readonly lines: number;
  readonly events: number;
  readonly problems: readonly PacketProblem[];
  /** What this check can't show, in words: the number of private texts that it can't find again, and the names that it does not look for. */
  readonly notProved: readonly string[];
}

/** A packet as it lies in its files, and its log. */
export interface PacketToCheck {
  /** The content of `external.jsonl` or `internal.jsonl`. */
  readonly lines: string;
  /** The content of its manifest. */
  readonly manifest: string;
  readonly dispatchId: string;
  /** The mapping as it was written, of which only the fields are read that say what is public. */
  readonly mapping: PacketMapping;
  /** The events that are copied from another dispatch. No line may be of such an event. Null or absent: none. */
  readonly copied?: ReadonlyMap<string, string> | null;
  /** Reads the log from its beginning. Called twice. */
  readEvents(): AsyncIterable<CapturedEvent>;
}

/**
 * Checks a packet against its log, without any code of the program that wrote it (a test holds that), so that no mistake is in both. It is for
 * `hansard judge check` alone: numbers and checksum of the manifest; that each line cites an event that
 * may be in it, by a speaker that has one pseudonym; that nothing that some players did not receive is said in it; that no run of words of a private text is in
 * it that no public text has; that no agent is named; and that no public line is missing.
 */
export async function checkPacket(packet: PacketToCheck): Promise<CheckedPacket> {
  const check = new PacketCheck(packet);
  const reading = new GameReading(packet.mapping);
  let events = 0;
  let copies = 0;
  for await (const event of packet.readEvents()) {
    // A verdict is imported after the packet that it is about.
    if (event.type !== 'judge:verdict') events += 1;
    if (packet.copied?.has(event.id) === true) copies += 1;
    reading.add(event);
  }
  reading.end();
  check.compare(reading, { events, copied_events: copies });
  for await (const event of packet.readEvents()) check.lookForPrivateWords(reading, event);
  const { pass, lineCount: lines } = check;
  return { pass, lines, events, problems: check.problems(), notProved: check.notProved(reading) };
}

/** The counts of a log that a manifest states. */
interface LogCounts {
  readonly events: number;
  readonly copied_events: number;
}

interface Line {
  readonly n: number;
  readonly turn: string;
  readonly speaker: string;
  readonly kind: string;
  readonly text: string;
  readonly ref: string;
}

class PacketCheck {
  readonly #problems: PacketProblem[] = [];
  readonly #seen = new Set<string>();
  /** Private texts without a run of words. */
  #short = 0;
  readonly #dispatchId: string;
  readonly #copied: ReadonlyMap<string, string>;
  readonly #mapping: PacketMapping;
  readonly #lines: Line[] = [];
  readonly #manifest: JsonObject;
  readonly #text: string;
  /** By run of words: the lines of the packet that have it. Those that a public text has are removed. */
  readonly #runs = new Map<string, number[]>();
  readonly #privateRuns = new Map<number, string>();

  constructor({ lines, manifest, dispatchId, copied, mapping }: PacketToCheck) {
    this.#mapping = mapping;
    this.#text = lines;
    this.#copied = copied ?? new Map();
    this.#dispatchId = dispatchId;
    this.#manifest = this.#object(manifest, 'The manifest') ?? {};
    for (const [at, text] of lines.split('\n').entries()) {
      if (text === '' && at === lines.split('\n').length - 1) continue;
      const line = this.#object(text, `Line ${at + 1}`, at + 1);
      if (line === null) continue;
      if (isLine(line)) this.#lines.push(line as unknown as Line);
      else this.#add('malformed', at + 1, `Line ${at + 1} does not have the fields of a packet line.`);
    }
    for (const { n, text } of this.#lines) for (const one of wordRuns(text)) push(this.#runs, one, n);
  }

  get pass(): string {
    return String(this.#manifest.pass ?? 'unknown');
  }

  get lineCount(): number {
    return this.#lines.length;
  }

  problems(): PacketProblem[] {
    for (const [line, words] of this.#privateRuns)
      this.#add('private_words', line, `Line ${line} has words of a private text: "${words}".`);
    this.#privateRuns.clear();
    return this.#problems;
  }

  compare(reading: GameReading, counted: LogCounts): void {
    this.#checkManifest(counted);
    const byRef = new Map(
      [...reading.candidates].map((candidate) => [this.#refOf(candidate.id), candidate] as const),
    );
    const cited = new Set<string>();
    const pseudonyms = new Map<string, string>();
    const players = new Set(listOf(this.#manifest.players));
    for (const { speaker, ref } of this.#lines) {
      const candidate = byRef.get(ref);
      if (candidate === undefined || !players.has(speaker)) continue;
      const last = reading.lastDeed.get(candidate.agentId) ?? -1;
      reading.lastDeed.set(candidate.agentId, Math.max(last, candidate.position));
    }
    for (const { n, turn, speaker, kind, ref, text } of this.#lines) {
      const candidate = byRef.get(ref);
      cited.add(`${kind} ${ref}`);
      if (candidate === undefined) {
        this.#add(
          'unknown_event',
          n,
          `Line ${n} cites an event that the log does not have, or that says and does nothing.`,
        );
        continue;
      }
      if (this.#copied.has(candidate.id))
        this.#add('copied', n, `Line ${n} is of an event that is copied from another session.`);
      if (!candidate.kinds.has(kind))
        this.#add(
          'wrong_event',
          n,
          `Line ${n} is ${kind}, but its event is ${[...candidate.kinds].join(' or ') || 'private'}.`,
        );
      else if (kind === 'chat' && !reading.isPublic(candidate))
        this.#add(
          'not_public',
          n,
          `Line ${n} was not received by every player that says or does something after it.`,
        );
      if (kind !== 'chat' && reading.isOther(candidate.agentId))
        this.#add('speaker', n, `Line ${n} is of an agent that does not play.`);
      if (kind !== 'chat' && !players.has(speaker))
        this.#add(
          'speaker',
          n,
          `Line ${n} is of ${JSON.stringify(speaker)}, which is not a player of the manifest.`,
        );
      if (players.has(speaker)) {
        const known = pseudonyms.get(speaker) ?? candidate.agentId;
        if (known !== candidate.agentId)
          this.#add('speaker', n, `Line ${n}: ${speaker} stands for two agents.`);
        pseudonyms.set(speaker, known);
      }
      for (const name of reading.namesIn(`${turn}\n${text}`))
        this.#add('name', n, `Line ${n} names an agent: ${JSON.stringify(name)}.`);
      for (const publicText of candidate.texts(kind))
        for (const one of wordRuns(publicText)) this.#runs.delete(one);
    }
    this.#findMissing(reading, cited);
    this.#findUnnamed(reading);
  }

  /** Tags, keys and headings that the mapping does not name: what is in them is perhaps not for all. */
  #findUnnamed({ unnamed }: GameReading): void {
    for (const name of unnamed)
      this.#add(
        'unnamed',
        null,
        `Texts have ${JSON.stringify(name)}, which the parts of the mapping do not name.`,
      );
    for (const { n, kind, text } of this.#lines) {
      if (kind !== 'chat') continue;
      for (const name of new Set(tagsIn(text, this.#mapping.parts)))
        this.#add(
          'unnamed',
          n,
          `Line ${n} has the tag ${JSON.stringify(name)}, which the mapping does not name.`,
        );
      if (isObject(text))
        this.#add('unnamed', n, `Line ${n} is a JSON object, of which the mapping names no key.`);
    }
  }

  #findMissing(reading: GameReading, cited: ReadonlySet<string>): void {
    for (const candidate of reading.candidates)
      for (const kind of candidate.kinds)
        if (
          !this.#copied.has(candidate.id) &&
          ((kind === 'action' && (candidate.isCall || candidate.isStated === true)) ||
            (kind === 'chat' &&
              (candidate.isCall || candidate.isStated === true) &&
              reading.hasReachedAll(candidate))) &&
          !reading.isOther(candidate.agentId) &&
          !cited.has(`${kind} ${this.#refOf(candidate.id)}`)
        )
          this.#add('missing', null, `The ${kind} of event ${candidate.id} is not in the packet.`);
  }

  /** A second reading of the log, after which `problems` are complete. */
  lookForPrivateWords(reading: GameReading, event: CapturedEvent): void {
    for (const text of reading.privateTexts(event, this.pass === 'internal')) {
      let runs = 0;
      for (const one of wordRuns(text)) {
        runs += 1;
        for (const line of this.#runs.get(one) ?? [])
          if (!this.#privateRuns.has(line)) this.#privateRuns.set(line, one);
      }
      if (runs === 0 && /\p{L}/u.test(text)) this.#short += 1;
    }
  }

  notProved({ commonNames }: GameReading): string[] {
    return [
      `Names are looked for as the log writes them. Nicknames, other forms of a name, other scripts and descriptions are not.`,
      ...(commonNames.length === 0
        ? []
        : [
            `${commonNames.length} names are also words of the log in lower case, and are not looked for: ${commonNames.join(', ')}.`,
          ]),
      ...(this.#short === 0
        ? []
        : [
            `${this.#short} private texts have less than ${run} words and no word of ${rareWord} characters, and are not looked for.`,
          ]),
      ...(this.#mapping.parts?.rest === 'chat'
        ? ['The mapping makes speech of all text outside its parts, whatever it says.']
        : []),
    ];
  }

  #checkManifest({ events, copied_events: copies }: LogCounts): void {
    const manifest = this.#manifest;
    const { copied_events: statedCopies } = (manifest.excluded ?? {}) as JsonObject;
    const counted: Record<string, number> = {};
    for (const { kind } of this.#lines) counted[kind] = (counted[kind] ?? 0) + 1;
    const stated = (manifest.kinds ?? {}) as JsonObject;
    const differing = [
      ...(manifest.lines === this.#lines.length
        ? []
        : [`lines is ${manifest.lines}, counted ${this.#lines.length}`]),
      ...(manifest.events === events ? [] : [`events is ${manifest.events}, counted ${events}`]),
      ...(statedCopies === copies ? [] : [`excluded.copied_events is ${statedCopies}, counted ${copies}`]),
      ...[...new Set([...Object.keys(stated), ...Object.keys(counted)])]
        .filter((kind) => (stated[kind] ?? 0) !== (counted[kind] ?? 0))
        .map((kind) => `kinds.${kind} is ${stated[kind] ?? 0}, counted ${counted[kind] ?? 0}`),
    ];
    for (const difference of differing) this.#add('counts', null, `In the manifest ${difference}.`);
    const sum = createHash('sha256').update(this.#text).digest('hex');
    if (manifest.sha256 !== sum)
      this.#add('checksum', null, 'The checksum of the manifest is of other lines.');
    for (const [at, { n }] of this.#lines.entries())
      if (n !== at + 1) this.#add('numbering', n, `Line ${at + 1} has the number ${n}.`);
    if (this.pass === 'external' && counted.reasoning !== undefined)
      this.#add('counts', null, 'An external packet has reasoning.');
  }

  #refOf(eventId: string): string {
    return createHash('sha256').update(`${this.#dispatchId}\n${eventId}`).digest('hex').slice(0, 16);
  }

  #object(text: string, what: string, line: number | null = null): JsonObject | null {
    try {
      const value: JsonValue = JSON.parse(text);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
    } catch {
      // Reported below.
    }
    this.#add('malformed', line, `${what} is not a JSON object.`);
    return null;
  }

  #add(kind: PacketProblem['kind'], line: number | null, message: string): void {
    const ref = this.#lines.find(({ n }) => n === line)?.ref ?? null;
    if (this.#seen.has(message)) return;
    this.#seen.add(message);
    this.#problems.push({ kind, line, ref, message });
  }
}

function isLine(line: JsonObject): boolean {
  const fields = ['n', 'turn', 'speaker', 'kind', 'text', 'ref'];
  return (
    Object.keys(line).length === fields.length &&
    fields.every((field) => typeof line[field] === (field === 'n' ? 'number' : 'string'))
  );
}

function isObject(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function listOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

function push(lists: Map<string, number[]>, key: string, value: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/**
 * The runs of words of a text that identify it: each four words in a row, and each long word. Numbers, case and marks between words do not count,
 * because packets replace names by pseudonyms.
 */
function* wordRuns(text: string): Generator<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  for (const [at, word] of words.entries()) {
    if (word.length >= rareWord) yield word;
    if (at + run <= words.length) yield words.slice(at, at + run).join(' ');
  }
}
