import type { JsonObject } from '@hansard/events';

/** A transcript, and the truth about it: its writer keeps each program's conversation as a list of rows. */
export interface WrittenConversation {
  readonly rows: readonly JsonObject[];
  /** By the first row of an answer: the rows that its prompt was made of, in the order of the file. */
  readonly prompts: ReadonlyMap<string, readonly string[]>;
  /** The prompts that a person took back. Null: two programs wrote the file, so nobody knows. */
  readonly abandoned: readonly string[] | null;
  /** Whether the last thing in the file is a rewind that no row has followed. */
  readonly isOpen: boolean;
  readonly rewinds: number;
}

/** A program that writes the file. */
interface Program {
  /** The rows of its conversation that a prompt is made of. */
  entries: string[];
  /** The row that the next one hangs below. */
  leaf: string | null;
  /** Where it can go back to: before each of its prompts since the last compaction. */
  points: { entries: string[]; leaf: string | null; prompt: string; before: number }[];
  prompts: string[];
  isCompacted: boolean;
}

/** A random conversation with rewinds, a second program, compactions, parallel calls, late rows and repeated markers. */
export function randomConversation(random: () => number, steps: number): WrittenConversation {
  const writer = new ConversationWriter(random);
  for (let step = 0; step < steps; step += 1) writer.step();
  return writer.finish();
}

const session = 'abcdabcd-1111-4111-8111-111111111111';
const start = Date.parse('2026-11-20T10:00:00.000Z');

class ConversationWriter {
  readonly #rows: JsonObject[] = [];
  readonly #random: () => number;
  readonly #programs: Program[] = [{ entries: [], leaf: null, points: [], prompts: [], isCompacted: false }];
  readonly #truth = new Map<string, readonly string[]>();
  readonly #abandoned = new Set<string>();
  /** Rows off every conversation, on which late rows can come. */
  readonly #left: string[] = [];
  #marker: JsonObject | null = null;
  #isOpen = false;
  #rewinds = 0;
  #number = 0;
  #time = start;

  constructor(random: () => number) {
    this.#random = random;
  }

  step(): void {
    const program = this.#programs[this.#below(this.#programs.length)] as Program;
    const dice = this.#random();
    if (program.points.length === 0 || dice < 0.4) this.#turn(program);
    else if (dice < 0.6) this.#rewind(program);
    else if (dice < 0.66) this.#compact(program);
    else if (dice < 0.76) this.#late();
    else if (dice < 0.8) this.#secondProgram(program);
    else if (dice < 0.85) this.#cancelled(program);
    else if (dice < 0.9 && this.#marker !== null) this.#rows.push(this.#marker);
    else this.#turn(program);
  }

  finish(): WrittenConversation {
    const isShared = this.#programs.length > 1;
    return {
      rows: this.#rows,
      prompts: this.#truth,
      abandoned: isShared ? null : [...this.#abandoned].sort(),
      isOpen: this.#isOpen,
      rewinds: this.#rewinds,
    };
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  /** Writes a row below another one, and gives its uuid. */
  #row(parent: string | null, fields: JsonObject): string {
    this.#number += 1;
    this.#time += 1_000;
    const uuid = `abcd0000-0000-4000-8000-${String(this.#number).padStart(12, '0')}`;
    this.#rows.push({
      ...{ parentUuid: parent, isSidechain: false, cwd: '/srv/shop', sessionId: session, version: '2.1.300' },
      ...{ uuid, timestamp: new Date(this.#time).toISOString() },
      ...fields,
    });
    this.#isOpen = false;
    return uuid;
  }

  /** Writes a row at the end of a program's conversation. */
  #add(program: Program, fields: JsonObject, { isEntry = true, parent = program.leaf } = {}): string {
    const uuid = this.#row(parent, fields);
    program.leaf = uuid;
    if (isEntry) program.entries.push(uuid);
    return uuid;
  }

  #prompt(program: Program): void {
    if (this.#random() < 0.3) this.#rows.push({ type: 'mode', mode: 'normal', sessionId: session });
    const point = { entries: [...program.entries], leaf: program.leaf, before: program.prompts.length };
    const words = { role: 'user', content: `Request ${this.#number}` };
    const prompt = this.#add(program, { type: 'user', message: words });
    program.points.push({ ...point, prompt });
    program.prompts.push(prompt);
  }

  #turn(program: Program): void {
    this.#prompt(program);
    if (this.#random() < 0.3) this.#note(program);
    if (this.#random() < 0.4) this.#calls(program);
    this.#answer(program, [{ type: 'text', text: `Answer ${this.#number}` }], 'end_turn');
    if (this.#random() < 0.3) this.#note(program);
  }

  #note(program: Program): void {
    const fields = { type: 'system', subtype: 'turn_duration', durationMs: 5 };
    this.#add(program, fields, { isEntry: false });
  }

  #answer(program: Program, content: JsonObject[], stop_reason: string, id = `msg_${this.#number}`): string {
    const given = [...program.entries];
    const usage = { input_tokens: 1, output_tokens: 2 };
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model: 'claude-test',
      content,
      stop_reason,
      usage,
    };
    const uuid = this.#add(program, { type: 'assistant', message });
    this.#truth.set(uuid, given);
    return uuid;
  }

  /** Parallel calls, whose results come in any order, each below its call. */
  #calls(program: Program): void {
    const id = `msg_${this.#number}_calls`;
    const calls = Array.from({ length: 1 + this.#below(3) }, (_, at) => {
      const call = `toolu_${this.#number}_${at}`;
      const block = { type: 'tool_use', id: call, name: 'Bash', input: { command: 'ls' } };
      const uuid = this.#answer(program, [block], 'tool_use', id);
      if (at > 0) this.#truth.delete(uuid);
      return { call, uuid };
    });
    for (const { call, uuid } of calls.sort(() => this.#random() - 0.5)) {
      const content = [{ type: 'tool_result', tool_use_id: call, content: 'done' }];
      this.#add(program, { type: 'user', message: { role: 'user', content } }, { parent: uuid });
    }
  }

  #rewind(program: Program): void {
    const point = program.points[this.#below(program.points.length)];
    if (point === undefined || (point.leaf === null && program.isCompacted)) return;
    const { leaf, prompt } = point;
    const cut = program.entries.slice(point.entries.length);
    for (const taken of program.prompts.slice(point.before)) this.#abandoned.add(taken);
    const isMarked = this.#programs.length > 1 || this.#random() < 0.6;
    if (isMarked) {
      this.#marker = {
        ...{
          type: 'last-prompt',
          lastPrompt: `${this.#rewinds}`,
          leafUuid: leaf,
          explicit: true,
          rewound: true,
        },
        ...{ cutUuid: prompt, sessionId: session },
      };
      this.#rows.push(this.#marker);
      this.#isOpen = true;
    }
    if (this.#programs.length === 1) this.#left.push(...cut);
    this.#backTo(program, point);
    this.#rewinds += 1;
    // Of two programs, the file does not show whose marker waits.
    if (!isMarked || this.#programs.length > 1 || this.#random() < 0.7) this.#turn(program);
  }

  #backTo(program: Program, { entries, leaf, before }: Program['points'][number]): void {
    program.entries = [...entries];
    program.leaf = leaf;
    program.points = program.points.slice(
      0,
      program.points.findIndex((one) => one.before === before),
    );
    program.prompts = program.prompts.slice(0, before);
  }

  /** A prompt that was taken back before its answer, and another one. */
  #cancelled(program: Program): void {
    if (this.#programs.length > 1 || program.leaf === null) return;
    this.#prompt(program);
    const point = program.points.at(-1) as Program['points'][number];
    this.#abandoned.add(point.prompt);
    this.#left.push(point.prompt);
    this.#backTo(program, point);
    this.#rewinds += 1;
    this.#turn(program);
  }

  #compact(program: Program): void {
    if (program.leaf === null || this.#isOpen) return;
    const compactMetadata = { trigger: 'auto', preTokens: 100, durationMs: 20 };
    const boundary = {
      type: 'system',
      subtype: 'compact_boundary',
      compactMetadata,
      logicalParentUuid: program.leaf,
    };
    const uuid = this.#row(null, boundary);
    const kept = { entries: [...program.entries], prompts: [...program.prompts] };
    program.leaf = uuid;
    this.#add(program, {
      type: 'user',
      message: { role: 'user', content: 'Summary' },
      isCompactSummary: true,
    });
    program.points = [];
    program.isCompacted = true;
    if (this.#random() < 0.4 && this.#programs.length === 1) this.#behind(program, kept);
  }

  /** A rewind behind a compaction: a boundary that is its own anchor. */
  #behind(program: Program, kept: { entries: string[]; prompts: string[] }): void {
    this.#turn(program);
    for (const prompt of program.prompts.slice(kept.prompts.length)) this.#abandoned.add(prompt);
    const anchor = `abcd0000-0000-4000-8000-${String(this.#number + 1).padStart(12, '0')}`;
    const preservedMessages = { anchorUuid: anchor, uuids: kept.entries };
    const compactMetadata = { trigger: 'manual', preTokens: 0, durationMs: 0, preservedMessages };
    program.leaf = this.#row(null, { type: 'system', subtype: 'compact_boundary', compactMetadata });
    program.entries = [...kept.entries];
    program.prompts = [...kept.prompts];
    program.points = [];
    this.#rewinds += 1;
    this.#turn(program);
  }

  /** A row of what was left: the report of a background task, or a hook. */
  #late(): void {
    const parent = this.#left[this.#below(this.#left.length)];
    if (parent === undefined) return;
    const isOpen = this.#isOpen;
    const words = { role: 'user', content: `Late ${this.#number}` };
    if (this.#random() < 0.5) this.#row(parent, { type: 'user', isMeta: true, message: words });
    else this.#row(parent, { type: 'system', subtype: 'stop_hook_summary', hookCount: 0 });
    this.#isOpen = isOpen;
  }

  /** A second program opens the session where it is, and both write at once. */
  #secondProgram(program: Program): void {
    if (this.#programs.length > 1 || this.#isOpen) return;
    const entries = [...program.entries];
    const { leaf, isCompacted } = program;
    this.#programs.push({ entries, leaf, isCompacted, points: [], prompts: [...program.prompts] });
    for (const one of this.#programs) one.points = [];
    // The first answers arrive after both prompts.
    for (const one of this.#programs) this.#prompt(one);
    for (const one of this.#programs) this.#answer(one, [{ type: 'text', text: 'Both' }], 'end_turn');
  }
}
