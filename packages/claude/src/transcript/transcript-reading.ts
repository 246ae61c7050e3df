import type { CapturedEvent, JsonObject } from '@hansard/events';
import { isFormatError } from '@hansard/events';
import { DispatchTotals } from '@hansard/views';
import type { LogPart } from '../json-lines/log-parts.ts';
import type { ClaudeLogSummary, ReadLogOptions } from '../log/claude-log.ts';
import { DiagnosticLog } from '../log/diagnostic-log.ts';
import { readParts } from '../log/read-parts.ts';
import { asBlocks } from '../messages/map-block.ts';
import { isToolResult } from '../messages/map-tool-result.ts';
import { asObject } from '../values/json-fields.ts';
import { recordedTime } from '../values/recorded-time.ts';
import { isTranscriptRecord } from './is-transcript-record.ts';
import { type FileState, TranscriptMapping } from './transcript-mapping.ts';

/** A file of a session. */
export interface SessionFile {
  readonly path: string;
  readonly bytes: number;
  /** For the file of a sub-agent: the prefix of the ids of records without an id. */
  readonly name?: string;
  /** Of a sub-agent's file, the id by which records name the agent. */
  readonly agentId?: string;
  readonly startsAt: number;
  readonly meta: JsonObject;
  /** The error of an unreadable file. */
  readonly problem?: unknown;
}

const eventsOfBatch = 256;
const bytesOfBatch = 256 * 1024;

/** A file that is being read. The file of a sub-agent is read in steps, one for each result that names the agent. */
interface OpenFile {
  readonly file: SessionFile;
  readonly state: FileState;
  readonly steps: AsyncGenerator<CapturedEvent[] | 'paused'>;
  /** Prompts after this time are left for the next step. Milliseconds since 1970. */
  until: number;
  isReading: boolean;
}

/** One reading of the files of a session. */
export class TranscriptReading {
  readonly #files: readonly SessionFile[];
  readonly #hasTime: boolean;
  readonly #continuation: string | undefined;
  readonly #diagnostics = new DiagnosticLog();
  #file = '';
  #lines = 0;
  #records = 0;
  #events = 0;
  #messages = 0;
  #bytes = 0;
  #model: string | null = null;
  #startsAt = 0;
  #mapping: TranscriptMapping | null = null;
  #batch: CapturedEvent[] = [];
  #batchBytes = 0;
  readonly #ofAgents = new Map<string, OpenFile>();
  readonly #totals = new DispatchTotals();

  /** `continuation`: the id of a session whose file begins with records of another one. */
  constructor(files: readonly SessionFile[], hasTime: boolean, continuation?: string) {
    this.#files = files;
    this.#hasTime = hasTime;
    this.#continuation = continuation;
  }

  async *read({
    fidelity = 'full',
    startsAt,
    signal,
    onProgress,
  }: ReadLogOptions = {}): AsyncGenerator<CapturedEvent[]> {
    if (this.#mapping !== null) throw new TypeError('A log is read once; open it again to read it again.');
    const mapping = new TranscriptMapping({
      fidelity,
      report: this.#report.bind(this),
      continuation: this.#continuation,
    });
    this.#mapping = mapping;
    const [main] = this.#files;
    if (main !== undefined) this.#startsAt = this.#hasTime ? main.startsAt : (startsAt ?? main.startsAt);
    const open = this.#files.map((file) => this.#open(mapping, file, signal));
    try {
      for (const file of open) {
        for await (const batch of this.#readUntil(mapping, file, Number.POSITIVE_INFINITY)) {
          yield batch;
          onProgress?.(this.#bytes);
        }
        if (signal?.aborted) return;
      }
      if (this.#batch.length > 0) yield this.#batch;
      onProgress?.(this.#bytes);
      this.#end();
    } finally {
      for (const { steps } of open) await steps.return(undefined);
    }
  }

  #open(mapping: TranscriptMapping, file: SessionFile, signal: AbortSignal | undefined): OpenFile {
    const { name, meta, agentId } = file;
    const startsAt = name === undefined ? this.#startsAt : file.startsAt;
    const state = mapping.open({ name, startsAt, meta });
    const steps = this.#steps(mapping, () => open, signal);
    const open: OpenFile = { file, state, steps, until: 0, isReading: false };
    if (agentId !== undefined) this.#ofAgents.set(agentId, open);
    return open;
  }

  /** Reads a file up to the first prompt after a time. */
  async *#readUntil(
    mapping: TranscriptMapping,
    open: OpenFile,
    until: number,
  ): AsyncGenerator<CapturedEvent[]> {
    open.until = until;
    open.isReading = true;
    this.#enter(mapping, open);
    for (;;) {
      const { value, done } = await open.steps.next();
      if (done === true || value === 'paused') break;
      yield value;
    }
    open.isReading = false;
  }

  #enter(mapping: TranscriptMapping, { file, state }: OpenFile): void {
    this.#file = file.path;
    mapping.enter(state);
  }

  async *#steps(
    mapping: TranscriptMapping,
    self: () => OpenFile,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<CapturedEvent[] | 'paused'> {
    const open = self();
    if (this.#cannotRead(open.file)) return;
    for await (const lines of readParts(open.file.path, isTranscriptRecord, this.#report.bind(this))) {
      for (const line of lines) {
        if (signal?.aborted) return;
        this.#lines += 1;
        for (const part of line.parts) {
          while (open.until < Number.POSITIVE_INFINITY && promptTime(part) > open.until) yield 'paused';
          const reported = mapping.reportedAgent(part);
          const agent = reported === undefined ? undefined : this.#ofAgents.get(reported.agentId);
          if (reported !== undefined && agent !== undefined && !agent.isReading) {
            yield* this.#readUntil(mapping, agent, reported.time);
            this.#enter(mapping, open);
          }
          this.#take(mapping, part);
        }
        this.#bytes += line.bytes;
        this.#batchBytes += line.bytes;
        if (this.#batch.length < eventsOfBatch && this.#batchBytes < bytesOfBatch) continue;
        yield this.#batch;
        this.#batch = [];
        this.#batchBytes = 0;
      }
    }
    for (const event of mapping.endFile()) this.#keep(event);
  }

  #take(mapping: TranscriptMapping, part: LogPart): void {
    if (part.kind === 'record') this.#records += 1;
    for (const event of mapping.map(part)) this.#keep(event);
  }

  #keep(event: CapturedEvent): void {
    this.#note(event);
    this.#batch.push(event);
  }

  summary(): ClaudeLogSummary {
    const latest = this.#mapping?.latest ?? 0;
    return {
      lines: this.#lines,
      records: this.#records,
      events: this.#events,
      counts: this.#diagnostics.counts,
      diagnostics: this.#diagnostics.kept,
      model: this.#model,
      completedAt: Math.max(this.#startsAt, latest),
      status: this.#mapping?.status ?? 'running',
      usage: this.#totals.usage,
      costUsd: null,
      structuredResult: null,
    };
  }

  #report(code: Parameters<DiagnosticLog['add']>[0], line: number, message: string): void {
    this.#diagnostics.add(code, this.#file, line, message);
  }

  #cannotRead({ problem }: SessionFile): boolean {
    if (problem === undefined) return false;
    if (!isFormatError(problem) || problem.code === 'FORMAT_UNREADABLE') throw problem;
    this.#report('empty', 1, `${problem.message} It was left out.`);
    return true;
  }

  #note(event: CapturedEvent): void {
    const { type, data } = event;
    this.#events += 1;
    // Transcripts have no other totals, and most events are of other types.
    if (type === 'agent:inference') this.#totals.observe(event);
    if (type === 'session:init' && typeof data.model === 'string') this.#model ??= data.model;
    if (type === 'user:message' || type === 'agent:text') this.#messages += 1;
  }

  #end(): void {
    const [main] = this.#files;
    this.#file = main?.path ?? '';
    if (this.#messages === 0) this.#report('no_conversation', 1, 'This transcript has no messages.');
    if (!this.#hasTime)
      this.#report(
        'time_missing',
        1,
        'No record has a time; all get the time at which the file was written.',
      );
  }
}

/** The time of a prompt, in milliseconds since 1970; -Infinity for any other record. */
function promptTime(part: LogPart): number {
  const record = part.kind === 'record' ? asObject(part.record) : undefined;
  if (record?.type !== 'user' || record.toolUseResult !== undefined) return Number.NEGATIVE_INFINITY;
  const isResult = asBlocks(asObject(record.message)?.content)?.some(isToolResult) ?? true;
  return isResult ? Number.NEGATIVE_INFINITY : (recordedTime(record) ?? Number.NEGATIVE_INFINITY);
}
