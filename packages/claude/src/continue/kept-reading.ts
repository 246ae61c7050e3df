import { crc32 } from 'node:zlib';
import { type CapturedEvent, isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import type { ReadingCounts } from '../claude-log.ts';
import { type KeptBalance, type LeftOutReason, LineBalance } from '../lines/line-balance.ts';
import { PrefixChecksum } from '../lines/read-lines.ts';
import type { MappingFacts } from '../map/transcript-mapping.ts';
import { CallCheck, type FileState } from '../map/transcript-state.ts';
import type { BesideFile, KeptBeside } from './beside-session.ts';
import type { ReadLine } from './needed-lines.ts';

/** A file of a session. */
export interface SessionFile {
  readonly path: string;
  /** The path from the folder of the session's file. */
  readonly name: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
  /** For the file of a sub-agent: the prefix of the ids of records without an id. */
  readonly prefix?: string;
  /** Of a sub-agent's file, the id by which records name the agent. */
  readonly agentId?: string;
  readonly startsAt: number;
  /** The metadata file beside a sub-agent's transcript. Absent: there is none. */
  readonly sidecar?: BesideFile;
  /** The error of an unreadable file, and its size. */
  readonly problem?: unknown;
  readonly bytesUnread?: number;
}

/** Whether a value is a record of a transcript, and not a message nested in one, which does not name a session. */
export function isTranscriptRecord(value: JsonValue): boolean {
  if (!isPlainObject(value) || typeof value.type !== 'string') return false;
  return ['sessionId', 'parentUuid', 'leafUuid', 'snapshot'].some((key) => Object.hasOwn(value, key));
}

/** Changes with each change of the mapping, because a session is continued only by the mapping that began it. */
export const keptVersion = 13;

/**
 * What a reading needs to continue an earlier one: places in the files, ids and counts, but no content. JSON, because it is
 * kept in the envelope of the dispatch.
 */
export interface KeptReading {
  readonly version: typeof keptVersion;
  /** The session whose records are copied at the start of the file. */
  readonly continues: string | null;
  readonly files: readonly KeptFile[];
  /** The lines that may still matter, in the order in which they were read: file, bytes before the line, lines before it. */
  readonly lines: readonly (readonly [file: number, offset: number, line: number])[];
  readonly facts: MappingFacts;
  /** The outputs of tools beside the session that were read. */
  readonly beside: readonly KeptBeside[];
  readonly counts: ReadingCounts;
  readonly model: string | null;
  /** Sub-agents that have reported, whose lines are not among `lines`. */
  readonly lostAgents: readonly string[];
  /** Calls without a result. */
  readonly openCalls: readonly string[];
  /** Messages that are not counted yet, each as agent and message. */
  readonly openMessages: readonly string[];
  /** The events that were written because the session ended there, which its rest gives again: ids and checksums. */
  readonly ended: readonly (readonly [id: string, checksum: number])[];
}

export interface KeptFile {
  /** The path from the folder of the session's file. */
  readonly name: string;
  /** How many bytes were read, and the checksum of them. */
  readonly bytes: number;
  readonly checksum: number;
  /** The time of the last change before the reading, in milliseconds since 1970. */
  readonly modifiedAt: number;
  /** Where reading continues: bytes and lines before that line, and how many of its parts were mapped. */
  readonly offset: number;
  readonly line: number;
  readonly parts: number;
  readonly linesRead: number;
  /** Times in milliseconds since 1970; null: none. */
  readonly horizon: number | null;
  readonly clock: number;
  readonly latest: number;
  readonly latestPrompt: number | null;
  readonly latestUuid: string | null;
  readonly conversation: string | null;
  readonly balance: KeptBalance;
  /** Of a sub-agent's file: the checksum of what the mapping takes from the metadata file beside it. */
  readonly metadata: number;
}

/** What was kept, if this version of the mapping kept it. */
export function asKeptReading(value: JsonValue): KeptReading | null {
  const isKept = isPlainObject(value) && (value as JsonObject).version === keptVersion;
  return isKept ? (value as unknown as KeptReading) : null;
}

/** Whether a file has nothing new: its size and its time are those of the earlier reading. */
export function isUnchanged({ bytes, modifiedAt }: KeptFile, file: SessionFile): boolean {
  return file.bytes === bytes && file.modifiedAt === modifiedAt;
}

/** What the mapping takes from the metadata file of a sub-agent. Claude Code also notes there that the agent has ended. */
const mappedMetadata = ['toolUseId', 'name', 'agentType', 'description', 'taskKind'] as const;

function metadataOf({ sidecar }: SessionFile): number {
  return crc32(JSON.stringify(mappedMetadata.map((field) => sidecar?.metadata?.[field] ?? null)));
}

/**
 * The numbers of the kept files among these, if each is as it was or has grown; otherwise null. A metadata file that came after the lines of its
 * agent says other things about lines that were mapped.
 */
export function findKept(kept: KeptReading, files: readonly SessionFile[]): number[] | null {
  const found = kept.files.map((file) => files.findIndex(({ name }) => name === file.name));
  const isWhole = kept.files.every((before, at) => {
    const file = files[found[at] ?? -1];
    if (file === undefined || file.bytes < before.bytes) return false;
    if (before.bytes > 0 && (file.problem !== undefined || before.metadata !== metadataOf(file)))
      return false;
    return (
      isUnchanged(before, file) || new PrefixChecksum(before.bytes, before.checksum).isStartOf(file.path)
    );
  });
  return isWhole ? found : null;
}

export type ReadingSteps = AsyncGenerator<CapturedEvent[] | 'paused'>;

/** A file that is being read. The file of a sub-agent is read in steps, one for each result that names the agent. */
export class OpenFile {
  readonly file: SessionFile;
  readonly state: FileState;
  /** Prompts after this time are left for the next step. Milliseconds since 1970. */
  until = 0;
  isReading = false;
  steps: ReadingSteps | null = null;
  /** The time of the latest prompt that was read, in milliseconds since 1970. */
  latestPrompt = Number.NEGATIVE_INFINITY;
  readonly checksum: PrefixChecksum;
  readonly balance: LineBalance;
  /** What an earlier reading did with the parts that it has mapped. */
  readonly reasonsBefore: readonly LeftOutReason[];
  /** Where the next line begins. */
  offset = 0;
  line = 0;
  /** The lines that an earlier reading has read, and the parts that it has mapped, counted from where this one begins. */
  readonly linesBefore: number;
  partsBefore = 0;
  /** The first line of the next record, and how many of its parts were mapped. */
  current: ReadLine;
  parts = 0;
  readonly #number: number;

  /** `before`: what an earlier reading kept of the file. */
  constructor(file: SessionFile, number: number, state: FileState, before?: KeptFile) {
    this.file = file;
    this.state = state;
    this.#number = number;
    this.linesBefore = before?.linesRead ?? 0;
    this.checksum = new PrefixChecksum(before?.bytes, before?.checksum);
    this.balance = new LineBalance(before?.balance, before !== undefined && isUnchanged(before, file));
    this.reasonsBefore = before?.balance.rest?.parts ?? [];
    if (before !== undefined) {
      this.offset = before.offset;
      this.line = before.line;
      this.partsBefore = before.parts;
      this.latestPrompt = before.latestPrompt ?? this.latestPrompt;
    }
    this.current = this.#lineHere(0);
  }

  /** Notes that a line was read to its end. `isWhole`: the next one begins another record. */
  endLine(bytes: number, isWhole: boolean, order: number): void {
    this.offset += bytes;
    this.line += 1;
    this.balance.endLine(bytes, isWhole);
    if (!isWhole) return;
    this.current = this.#lineHere(order);
    this.parts = 0;
    this.partsBefore = 0;
  }

  /** Notes that the file has nothing after the part that an earlier reading has mapped. */
  skip({ parts, linesRead }: KeptFile): void {
    this.parts = parts;
    this.line = linesRead;
  }

  /** Sets the facts of the part that an earlier reading has mapped. */
  continueAfter({ horizon, clock, latest, latestUuid, conversation }: KeptFile): void {
    // The calls of results that were mapped again may be among the lines that were not.
    this.state.calls = new CallCheck();
    this.state.horizon = horizon ?? Number.NEGATIVE_INFINITY;
    this.state.clock = clock;
    this.state.latest = latest;
    this.state.latestUuid = latestUuid ?? undefined;
    this.state.conversation = conversation ?? undefined;
  }

  keep(horizon: number): KeptFile {
    const { clock, latest, latestUuid = null, conversation = null } = this.state;
    return {
      name: this.file.name,
      bytes: this.checksum.bytes,
      checksum: this.checksum.value,
      modifiedAt: this.file.modifiedAt,
      offset: this.current.offset,
      line: this.current.line,
      parts: this.parts,
      linesRead: this.line,
      horizon: finite(horizon),
      clock,
      latest,
      latestPrompt: finite(this.latestPrompt),
      latestUuid,
      conversation,
      balance: this.balance.kept,
      metadata: metadataOf(this.file),
    };
  }

  #lineHere(order: number): ReadLine {
    return {
      file: this.#number,
      offset: this.offset,
      line: this.line,
      order,
      time: Number.NEGATIVE_INFINITY,
    };
  }
}

function finite(time: number): number | null {
  return Number.isFinite(time) ? time : null;
}

const eventsOfBatch = 256;
const bytesOfBatch = 256 * 1024;

/** The events of a reading in batches, and what it counts. */
export class ReadingOutput {
  lines: number;
  records: number;
  #events: number;
  #messages: number;
  model: string | null;
  #batch: CapturedEvent[] = [];
  #bytes = 0;
  /** Events that were written because the session ended, of an earlier reading and of this one, with their checksums. */
  readonly #endedBefore: ReadonlyMap<string, number>;
  readonly #ended = new Map<string, number>();

  constructor({ counts, model = null, ended }: Partial<KeptReading> = {}) {
    this.lines = counts?.lines ?? 0;
    this.records = counts?.records ?? 0;
    this.#events = counts?.events ?? 0;
    this.#messages = counts?.messages ?? 0;
    this.model = model;
    this.#endedBefore = new Map(ended);
  }

  get counts(): ReadingCounts {
    const { lines, records } = this;
    return { lines, records, events: this.#events, messages: this.#messages };
  }

  /** The events that were written because the session ended, and that the rest of a log gives again. */
  get ended(): [string, number][] {
    return [...new Map([...this.#endedBefore, ...this.#ended])];
  }

  /** Adds an event. False if an earlier reading gave it with other content. */
  add(event: CapturedEvent): boolean {
    const before = this.#endedBefore.get(event.id);
    if (before !== undefined) return before === checksumOf(event);
    const { type, data } = event;
    this.#events += 1;
    if (type === 'session:init' && typeof data.model === 'string') this.model ??= data.model;
    if (type === 'user:message' || type === 'agent:text') this.#messages += 1;
    this.#batch.push(event);
    return true;
  }

  /** Adds an event that is written because the session ends. */
  addEnded(event: CapturedEvent): boolean {
    this.#ended.set(event.id, checksumOf(event));
    return this.add(event);
  }

  /** Notes that a line was read to its end. Returns a batch once it is large enough. */
  endLine(bytes: number): CapturedEvent[] | null {
    this.#bytes += bytes;
    return this.#batch.length < eventsOfBatch && this.#bytes < bytesOfBatch ? null : this.takeBatch();
  }

  takeBatch(): CapturedEvent[] {
    const batch = this.#batch;
    this.#batch = [];
    this.#bytes = 0;
    return batch;
  }
}

function checksumOf(event: CapturedEvent): number {
  return crc32(JSON.stringify(event));
}
