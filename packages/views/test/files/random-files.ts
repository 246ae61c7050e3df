import type { CapturedEvent, JsonObject } from '@hansard/events';
import { randomFrom } from '@hansard/testing';

/** A line as it really came about. */
interface Line {
  readonly text: string;
  /** The id of the recorded event that wrote it; null: somebody else did. */
  readonly author: string | null;
  /** Whether the records still show where it came from. */
  isKnowable: boolean;
}

/** A file that agents edited with a record, and others without one. */
export interface RandomFile {
  readonly sessions: readonly (readonly CapturedEvent[])[];
  readonly path: string;
  readonly content: string;
  readonly truth: readonly Line[];
}

export interface FileChoices {
  /** Whether the clocks of the sessions differ by hours, or record no time. */
  readonly hasWrongClocks: boolean;
  /** The share of steps that nobody records. */
  readonly unrecorded: number;
}

const common = ['', '}', '{', '  }', '  return;', 'else {', '});', '  break;', '// ---'];

/** Makes a history of one file. It shares no code with the replay: it knows each line as an object, whatever its text. */
export function randomFile(seed: number, choices: FileChoices): RandomFile {
  return new RandomHistory(seed, choices).make();
}

class RandomHistory {
  readonly #random: () => number;
  readonly #choices: FileChoices;
  readonly #sessions: CapturedEvent[][] = [[], [], []];
  readonly #skews: readonly (number | null)[];
  #path = '/w/src/app.ts';
  #lines: Line[] = [];
  #exists = false;
  /** The content that was recorded last. */
  #recorded: readonly Line[] | null = null;
  #events = 0;
  #words = 0;
  #indent = '  ';
  /** Whether lines were moved since the content was recorded. */
  #hasMoved = false;

  constructor(seed: number, choices: FileChoices) {
    this.#random = randomFrom(seed);
    this.#choices = choices;
    const skew = () => (this.#chance(0.3) ? null : Math.floor((this.#random() - 0.5) * 4e6));
    this.#skews = [0, 1, 2].map(() => (choices.hasWrongClocks ? skew() : 0));
    if (this.#chance(0.4)) this.#indent = '\t';
  }

  make(): RandomFile {
    if (this.#chance(0.5)) this.#unrecordedFile();
    const steps = 4 + this.#below(24);
    for (let step = 0; step < steps; step += 1) {
      if (this.#exists && this.#chance(this.#choices.unrecorded)) this.#unrecorded();
      else this.#recordedStep();
    }
    if (!this.#exists) this.#write(this.#newBlock(5));
    if (this.#chance(0.3)) this.#unrecorded();
    this.#meet();
    return { sessions: this.#sessions, path: this.#path, content: this.#text(), truth: this.#lines };
  }

  #recordedStep(): void {
    const kind = this.#random();
    if (!this.#exists) this.#write(this.#newBlock(4 + this.#below(30)));
    else if (kind < 0.5) this.#edit();
    else if (kind < 0.6) this.#multiEdit();
    else if (kind < 0.72) this.#rewrite();
    else if (kind < 0.8) this.#read();
    else if (kind < 0.86) this.#notebook();
    else if (kind < 0.94) this.#nativeChange();
    else if (kind < 0.97) this.#rename();
    else this.#remove();
  }

  // What agents do with a record.

  #write(texts: readonly string[]): void {
    const id = this.#nextId();
    this.#meet(true);
    this.#lines = texts.map((text) => ({ text, author: id, isKnowable: true }));
    this.#exists = true;
    const content = this.#text();
    this.#record(id, 'Write', {
      type: 'create',
      filePath: this.#path,
      content,
      originalFile: null,
      structuredPatch: [],
    });
  }

  #edit(): void {
    const id = this.#nextId();
    const hasOriginal = this.#chance(0.85);
    const isChained = this.#isChained();
    if (hasOriginal) this.#meet();
    const { before, change } = this.#changed(id);
    const strings = change === null ? null : this.#strings(before, change);
    if (strings === null || this.#textOf(before).split(strings.oldString).length !== 2) {
      this.#lines = before;
      // The content counts as recorded, so it has to be.
      if (hasOriginal) this.#read();
      return;
    }
    const { oldString, newString } = strings;
    const hasPatch = !hasOriginal || this.#chance(0.8);
    this.#record(
      id,
      'Edit',
      {
        filePath: this.#path,
        oldString,
        newString,
        originalFile: hasOriginal ? this.#textOf(before) : null,
        replaceAll: false,
        ...(hasPatch && { structuredPatch: patchOf(before, this.#lines) }),
        userModified: this.#chance(0.1),
      },
      hasOriginal || isChained,
    );
  }

  #multiEdit(): void {
    const id = this.#nextId();
    this.#meet();
    const first = [...this.#lines];
    const edits: JsonObject[] = [];
    for (let count = 1 + this.#below(3); count > 0; count -= 1) {
      const { before, change } = this.#changed(id);
      if (change === null) continue;
      const { oldString, newString } = this.#strings(before, change);
      if (this.#textOf(before).split(oldString).length === 2)
        edits.push({ old_string: oldString, new_string: newString, replace_all: false });
      else this.#lines = before;
    }
    if (edits.length === 0) {
      this.#read();
      return;
    }
    const originalFileContents = this.#textOf(first);
    this.#record(id, 'MultiEdit', {
      filePath: this.#path,
      edits,
      originalFileContents,
      ...(this.#chance(0.7) && { structuredPatch: patchOf(first, this.#lines) }),
    });
  }

  #rewrite(): void {
    const id = this.#nextId();
    this.#meet();
    const before = [...this.#lines];
    for (let count = 1 + this.#below(4); count > 0; count -= 1) this.#changed(id);
    this.#record(id, 'Write', {
      type: 'update',
      filePath: this.#path,
      content: this.#text(),
      originalFile: this.#textOf(before),
      structuredPatch: patchOf(before, this.#lines),
    });
  }

  #read(): void {
    this.#meet();
    const numLines = this.#lines.length;
    const file = {
      filePath: this.#path,
      content: this.#text(),
      startLine: 1,
      numLines,
      totalLines: numLines,
    };
    this.#record(this.#nextId(), 'Read', { type: 'text', file });
  }

  /** A change without a patch: only the two contents are recorded. */
  #notebook(): void {
    const id = this.#nextId();
    this.#meet();
    const before = [...this.#lines];
    this.#changed(id);
    this.#record(id, 'NotebookEdit', {
      notebook_path: this.#path,
      original_file: this.#textOf(before),
      updated_file: this.#text(),
    });
    this.#compare(before, this.#lines, true);
  }

  #nativeChange(): void {
    const id = this.#nextId();
    this.#meet();
    const before = [...this.#lines];
    this.#changed(id);
    this.#change(id, { path: this.#path, before: this.#textOf(before), after: this.#text() });
    this.#compare(before, this.#lines, true);
  }

  #rename(): void {
    this.#meet();
    const from = this.#path;
    this.#path = from.replace(/app\d*/, `app${this.#below(1000)}`);
    const content = this.#text();
    this.#change(this.#nextId(), { path: this.#path, from, before: content, after: content });
  }

  #remove(): void {
    this.#meet();
    const before = this.#text();
    this.#lines = [];
    this.#exists = false;
    this.#change(this.#nextId(), { path: this.#path, before, after: null });
  }

  // What nobody records.

  #unrecordedFile(): void {
    this.#exists = true;
    this.#lines = this.#newBlock(5 + this.#below(30)).map((text) => ({
      text,
      author: null,
      isKnowable: false,
    }));
  }

  #unrecorded(): void {
    // Lines that were moved over others which are then removed look as if they were not moved.
    if (this.#hasMoved) return;
    const kind = this.#random();
    if (kind < 0.55) for (let count = 1 + this.#below(3); count > 0; count -= 1) this.#changed(null);
    else if (kind < 0.75) this.#format();
    else if (kind < 0.9) this.#shellCommand();
    else this.#move();
  }

  /** A formatter writes the whole file, and changes some lines. */
  #format(): void {
    const share = this.#random() * 0.3;
    this.#lines = this.#lines.map((line) =>
      line.text.trim() !== '' && this.#chance(share)
        ? { text: `${line.text.trimEnd()};`, author: null, isKnowable: false }
        : line,
    );
  }

  /** `sed`: every line that has a word. */
  #shellCommand(): void {
    const digit = String(this.#below(10));
    this.#lines = this.#lines.flatMap((line) => {
      if (!line.text.includes(`${digit}(`)) return line;
      return this.#chance(0.3) ? [] : { text: line.text.replace('(', '( '), author: null, isKnowable: false };
    });
  }

  /** A person moves lines that occur once. To move them over fewer lines is to move those lines over them, and of equally many nobody can say. */
  #move(): void {
    const size = 1 + this.#below(3);
    const over = 1 + this.#below(8);
    if (this.#lines.length < size + over) return;
    const start = this.#below(this.#lines.length - size - over + 1);
    const put = (lines: readonly Line[]) =>
      lines.map(({ text }) => ({ text, author: null, isKnowable: false }));
    const block = this.#lines.slice(start, start + size);
    const others = this.#lines.slice(start + size, start + size + over);
    const occursOnce = ({ text }: Line) => this.#lines.filter((line) => line.text === text).length === 1;
    if (size === over || !this.#isChained() || ![...block, ...others].every(occursOnce)) return;
    this.#hasMoved = true;
    const moved = size < over ? [...others, ...put(block)] : [...put(others), ...block];
    this.#lines.splice(start, size + over, ...moved);
  }

  /** Replaces, inserts or removes a block. A block neither begins nor ends with the line that it replaces. */
  #changed(author: string | null): {
    readonly before: Line[];
    readonly change: [number, number, number] | null;
  } {
    const before = [...this.#lines];
    const start = this.#below(before.length + 1);
    const removed = Math.min(this.#below(4), before.length - start);
    const texts = this.#chance(0.15) ? [] : this.#newBlock(1 + this.#below(5));
    const old = before.slice(start, start + removed).map(({ text }) => text);
    while (texts.length > 0 && texts[0] === old[0]) texts.shift();
    while (texts.length > 0 && texts.at(-1) === old.at(-1)) texts.pop();
    if (texts.length === 0 && removed === 0) return { before, change: null };
    const lines = texts.map((text) => ({ text, author, isKnowable: author !== null }));
    this.#lines = [...before.slice(0, start), ...lines, ...before.slice(start + removed)];
    if (this.#lines.length === 0) {
      this.#lines = before;
      return { before, change: null };
    }
    return { before, change: [start, removed, texts.length] };
  }

  /** The texts that an edit gives, with as many equal lines around as make the old one unique. */
  #strings(before: readonly Line[], [start, removed, added]: [number, number, number]) {
    let head = 0;
    let tail = 0;
    const old = () => before.slice(start - head, start + removed + tail);
    const textOf = (lines: readonly Line[]) => lines.map(({ text }) => text).join('\n');
    const all = this.#textOf(before);
    while (old().length === 0 || all.split(textOf(old())).length !== 2 || this.#chance(0.3)) {
      if (start - head > 0) head += 1;
      else if (start + removed + tail < before.length) tail += 1;
      else break;
      if (start + removed + tail < before.length && this.#chance(0.5)) tail += 1;
    }
    const now = this.#lines.slice(start - head, start + added + tail);
    return { oldString: textOf(old()), newString: textOf(now) };
  }

  #newBlock(length: number): string[] {
    return Array.from({ length }, () => {
      if (this.#chance(0.35)) return common[this.#below(common.length)] as string;
      this.#words += 1;
      return `${this.#indent.repeat(this.#below(3))}call${this.#words}(value${this.#below(9)});`;
    });
  }

  // The record, and what it can show.

  #isChained(): boolean {
    return this.#recorded !== null && this.#textOf(this.#recorded) === this.#text();
  }

  /** The content is recorded: what changed since the last recorded content was changed without a record. */
  #meet(isGone = false): void {
    if (isGone) this.#recorded = this.#recorded === null ? null : [];
    else if (this.#recorded !== null) this.#compare(this.#recorded, this.#lines);
    this.#recorded = [...this.#lines];
    this.#hasMoved = false;
  }

  /** Of two contents only the texts are known: a line is knowable if every longest common subsequence keeps it. */
  #compare(before: readonly Line[], after: readonly Line[], isEdit = false): void {
    const sure = sureLines(before, after, isEdit);
    after.forEach((line, at) => {
      line.isKnowable &&= sure[at] === (before.includes(line) ? 'kept' : 'written');
    });
  }

  #record(id: string, tool: string, toolUseResult: JsonObject, isShown = true): void {
    this.#put(id, { tool, details: { toolUseResult } });
    if (isShown) this.#recorded = [...this.#lines];
    else for (const line of this.#lines) if (line.author === id) line.isKnowable = false;
  }

  #change(id: string, change: JsonObject): void {
    this.#put(id, { tool: 'patch', changes: [change] });
    this.#recorded = [...this.#lines];
  }

  #put(id: string, more: JsonObject): void {
    const at = this.#below(this.#sessions.length);
    const skew = this.#skews[at] as number | null;
    const time = Date.UTC(2026, 2, 1) + this.#events * 60_000;
    const timestamp = skew === null ? null : new Date(time + skew).toISOString();
    const data = { toolCallId: `call_${id}`, status: 'completed' as const, metadata: {}, ...more };
    const event = { id, type: 'agent:tool_result', timestamp, data } as unknown as CapturedEvent;
    this.#sessions[at]?.push(event);
  }

  #nextId(): string {
    this.#events += 1;
    return `event${this.#events}`;
  }

  #text(): string {
    return this.#textOf(this.#lines);
  }

  #textOf(lines: readonly Line[]): string {
    return lines.map(({ text }) => `${text}\n`).join('');
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }
}

/** A patch with three lines of context, as tools report it: a tab at the start of a line is shown as two spaces. */
function patchOf(before: readonly Line[], after: readonly Line[]): JsonObject[] {
  const rows: { readonly sign: string; readonly text: string; readonly old: number; readonly now: number }[] =
    [];
  let [old, now] = [0, 0];
  while (old < before.length || now < after.length) {
    const [one, other] = [before[old], after[now]];
    const sign =
      one !== undefined && one === other ? ' ' : one !== undefined && !after.includes(one) ? '-' : '+';
    const { text } = (sign === '+' ? other : one) as Line;
    rows.push({ sign, text: text.replace(/^\t+/, (tabs) => '  '.repeat(tabs.length)), old, now });
    if (sign !== '+') old += 1;
    if (sign !== '-') now += 1;
  }
  const isNear = (at: number) => rows.slice(Math.max(0, at - 3), at + 4).some(({ sign }) => sign !== ' ');
  const hunks: { oldStart: number; newStart: number; lines: string[] }[] = [];
  rows.forEach((row, at) => {
    if (!isNear(at)) return;
    if (at === 0 || !isNear(at - 1)) hunks.push({ oldStart: row.old + 1, newStart: row.now + 1, lines: [] });
    hunks.at(-1)?.lines.push(`${row.sign}${row.text}`);
  });
  return hunks;
}

/** What is sure of each line of a content that followed another one, by all longest common subsequences of the two. */
function sureLines(
  before: readonly Line[],
  after: readonly Line[],
  isEdit: boolean,
): readonly ('kept' | 'written' | 'unclear')[] {
  const [n, m] = [before.length, after.length];
  const same = (i: number, j: number) => before[i]?.text === after[j]?.text;
  const table = () => Array.from({ length: n + 1 }, () => new Array<number>(m + 1).fill(0));
  const [head, rest] = [table(), table()];
  const at = (rows: number[][], i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= n; i += 1)
    for (let j = 1; j <= m; j += 1)
      (head[i] as number[])[j] = same(i - 1, j - 1)
        ? at(head, i - 1, j - 1) + 1
        : Math.max(at(head, i - 1, j), at(head, i, j - 1));
  for (let i = n - 1; i >= 0; i -= 1)
    for (let j = m - 1; j >= 0; j -= 1)
      (rest[i] as number[])[j] = same(i, j)
        ? at(rest, i + 1, j + 1) + 1
        : Math.max(at(rest, i + 1, j), at(rest, i, j + 1));
  const most = at(head, n, m);
  const every = [...before.keys()];
  const partners = after.map((_, j) =>
    every.filter((i) => same(i, j) && at(head, i, j) + 1 + at(rest, i + 1, j + 1) === most),
  );
  const isSkipped = (j: number) => [...every, n].some((i) => at(head, i, j) + at(rest, i, j + 1) === most);
  const sure: ('kept' | 'written' | 'unclear')[] = partners.map((found, j) => {
    if (found.length === 0) return 'written';
    const isOne = new Set(found.map((i) => before[i]?.author)).size === 1;
    return isOne && !isSkipped(j) ? 'kept' : 'unclear';
  });
  // A line that anybody could write again shows nothing, except between lines that only this file has.
  const count = (lines: readonly Line[], text: string) => lines.filter((line) => line.text === text).length;
  const isOwn = ({ text }: Line) =>
    text.replace(/[^a-z0-9]/gi, '').length >= 10 && count(before, text) === 1 && count(after, text) === 1;
  for (let from = 0; from < m; ) {
    let to = from + 1;
    const first = partners[from]?.at(-1) as number;
    while (sure[from] === 'kept' && sure[to] === 'kept' && partners[to]?.includes(first + to - from)) to += 1;
    const own = after.slice(from, to).flatMap((line, at) => (isOwn(line) ? from + at : []));
    // One edit leaves the lines before and after it as they are.
    const isEnd = isEdit && ((from === 0 && first === 0) || (to === m && first + to - from === n));
    const isShown = (at: number) => isEnd || (own.some((one) => one <= at) && own.some((one) => one >= at));
    for (let at = from; at < to; at += 1) if (sure[at] === 'kept' && !isShown(at)) sure[at] = 'unclear';
    from = to;
  }
  return sure;
}
