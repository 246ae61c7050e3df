import { basename, extname } from 'node:path';
import {
  BalanceSheet,
  type CapturedEvent,
  type Fidelity,
  formatErrors,
  type JsonValue,
  type SourceBalance,
} from '@hansard/events';
import { type ClaudeLogSummary, type ReadLogOptions, uuid } from '../claude-log.ts';
import { type ClaudeDiagnosticCode, DiagnosticLog } from '../lines/claude-diagnostic.ts';
import { asName, asObject, recordedTime } from '../lines/json-fields.ts';
import { bytesCut } from '../lines/line-balance.ts';
import { type LogPart, readParts } from '../lines/log-parts.ts';
import { asBlocks, isToolResult } from '../map/blocks.ts';
import { asId } from '../map/ids.ts';
import { type SessionOfFile, TranscriptMapping } from '../map/transcript-mapping.ts';
import { type BesideFile, BesideFiles } from './beside-session.ts';
import {
  isTranscriptRecord,
  isUnchanged,
  type KeptFile,
  OpenFile,
  ReadingOutput,
  type ReadingSteps,
  type SessionFile,
} from './kept-reading.ts';
import { NeededLines } from './needed-lines.ts';
import { type EarlierReading, keepReading, recall } from './recall.ts';

/** The time of a prompt, in milliseconds since 1970; -Infinity for any other record. */
function promptTime(part: LogPart): number {
  const record = part.kind === 'record' ? asObject(part.record) : undefined;
  if (record?.type !== 'user' || record.toolUseResult !== undefined) return Number.NEGATIVE_INFINITY;
  const isResult = asBlocks(asObject(record.message)?.content)?.some(isToolResult) ?? true;
  return isResult ? Number.NEGATIVE_INFINITY : (recordedTime(record) ?? Number.NEGATIVE_INFINITY);
}

/** One reading of the files of a session, or of what follows an earlier reading. */
export class TranscriptReading {
  readonly #files: readonly SessionFile[];
  readonly #beside: BesideFiles;
  readonly #hasTime: boolean;
  readonly #session: SessionOfFile;
  readonly #before: EarlierReading | undefined;
  readonly #diagnostics = new DiagnosticLog();
  readonly #needed: NeededLines;
  #file = '';
  readonly #output: ReadingOutput;
  #bytes = 0;
  #order = 0;
  #isComplete = false;
  #isRecalling: boolean;
  #mapping: TranscriptMapping | null = null;
  #open: readonly OpenFile[] = [];
  readonly #ofAgents = new Map<string, OpenFile>();

  constructor(
    files: readonly SessionFile[],
    beside: readonly BesideFile[],
    hasTime: boolean,
    session: SessionOfFile,
    before?: EarlierReading,
  ) {
    this.#files = files;
    this.#beside = new BesideFiles(beside, before?.kept.beside);
    this.#hasTime = hasTime;
    this.#session = session;
    this.#before = before;
    this.#isRecalling = before !== undefined;
    this.#output = new ReadingOutput(before?.kept);
    const agents = files.map(({ agentId }) => asId(agentId));
    const starts = files.flatMap(({ sidecar }, at) => {
      const [agent, toolCallId] = [agents[at], asName(sidecar?.metadata?.toolUseId)];
      return agent === undefined || toolCallId === undefined ? [] : [{ agent, toolCallId }];
    });
    this.#needed = new NeededLines(
      agents,
      starts,
      (id) => this.#mapping?.isCounted(id) ?? false,
      before?.kept.lostAgents,
    );
  }

  async *read({
    fidelity = 'full',
    signal,
    onProgress,
  }: ReadLogOptions = {}): AsyncGenerator<CapturedEvent[]> {
    if (this.#mapping !== null) throw new TypeError('A log is read once; open it again to read it again.');
    const mapping = new TranscriptMapping({
      fidelity,
      report: this.#report.bind(this),
      session: this.#session,
    });
    this.#mapping = mapping;
    this.#open = this.#files.map((_, number) => this.#openFile(mapping, number, signal, fidelity));
    try {
      if (this.#before !== undefined) await this.#recall(mapping, this.#before);
      for (const file of this.#open) {
        for await (const batch of this.#readUntil(mapping, file, Number.POSITIVE_INFINITY)) {
          yield batch;
          onProgress?.(this.#bytes);
        }
        if (signal?.aborted || mapping.isLost) return;
      }
      this.#keepEnded(mapping, mapping.end());
      if (mapping.isLost) return;
      for await (const event of this.#beside.others(fidelity)) {
        this.#output.add(event);
        const batch = this.#output.endLine(0);
        if (batch !== null) yield batch;
      }
      const last = this.#output.takeBatch();
      if (last.length > 0) yield last;
      onProgress?.(this.#bytes);
      this.#end();
    } finally {
      for (const { steps } of this.#open) await steps?.return(undefined);
    }
  }

  /** Whether the rest of a log refers to something that was not read again. */
  get isLost(): boolean {
    return this.#mapping?.isLost ?? false;
  }

  /** See `ClaudeLog`. */
  isInSeveralRecords(eventId: string): boolean {
    return this.#mapping?.isInSeveralRecords(eventId) ?? false;
  }

  #openFile(
    mapping: TranscriptMapping,
    number: number,
    signal: AbortSignal | undefined,
    fidelity: Fidelity,
  ): OpenFile {
    const file = this.#files[number] as SessionFile;
    const { prefix: name, agentId, startsAt, sidecar } = file;
    const meta = sidecar?.metadata ?? {};
    const before = this.#keptOf(number);
    const open = new OpenFile(file, number, mapping.open({ name, agentId, startsAt, meta }), before);
    open.steps = this.#steps(mapping, open, signal, fidelity);
    this.#bytes += open.offset;
    if (agentId !== undefined) this.#ofAgents.set(agentId, open);
    return open;
  }

  #keptOf(number: number): KeptFile | undefined {
    const at = this.#before?.places.indexOf(number) ?? -1;
    const kept = this.#before?.kept.files[at];
    return kept === undefined || kept.bytes === 0 ? undefined : kept;
  }

  async #recall(mapping: TranscriptMapping, before: EarlierReading): Promise<void> {
    await recall(before, {
      files: this.#files,
      open: this.#open,
      needed: this.#needed,
      mapping,
      nextOrder: () => this.#nextOrder(),
    });
    this.#isRecalling = false;
  }

  #nextOrder(): number {
    this.#order += 1;
    return this.#order;
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
    while (open.steps !== null) {
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
    open: OpenFile,
    signal: AbortSignal | undefined,
    fidelity: Fidelity,
  ): ReadingSteps {
    const { file, linesBefore, checksum } = open;
    const before = this.#keptOf(open.current.file);
    if (this.#cannotRead(file)) return;
    if (before !== undefined && isUnchanged(before, file)) {
      this.#bytes += file.bytes - open.offset;
      open.skip(before);
      return;
    }
    const from = { offset: open.offset, line: open.line, checksum };
    const report = (code: ClaudeDiagnosticCode, line: number, message: string) => {
      if (code === 'unfinished') open.balance.endUnfinished();
      this.#report(code, line, message);
    };
    for await (const lines of readParts(file.path, isTranscriptRecord, report, from)) {
      for (const line of lines) {
        if (signal?.aborted) return;
        if (open.line >= linesBefore) this.#output.lines += 1;
        for (const part of line.parts) {
          open.parts += 1;
          if (open.parts <= open.partsBefore) {
            open.balance.addPart(open.reasonsBefore[open.parts - 1] ?? null);
            continue;
          }
          const time = promptTime(part);
          while (time > open.until) yield 'paused';
          open.latestPrompt = Math.max(open.latestPrompt, time);
          const reported = mapping.reportedAgent(part);
          const agent = reported === undefined ? undefined : this.#ofAgents.get(reported.agentId);
          if (reported !== undefined && agent !== undefined && !agent.isReading) {
            if (agent.latestPrompt > reported.time) mapping.lose();
            yield* this.#readUntil(mapping, agent, reported.time);
            this.#enter(mapping, open);
          }
          const events = this.#take(mapping, open, part, { reporting: reported?.agentId, bytes: line.bytes });
          if (this.#beside.areNamedIn(events))
            for (const output of await this.#beside.outputsOf(events, fidelity)) this.#output.add(output);
          if (mapping.isLost) return;
        }
        open.endLine(line.bytes, line.isWhole, this.#nextOrder());
        this.#bytes += line.bytes;
        const batch = this.#output.endLine(line.bytes);
        if (batch !== null) yield batch;
      }
    }
    mapping.endFile();
  }

  /** Keeps events that are written because the session ends here. If it grows, its rest gives them again. */
  #keepEnded(mapping: TranscriptMapping, events: readonly CapturedEvent[]): void {
    for (const event of events) if (!this.#output.addEnded(event)) mapping.lose();
  }

  #take(
    mapping: TranscriptMapping,
    open: OpenFile,
    part: LogPart,
    { reporting, bytes }: { readonly reporting: string | undefined; readonly bytes: number },
  ): readonly CapturedEvent[] {
    if (part.kind === 'record') this.#output.records += 1;
    const repeated = this.#diagnostics.counts.id_repeated;
    const events = mapping.map(part);
    // A repeated record can still announce the agents that it names.
    const isRepeated = this.#diagnostics.counts.id_repeated !== repeated;
    open.balance.addPart(isRepeated ? 'repeated' : null, bytesCut(part, events, bytes));
    this.#needed.observe(open.current, part, reporting, events);
    for (const event of events) if (!this.#output.add(event)) mapping.lose();
    return events;
  }

  summary(): ClaudeLogSummary {
    const { latest = 0, turn, lastMessage = null, summarises = [], heads } = this.#mapping?.facts ?? {};
    const { lines, records, events } = this.#output.counts;
    return {
      lines,
      records,
      events,
      counts: this.#diagnostics.counts,
      diagnostics: this.#diagnostics.kept,
      model: this.#output.model,
      completedAt: this.#hasTime ? latest : null,
      lastRecordAt: this.#hasTime ? latest : null,
      status: turn?.status ?? 'running',
      statusIfQuiet: turn?.statusIfQuiet ?? 'crashed',
      openCalls: this.#mapping?.openCalls ?? [],
      structuredResult: null,
      lastMessage,
      summarises,
      heads: heads?.ids ?? [],
      openRewind: this.#mapping?.openRewind ?? null,
      kept: this.#isComplete ? this.#kept() : null,
      balance: this.#balance(),
    };
  }

  #balance(): SourceBalance {
    const sheet = new BalanceSheet();
    for (const { file, balance } of this.#open) {
      const { bytesUnread = 0 } = file;
      balance.addTo(sheet);
      sheet.take('bytes', bytesUnread);
      sheet.leaveOut('bytes', 'no_records', bytesUnread);
    }
    this.#beside.addTo(sheet);
    return sheet.balance;
  }

  /** Null: the log has to be read as a whole. */
  #kept(): JsonValue | null {
    if (this.#mapping === null || !this.#hasTime || this.#mapping.hasUsageElsewhere) return null;
    return keepReading({
      continues: this.#session.continues,
      open: this.#open,
      needed: this.#needed,
      facts: this.#mapping.facts,
      beside: this.#beside.kept,
      output: this.#output,
    });
  }

  #report(code: Parameters<DiagnosticLog['add']>[0], line: number, message: string): void {
    if (!this.#isRecalling) this.#diagnostics.add(code, this.#file, line, message);
  }

  #cannotRead({ problem }: SessionFile): boolean {
    if (problem === undefined) return false;
    if (!formatErrors.is(problem) || problem.code === 'FORMAT_UNREADABLE') throw problem;
    this.#report('empty', 1, `${problem.message} It was left out.`);
    return true;
  }

  #end(): void {
    this.#isComplete = true;
    for (const [path, problem] of this.#beside.problems) {
      this.#file = path;
      this.#report('sidecar_not_read', 1, `${path} ${problem}. It was left out.`);
    }
    const [main] = this.#files;
    this.#file = main?.path ?? '';
    const name = basename(this.#file, extname(this.#file));
    const { id, continues } = this.#session;
    if (uuid.test(name) && id !== null && id !== name && continues === null)
      this.#report(
        'session_changed',
        1,
        `The file has the name of the session ${name}, and records of ${id}.`,
      );
    if (this.#output.counts.messages === 0)
      this.#report('no_conversation', 1, 'This transcript has no messages.');
    if (!this.#hasTime) this.#report('time_missing', 1, 'No record has a time, so no event has one.');
  }
}
