import type { CapturedEvent, JsonObject } from '@hansard/events';
import { isFormatError } from '@hansard/events';
import type { ClaudeLogSummary, ReadLogOptions } from '../log/claude-log.ts';
import { DiagnosticLog } from '../log/diagnostic-log.ts';
import { readParts } from '../log/read-parts.ts';
import { isTranscriptRecord } from './is-transcript-record.ts';
import { TranscriptMapping } from './transcript-mapping.ts';

/** A file of a session. */
export interface SessionFile {
  readonly path: string;
  readonly bytes: number;
  /** For the file of a sub-agent: the prefix of the ids of records without an id. */
  readonly name?: string;
  readonly startsAt: number;
  readonly meta: JsonObject;
  /** The error of an unreadable file. */
  readonly problem?: unknown;
}

const eventsOfBatch = 256;
const bytesOfBatch = 256 * 1024;

/** One reading of the files of a session. */
export class TranscriptReading {
  readonly #files: readonly SessionFile[];
  readonly #hasTime: boolean;
  readonly #diagnostics = new DiagnosticLog();
  #file = '';
  #lines = 0;
  #records = 0;
  #events = 0;
  #messages = 0;
  #model: string | null = null;
  #startsAt = 0;
  #mapping: TranscriptMapping | null = null;
  #totals: ReturnType<TranscriptMapping['totals']> = { usage: null, open: 0 };

  constructor(files: readonly SessionFile[], hasTime: boolean) {
    this.#files = files;
    this.#hasTime = hasTime;
  }

  async *read({
    fidelity = 'full',
    startsAt,
    signal,
    onProgress,
  }: ReadLogOptions = {}): AsyncGenerator<CapturedEvent[]> {
    if (this.#mapping !== null) throw new TypeError('A log is read once; open it again to read it again.');
    const report = this.#report.bind(this);
    const mapping = new TranscriptMapping({ fidelity, report });
    this.#mapping = mapping;
    let bytes = 0;
    let batch: CapturedEvent[] = [];
    let batchBytes = 0;
    for (const [index, file] of this.#files.entries()) {
      this.#file = file.path;
      if (index === 0) this.#startsAt = this.#hasTime ? file.startsAt : (startsAt ?? file.startsAt);
      if (this.#cannotRead(file)) continue;
      mapping.begin({
        name: file.name,
        startsAt: index === 0 ? this.#startsAt : file.startsAt,
        meta: file.meta,
      });
      for await (const lines of readParts(file.path, isTranscriptRecord, report)) {
        for (const line of lines) {
          if (signal?.aborted) return;
          this.#lines += 1;
          for (const part of line.parts) {
            if (part.kind === 'record') this.#records += 1;
            for (const event of mapping.map(part)) {
              this.#note(event);
              batch.push(event);
            }
          }
          bytes += line.bytes;
          batchBytes += line.bytes;
          if (batch.length < eventsOfBatch && batchBytes < bytesOfBatch) continue;
          yield batch;
          onProgress?.(bytes);
          batch = [];
          batchBytes = 0;
        }
      }
      mapping.endFile();
    }
    if (batch.length > 0) yield batch;
    onProgress?.(bytes);
    this.#end(mapping);
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
      status: 'completed',
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

  #note({ type, data }: CapturedEvent): void {
    this.#events += 1;
    if (type === 'session:init' && typeof data.model === 'string') this.#model ??= data.model;
    if (type === 'user:message' || type === 'agent:text') this.#messages += 1;
  }

  #end(mapping: TranscriptMapping): void {
    this.#totals = mapping.totals();
    const [main] = this.#files;
    this.#file = main?.path ?? '';
    const { open } = this.#totals;
    const last = Math.max(1, this.#lines);
    if (open > 0) {
      const which = open === 1 ? 'The last message' : `The last messages of ${open} agents`;
      this.#report(
        'usage_open',
        last,
        `${which} may continue: the usage is in the totals, and becomes an event when the message is over.`,
      );
    }
    if (this.#messages === 0) this.#report('no_conversation', 1, 'This transcript has no messages.');
    if (!this.#hasTime)
      this.#report(
        'time_missing',
        1,
        'No record has a time; all get the time at which the file was written.',
      );
  }
}
