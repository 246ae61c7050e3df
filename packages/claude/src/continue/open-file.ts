import type { CapturedEvent } from '@hansard/events';
import { PrefixChecksum } from '../lines/read-lines.ts';
import { CallCheck, type FileState } from '../map/transcript-state.ts';
import type { KeptFile, SessionFile } from './kept-reading.ts';
import type { ReadLine } from './needed-lines.ts';

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
