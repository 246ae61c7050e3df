import type { BalanceSheet, CapturedEvent } from '@hansard/events';
import type { LogPart } from './log-parts.ts';

/** Why a part of a log has no event. Null: it has one. */
export type LeftOutReason = 'repeated' | 'streamed' | null;

/** What a later reading needs of a balance: the records and bytes through the last whole line, and what follows that line. */
export interface KeptBalance {
  readonly records: number;
  readonly bytes: number;
  readonly leftOut?: Readonly<Record<string, readonly [records: number, bytes: number]>>;
  /** The parts after the last whole line, with the reason of each. */
  readonly rest?: LinesToEnd;
}

interface LinesToEnd {
  readonly parts: readonly LeftOutReason[];
  readonly bytes: number;
  readonly cut?: number;
  readonly isUnfinished?: boolean;
}

/** How much of a text that could not be read is kept, in bytes. */
const keptOfDamaged = 16 * 1024;

/**
 * Counts what happens to the lines of a file. Bytes count by line: a line is recorded if one of its parts is. Lines of a record that is broken
 * over them count together.
 */
export class LineBalance {
  #records = 0;
  #bytes = 0;
  readonly #leftOut = new Map<string, [records: number, bytes: number]>();
  #parts: LeftOutReason[] = [];
  #bytesOfParts = 0;
  #cut = 0;
  #isUnfinished = false;

  /** `isUnchanged`: the file has nothing new. Otherwise what follows the last whole line of the earlier reading comes again. */
  constructor(before?: KeptBalance, isUnchanged = false) {
    if (before === undefined) return;
    this.#records = before.records;
    this.#bytes = before.bytes;
    for (const [reason, [records, bytes]] of Object.entries(before.leftOut ?? {}))
      this.#leftOut.set(reason, [records, bytes]);
    const { rest } = before;
    this.#cut = rest?.cut ?? 0;
    if (rest === undefined || !isUnchanged) return;
    this.#parts = [...rest.parts];
    this.#bytesOfParts = rest.bytes;
    this.#isUnfinished = rest.isUnfinished ?? false;
  }

  /** `cut`: how many bytes of the part its notice does not have. */
  addPart(reason: LeftOutReason, cut = 0): void {
    this.#parts.push(reason);
    this.#cut += cut;
  }

  /** `isWhole`: the next line begins a record of its own. */
  endLine(bytes: number, isWhole: boolean): void {
    this.#bytesOfParts += bytes;
    if (!isWhole) return;
    if (this.#parts.length === 1 && this.#parts[0] === null && this.#cut === 0) {
      this.#records += 1;
      this.#bytes += this.#bytesOfParts;
    } else this.#settle();
    this.#parts.length = 0;
    this.#bytesOfParts = 0;
    this.#cut = 0;
  }

  /** Notes that the file ends in a record that is not complete. */
  endUnfinished(): void {
    this.#isUnfinished = true;
  }

  get kept(): KeptBalance {
    const leftOut = Object.fromEntries(this.#leftOut);
    const done = {
      records: this.#records,
      bytes: this.#bytes,
      ...(this.#leftOut.size === 0 ? {} : { leftOut }),
    };
    if (this.#parts.length === 0 && this.#bytesOfParts === 0) return done;
    const rest: LinesToEnd = {
      parts: [...this.#parts],
      bytes: this.#bytesOfParts,
      ...(this.#cut === 0 ? {} : { cut: this.#cut }),
      ...(this.#isUnfinished ? { isUnfinished: true } : {}),
    };
    return { ...done, rest };
  }

  /** Adds the file to the balance of its log. */
  addTo(sheet: BalanceSheet): void {
    const whole = new LineBalance(this.kept, true);
    whole.#settle();
    sheet.take('files');
    sheet.take('records', whole.#records);
    sheet.take('bytes', whole.#bytes);
    let [records, bytes] = [whole.#records, whole.#bytes];
    for (const [reason, [count, size]] of whole.#leftOut) {
      sheet.leaveOut('records', reason, count);
      sheet.leaveOut('bytes', reason, size);
      records -= count;
      bytes -= size;
    }
    sheet.record('records', records);
    sheet.record('bytes', bytes);
    if (whole.#records > 0) sheet.record('files');
    else sheet.leaveOut('files', 'no_records');
  }

  /** Counts the parts since the last whole line. */
  #settle(): void {
    const bytes = this.#bytesOfParts;
    this.#records += this.#parts.length + (this.#isUnfinished ? 1 : 0);
    this.#bytes += bytes;
    for (const reason of this.#parts) if (reason !== null) this.#leaveOut(reason, 1, 0);
    if (this.#isUnfinished) this.#leaveOut('unfinished', 1, 0);
    if (this.#parts.includes(null)) this.#leaveOut('cut', 0, Math.min(this.#cut, bytes));
    else this.#leaveOut(this.#parts[0] ?? (this.#isUnfinished ? 'unfinished' : 'blank'), 0, bytes);
  }

  #leaveOut(reason: string, records: number, bytes: number): void {
    if (records === 0 && bytes === 0) return;
    const [recordsBefore, bytesBefore] = this.#leftOut.get(reason) ?? [0, 0];
    this.#leftOut.set(reason, [recordsBefore + records, bytesBefore + bytes]);
  }
}

/** How many bytes of a part its notices do not have, because a notice keeps only the start of a long text. */
export function bytesCut(part: LogPart, events: readonly CapturedEvent[], bytesOfLine: number): number {
  // The text of a line that is too long was cut before.
  if (part.kind === 'damaged' && part.problem.startsWith('a line of '))
    return Math.max(0, bytesOfLine - keptOfDamaged);
  let bytes = 0;
  for (const { type, data } of events)
    if (type === 'system:notice' && typeof data.rawBytes === 'number')
      bytes += Math.max(0, data.rawBytes - keptOfDamaged);
  return bytes;
}
