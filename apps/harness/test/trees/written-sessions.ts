import type { JsonObject } from '@hansard/events';

export type BlockKind = 'prompt' | 'text' | 'call' | 'result' | 'summary' | 'notice';

/** What a row adds to prompts. Copies of a row have the same key. */
export interface Block {
  readonly key: string;
  /** The words of the row: each occurs in no other row, except where a call is the prompt of an agent and an agent's answer its result. */
  readonly word: string;
  readonly kind: BlockKind;
  /** Of texts and calls: the message. Copies of a message have the same key. */
  readonly message: { readonly key: string; readonly id: string; readonly model: string } | null;
  /** Of texts and calls: what their message has used so far. */
  readonly tokens: number;
  /** Of calls and results. */
  readonly callId?: string;
}

/** A record of a file with an identity of its own, and what it adds to prompts; null: nothing. */
export interface WrittenRow {
  readonly block: Block | null;
  readonly record: JsonObject;
}

/** The rows of a conversation, in its order. */
export type Path = readonly WrittenRow[];

/** The conversation of one program, and what its model still sees of it. */
export interface Program {
  path: Path;
  /** The uuid that the next row hangs below. */
  leaf: string | null;
  /** Where the rows begin that the model sees: at the summary of the last compaction. */
  seenFrom: number;
  /** The rows before, which the compaction has kept behind its summary. */
  kept: Path;
  /** Whether each row since then hangs below the one before, or below its own call. */
  isChain: boolean;
  /** Prompts that the program can go back to. */
  points: Point[];
  /** Calls without a result, where the program stopped within a turn. */
  open: WrittenRow[];
}

export interface Point {
  readonly prompt: WrittenRow;
  readonly length: number;
  readonly leaf: string | null;
}

/** A branch that was left. */
export interface LeftBranch {
  path: Path;
  readonly seenFrom: number;
  readonly kept: Path;
  readonly points: readonly Point[];
  /** Whether a late row came to its end, or to another place of it. */
  late: 'no' | 'end' | 'within';
}

/** A sub-agent: its file, and what is beside it. */
export interface WrittenAgent {
  readonly id: string;
  readonly callId: string;
  readonly rows: WrittenRow[];
  readonly lines: JsonObject[];
  readonly meta: JsonObject | null;
  /** How many of the lines are written at once, when it begins. */
  readonly begins: number;
  /** What its transcript begins with, of its caller. */
  readonly inherited: { readonly path: Path; readonly seen: Path };
  /** The agent that called it; '': the session's own. */
  readonly caller: string;
  leaf: string | null;
  /** The result that said that it works in the background. */
  launchedIn: WrittenRow | null;
  /** The answer that its caller gets, and the row that carried it there. */
  answer: WrittenRow | null;
  heardIn: { readonly row: WrittenRow; readonly agent: string } | null;
  isOver: boolean;
}

/** What the model was given for an answer, by the uuid of the first row of the answer. */
export interface Given {
  readonly agent: string;
  readonly path: Path;
  readonly seen: Path;
}

export interface WrittenSession {
  readonly id: string;
  readonly isOld: boolean;
  /** The records of its file. */
  readonly lines: JsonObject[];
  /** Those with an identity, in the same order. */
  readonly rows: WrittenRow[];
  readonly programs: Program[];
  /** The program that has prompted last. */
  current: Program | null;
  readonly agents: WrittenAgent[];
  readonly left: LeftBranch[];
  readonly given: Map<string, Given>;
  /** The rewind that no row has followed yet: the last row that stays, and the conversation until then. */
  open: { readonly keptThrough: string | null; readonly before: Path } | null;
  marker: JsonObject | null;
  /** Whether only a marker shows where the conversation went. */
  needsMarkers: boolean;
  /** Whether a compaction has kept rows behind its summary, or was gone back behind. */
  hasKept: boolean;
  /** What has happened in it, and before in what it repeats. */
  readonly kinds: Set<string>;
  /** Whether the work was moved to another session. */
  isMoved: boolean;
}

export const seenBy = ({ path, seenFrom, kept }: Pick<Program, 'path' | 'seenFrom' | 'kept'>): Path => {
  const own = path.slice(seenFrom);
  return kept.length === 0 ? own : [...own.slice(0, 1), ...kept, ...own.slice(1)];
};

const models = ['claude-opus-4-8', 'claude-haiku-4-5-20251001'] as const;
const hour = 3_600_000;
const day = 24 * hour;

/** What all sessions of one world share: its chance, its clock and its names. */
export class World {
  readonly random: () => number;
  readonly sessions: WrittenSession[] = [];
  #number = 0;
  #time = Date.parse('2026-05-01T06:00:00.000Z');

  constructor(random: () => number) {
    this.random = random;
  }

  below(most: number): number {
    return Math.floor(this.random() * most);
  }

  chance(share: number): boolean {
    return this.random() < share;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  next(): number {
    this.#number += 1;
    return this.#number;
  }

  id(): string {
    const digits = () => this.below(0x10000).toString(16).padStart(4, '0');
    const [a, b, c, d, e, f, g, h] = Array.from({ length: 8 }, digits);
    return `${a}${b}-${c}-${d}-${e}-${f}${g}${h}`;
  }

  now(): string {
    this.#time += 1_000;
    return new Date(this.#time).toISOString();
  }

  /** Some hours pass. What follows at once is on one day. */
  wait(): void {
    this.#time += 1_000 * this.below(20_000);
    if (this.#time % day > day - hour) this.#time += hour;
  }

  begin(isOld: boolean): WrittenSession {
    const session: WrittenSession = {
      ...{ id: this.id(), isOld, lines: [], rows: [], programs: [], current: null, agents: [], left: [] },
      ...{
        given: new Map(),
        kinds: new Set(),
        open: null,
        marker: null,
        needsMarkers: false,
        hasKept: false,
        isMoved: false,
      },
    };
    this.sessions.push(session);
    return session;
  }
}

const newProgram = (): Program => ({
  ...{ path: [], leaf: null, seenFrom: 0, kept: [], isChain: true, points: [], open: [] },
});

/** Writes the rows of one session. */
export class SessionWriter {
  readonly #world: World;
  readonly session: WrittenSession;
  readonly #author: { readonly sessionKind?: string };

  constructor(world: World, session: WrittenSession, author: { readonly sessionKind?: string } = {}) {
    this.#world = world;
    this.session = session;
    this.#author = author;
    if (session.programs.length === 0) session.programs.push(newProgram());
  }

  get #isShared(): boolean {
    return this.session.programs.length > 1;
  }

  /** Something that can happen next. */
  step(): void {
    const { session } = this;
    const world = this.#world;
    if (session.isMoved) return;
    world.wait();
    const program = world.pick(session.programs);
    if (program.open.length > 0) this.finishTurn(program);
    else if (!this.#happens(program)) this.#turn(program);
  }

  /** Whether something other than a turn happens. */
  #happens(program: Program): boolean {
    const dice = this.#world.random();
    if (dice < 0.34 || program.path.length === 0) return false;
    if (dice < 0.46) return this.#goBack(program);
    if (dice < 0.54) return this.#goAnywhere(program);
    if (dice < 0.61) return this.#return(program);
    if (dice < 0.66) return this.#cancel(program);
    if (dice < 0.73) return this.#compact(program);
    if (dice < 0.79) return this.#late();
    if (dice < 0.85) return this.#secondProgram(program);
    if (dice < 0.94) return this.#background();
    const { marker, lines } = this.session;
    if (dice < 0.97 && marker !== null) lines.push(marker);
    return dice < 0.97 && marker !== null;
  }

  #row(parent: string | null, fields: JsonObject, block: Block | null): WrittenRow {
    const { session } = this;
    const row = {
      block,
      record: {
        ...{ parentUuid: parent, isSidechain: false, cwd: '/srv/shop', sessionId: session.id },
        ...{ version: session.isOld ? '1.0.56' : '2.1.260', ...this.#author },
        ...{ uuid: this.#world.id(), timestamp: this.#world.now(), ...fields },
      },
    };
    session.lines.push(row.record);
    session.rows.push(row);
    session.open = null;
    return row;
  }

  /** Adds a row at the end of a conversation. */
  #add(program: Program, fields: JsonObject, block: Block | null, parent = program.leaf): WrittenRow {
    const row = this.#row(parent, fields, block);
    program.path = [...program.path, row];
    program.leaf = uuidOf(row);
    return row;
  }

  #block(kind: BlockKind, more: Partial<Block> = {}): Block {
    const word = `w${this.#world.next()}x`;
    return { key: word, word, kind, message: null, tokens: 0, ...more };
  }

  #message(): NonNullable<Block['message']> {
    const id = `msg_${this.#world.next()}`;
    return { key: id, id, model: this.#world.pick(models) };
  }

  prompt(program: Program): WrittenRow {
    if (this.#world.chance(0.2))
      this.session.lines.push({ type: 'mode', mode: 'normal', sessionId: this.session.id });
    const { leaf } = program;
    const { length } = program.path;
    this.session.current = program;
    const block = this.#block('prompt');
    const prompt = this.#add(
      program,
      { type: 'user', message: { role: 'user', content: block.word } },
      block,
    );
    program.points = [...program.points, { prompt, length, leaf }];
    return prompt;
  }

  #turn(program: Program): void {
    this.prompt(program);
    if (this.#world.chance(0.2)) this.#note(program);
    for (let left = this.#world.below(3); left > 0; left -= 1)
      if (!this.session.isOld && this.#world.chance(0.35)) this.#agentCall(program);
      else this.#calls(program);
    this.#answer(program);
    if (this.#world.chance(0.2)) this.#note(program);
  }

  #note(program: Program): void {
    const fields = this.#world.chance(0.5)
      ? { type: 'system', subtype: 'turn_duration', durationMs: 5 }
      : { type: 'attachment', attachment: { type: 'hook_success', hookName: 'Stop', exitCode: 0 } };
    this.#add(program, fields, null);
  }

  /** The first row of an answer: what its model was given is known now. */
  #begin({ path, seenFrom, kept }: Program, agent = ''): (row: WrittenRow) => WrittenRow {
    const given = { agent, path, seen: seenBy({ path, seenFrom, kept }) };
    return (row) => {
      this.session.given.set(uuidOf(row), given);
      return row;
    };
  }

  #said(
    { id, model }: NonNullable<Block['message']>,
    content: JsonObject,
    tokens: number,
    stop: string | null,
  ): JsonObject {
    const usage = { input_tokens: tokens, output_tokens: 2 * tokens };
    const message = { id, type: 'message', role: 'assistant', model, content: [content], stop_reason: stop };
    return { type: 'assistant', message: { ...message, usage } };
  }

  /** An answer of one or two rows. */
  #answer(program: Program): void {
    const message = this.#message();
    const begun = this.#begin(program);
    const rows = this.#world.chance(0.3) ? 2 : 1;
    for (let row = 1; row <= rows; row += 1) {
      const written = this.#textRow(program, message, row, row === rows);
      if (row === 1) begun(written);
    }
  }

  #textRow(
    program: Program,
    message: NonNullable<Block['message']>,
    row: number,
    isLast: boolean,
  ): WrittenRow {
    const tokens = 10 * row + this.#world.below(10);
    const block = this.#block('text', { message, tokens });
    const stop = isLast ? 'end_turn' : null;
    return this.#add(program, this.#said(message, { type: 'text', text: block.word }, tokens, stop), block);
  }

  /** Parallel calls, perhaps after a text, whose results come in any order, each below its call. */
  #calls(program: Program): void {
    const calls = this.#callRows(program);
    if (calls.length > 1) this.session.kinds.add('parallel calls');
    for (const call of calls.map((one) => [this.#world.random(), one] as const).sort(([a], [b]) => a - b))
      this.#result(program, call[1]);
  }

  #callRows(program: Program): WrittenRow[] {
    const message = this.#message();
    const begun = this.#begin(program);
    const rows: WrittenRow[] = [];
    if (this.#world.chance(0.3)) rows.push(this.#textRow(program, message, 1, false));
    const count = 1 + this.#world.below(3);
    for (let at = 1; at <= count; at += 1) {
      const tokens = 20 + 10 * at + this.#world.below(10);
      const callId = `toolu_${this.#world.next()}`;
      const block = this.#block('call', { message, tokens, callId });
      const call = {
        type: 'tool_use',
        id: callId,
        name: 'Read',
        input: { file_path: block.word },
      };
      rows.push(
        this.#add(program, this.#said(message, call, tokens, at === count ? 'tool_use' : null), block),
      );
    }
    begun(rows[0] as WrittenRow);
    return rows.filter(({ block }) => block?.kind === 'call');
  }

  #result(program: Program, call: WrittenRow): void {
    const { callId = '' } = call.block ?? {};
    const block = this.#block('result', { callId });
    const content = [{ type: 'tool_result', tool_use_id: callId, content: block.word }];
    this.#add(program, { type: 'user', message: { role: 'user', content } }, block, uuidOf(call));
  }

  /** A turn that stops at calls without results. */
  stopInTurn(program: Program): void {
    this.prompt(program);
    program.open = this.#callRows(program);
  }

  finishTurn(program: Program): void {
    for (const call of program.open) this.#result(program, call);
    program.open = [];
    this.#answer(program);
  }

  /** A call of a sub-agent: in the foreground, in the background, or a fork of the caller. */
  #agentCall(program: Program): void {
    const before = { path: program.path, seen: seenBy(program), leaf: program.leaf };
    const message = this.#message();
    const begun = this.#begin(program);
    const tokens = 5 + this.#world.below(10);
    const id = `toolu_${this.#world.next()}`;
    const block = this.#block('call', { message, tokens, callId: id });
    const fork =
      this.#world.chance(0.3) && before.leaf !== null && program.isChain ? this.#world.below(2) + 1 : 0;
    const input = { prompt: block.word, description: 'look', subagent_type: fork > 0 ? 'fork' : 'Explore' };
    const call = begun(
      this.#add(
        program,
        this.#said(message, { type: 'tool_use', id, name: 'Agent', input }, tokens, 'tool_use'),
        block,
      ),
    );
    const agent = this.#newAgent(id, '', fork === 0 ? null : before, fork === 2);
    this.#agentPrompt(agent, block.word);
    const isInBackground = this.#world.chance(0.4);
    if (fork > 0) this.session.kinds.add('forked agent');
    this.session.kinds.add(isInBackground ? 'agent in the background' : 'agent');
    if (!isInBackground) this.#agentEnd(agent);
    const word = isInBackground ? undefined : agent.answer?.block?.word;
    const result = this.#block('result', { callId: id, ...(word !== undefined && { word }) });
    const toolUseResult: JsonObject = isInBackground
      ? { status: 'async_launched', agentId: agent.id }
      : { status: 'completed', agentId: agent.id, content: [{ type: 'text', text: result.word }] };
    const content = [{ type: 'tool_result', tool_use_id: id, content: result.word }];
    const fields = { type: 'user', message: { role: 'user', content }, toolUseResult };
    const row = this.#add(program, fields, result, uuidOf(call));
    if (isInBackground) agent.launchedIn = row;
    else agent.heardIn = { row, agent: '' };
  }

  /** `head`: what the agent begins with. `isRepeated`: its file repeats the head. Otherwise the file names its end. */
  #newAgent(
    callId: string,
    caller: string,
    head: { readonly path: Path; readonly seen: Path; readonly leaf: string | null } | null,
    isRepeated: boolean,
  ): WrittenAgent {
    const id = `a${this.#world.next()}`;
    const inherited: WrittenAgent['inherited'] = head ?? { path: [], seen: [] };
    const agent: WrittenAgent = {
      begins: 0,
      ...{ id, callId, caller, rows: [], lines: [], inherited, leaf: null },
      ...{ launchedIn: null, answer: null, heardIn: null, isOver: false },
      meta:
        this.#world.chance(0.6) || head !== null
          ? { agentType: head === null ? 'Explore' : 'fork', toolUseId: callId }
          : null,
    };
    const last = inherited.path.findLast(({ block }) => block !== null);
    if (head !== null && isRepeated)
      for (const { record } of inherited.path.slice(inherited.path.indexOf(head.seen[0] as WrittenRow)))
        agent.lines.push({ ...record, isSidechain: true, agentId: id });
    else if (head !== null)
      agent.lines.push({
        ...{ type: 'fork-context-ref', agentId: id, parentSessionId: this.session.id },
        ...{ parentLastUuid: last === undefined ? '' : uuidOf(last), contextLength: head.seen.length },
      });
    const whole = { ...agent, begins: agent.lines.length + 1 };
    this.session.agents.push(whole);
    return whole;
  }

  #agentRow(agent: WrittenAgent, fields: JsonObject, block: Block): WrittenRow {
    const record = {
      ...{ parentUuid: agent.leaf, isSidechain: true, cwd: '/srv/shop', sessionId: this.session.id },
      ...{ version: '2.1.260', agentId: agent.id, uuid: this.#world.id(), timestamp: this.#world.now() },
      ...fields,
    };
    const row = { block, record };
    agent.rows.push(row);
    agent.lines.push(record);
    agent.leaf = record.uuid;
    return row;
  }

  #agentPrompt(agent: WrittenAgent, word: string): void {
    const block = this.#block('prompt', { word });
    this.#agentRow(agent, { type: 'user', message: { role: 'user', content: word } }, block);
  }

  #agentGiven(agent: WrittenAgent): (row: WrittenRow) => WrittenRow {
    const { path, seen } = agent.inherited;
    const given = { agent: agent.id, path: [...path, ...agent.rows], seen: [...seen, ...agent.rows] };
    return (row) => {
      this.session.given.set(uuidOf(row), given);
      return row;
    };
  }

  /** A call and its result, or a call of a further agent. */
  #agentWork(agent: WrittenAgent): void {
    const message = this.#message();
    const begun = this.#agentGiven(agent);
    const tokens = 5 + this.#world.below(20);
    const id = `toolu_${this.#world.next()}`;
    const block = this.#block('call', { message, tokens, callId: id });
    const isNested = agent.caller === '' && this.#world.chance(0.25);
    if (isNested) this.session.kinds.add('nested agent');
    const call = isNested
      ? { type: 'tool_use', id, name: 'Agent', input: { prompt: block.word, subagent_type: 'Explore' } }
      : { type: 'tool_use', id, name: 'Read', input: { file_path: block.word } };
    begun(this.#agentRow(agent, this.#said(message, call, tokens, 'tool_use'), block));
    const nested = isNested ? this.#newAgent(id, agent.id, null, false) : null;
    if (nested !== null) {
      this.#agentPrompt(nested, block.word);
      this.#agentEnd(nested);
    }
    const word = nested?.answer?.block?.word;
    const result = this.#block('result', { callId: id, ...(word !== undefined && { word }) });
    const content = [{ type: 'tool_result', tool_use_id: id, content: result.word }];
    const report =
      nested === null
        ? {}
        : {
            toolUseResult: {
              ...{ status: 'completed', agentId: nested.id },
              content: [{ type: 'text', text: result.word }],
            },
          };
    const row = this.#agentRow(
      agent,
      { type: 'user', message: { role: 'user', content }, ...report },
      result,
    );
    if (nested !== null) nested.heardIn = { row, agent: agent.id };
  }

  #agentEnd(agent: WrittenAgent): void {
    if (this.#world.chance(0.4)) this.#agentWork(agent);
    const message = this.#message();
    const begun = this.#agentGiven(agent);
    const tokens = 5 + this.#world.below(20);
    const block = this.#block('text', { message, tokens });
    const said = this.#said(message, { type: 'text', text: block.word }, tokens, 'end_turn');
    agent.answer = begun(this.#agentRow(agent, said, block));
    agent.isOver = true;
  }

  /** An agent of the background works, or reports that it has ended: in the conversation, or where it was called. */
  #background(): boolean {
    const agent = this.session.agents.find(({ isOver, heardIn }) => !isOver || heardIn === null);
    if (agent === undefined || agent.caller !== '') return false;
    if (!agent.isOver) {
      if (this.#world.chance(0.5)) this.#agentWork(agent);
      else this.#agentEnd(agent);
      return true;
    }
    const { word = '' } = agent.answer?.block ?? {};
    const text = `<task-notification>\n<task-id>${agent.id}</task-id>\n<tool-use-id>${agent.callId}</tool-use-id>\n<status>completed</status>\n<result>${word}</result>\n</task-notification>`;
    const fields = { type: 'user', message: { role: 'user', content: text } };
    const block = this.#block('notice', { word });
    const { launchedIn } = agent;
    const holds = ({ path }: { readonly path: Path }) => path.includes(launchedIn as WrittenRow);
    const holder = this.session.programs.find(holds);
    const left = this.session.left.find((one) => one.late !== 'within' && holds(one));
    // While programs share the session, it is unknown whose marker waits, so no row comes between.
    if (holder === undefined && (left === undefined || this.#isShared)) return false;
    if (holder === undefined && left !== undefined) {
      const row = this.#lateRow(left, left.path.at(-1) as WrittenRow, fields, block);
      agent.heardIn = { row, agent: '' };
      return true;
    }
    if (holder === undefined || holder.open.length > 0 || this.session.open !== null) return true;
    agent.heardIn = { row: this.#add(holder, fields, block), agent: '' };
    this.#answer(holder);
    return true;
  }

  #leave({ path, seenFrom, kept, points }: Program): void {
    this.session.left.push({ path, seenFrom, kept, points, late: 'no' });
  }

  #mark(leaf: string | null, cut: WrittenRow | undefined): void {
    const { session } = this;
    const number = this.#world.next();
    session.marker = {
      ...{ type: 'last-prompt', lastPrompt: `${number}`, leafUuid: leaf, explicit: true, rewound: true },
      ...{ cutUuid: cut === undefined ? null : uuidOf(cut), sessionId: session.id },
    };
    session.lines.push(session.marker);
  }

  #keep(program: Program, length: number, leaf: string | null): void {
    program.path = program.path.slice(0, length);
    program.leaf = leaf;
    program.points = program.points.filter((point) => point.length < length);
  }

  /** Goes back to before a prompt. */
  #goBack(program: Program): boolean {
    const { session } = this;
    const point = this.#world.pick(program.points);
    if (point === undefined || (point.leaf === null && program.seenFrom > 0)) return false;
    const isMarked = this.#isShared || (!session.isOld && this.#world.chance(0.5));
    session.kinds.add(isMarked ? 'rewind with a marker' : 'rewind without a marker');
    this.#leave(program);
    if (isMarked) this.#mark(point.leaf, point.prompt);
    if (isMarked && this.#isShared) session.needsMarkers = true;
    this.#keep(program, point.length, point.leaf);
    this.#afterRewind(program, isMarked);
    return true;
  }

  #afterRewind(program: Program, isMarked: boolean): void {
    const last = program.path.findLast(({ block }) => block !== null);
    const { open, left } = this.session;
    const before = open?.before ?? left.at(-1)?.path ?? [];
    if (isMarked) this.session.open = { keptThrough: last === undefined ? null : uuidOf(last), before };
    // Of two programs, the file does not show whose marker waits.
    if (!isMarked || this.#isShared || this.#world.chance(0.8)) this.#turn(program);
  }

  /** Goes back to any row that the model sees, within a turn or a message. */
  #goAnywhere(program: Program): boolean {
    const from = Math.max(program.seenFrom, this.#isShared ? (program.points[0]?.length ?? 1e9) : 0);
    const at = from + this.#world.below(program.path.length - from);
    const [row, cut] = [program.path[at], program.path[at + 1]];
    if (this.session.isOld || row?.block == null || cut === undefined || program.kept.length > 0)
      return false;
    this.session.kinds.add('rewind within a turn');
    this.#leave(program);
    this.#mark(uuidOf(row), cut);
    this.session.needsMarkers = true;
    this.#keep(program, at + 1, uuidOf(row));
    this.#afterRewind(program, true);
    return true;
  }

  /** Returns to a row of a branch that was left. */
  #return(program: Program): boolean {
    const { session } = this;
    const left = this.#world.pick(
      session.left.filter(
        ({ late, seenFrom, path }) =>
          late !== 'within' &&
          seenFrom === program.seenFrom &&
          (seenFrom === 0 || path[seenFrom] === program.path[seenFrom]) &&
          path.some((row, at) => row !== program.path[at]),
      ),
    );
    if (left === undefined || this.#isShared || session.open !== null) return false;
    const same = left.path.findIndex((row, at) => row !== program.path[at]);
    // A branch that got a row since it was left is continued by another program, if no marker says that it is not.
    const isLate = session.left.some(({ late }) => late !== 'no');
    const isMarked = !session.isOld && (isLate || this.#world.chance(0.6));
    if (!isMarked && isLate) return false;
    const points = left.points.filter(({ length }) => length > same);
    const ends = [left.path.length, ...points.map(({ length }) => length)];
    const length = isMarked
      ? same + 1 + this.#world.below(left.path.length - same)
      : this.#world.pick(ends.filter((end) => end > same));
    const row = left.path[length - 1];
    if (row === undefined || length <= same || (isMarked && row.block === null)) return false;
    const cut = program.path[same];
    session.kinds.add('return to a left branch');
    this.#leave(program);
    if (isMarked) this.#mark(uuidOf(row), this.#world.chance(0.5) ? cut : undefined);
    if (isMarked) session.needsMarkers = true;
    const { path, seenFrom, kept } = left;
    Object.assign(program, { path: path.slice(0, length), leaf: uuidOf(row), seenFrom, kept });
    program.points = left.points.filter((point) => point.length < length);
    this.#afterRewind(program, isMarked);
    return true;
  }

  /** A prompt that was taken back before its answer, and another one. */
  #cancel(program: Program): boolean {
    if (this.#isShared || program.leaf === null || this.session.open !== null) return false;
    this.session.kinds.add('prompt taken back');
    this.prompt(program);
    const point = program.points.at(-1) as Point;
    this.#leave(program);
    this.#keep(program, point.length, point.leaf);
    this.#turn(program);
    return true;
  }

  #compact(program: Program): boolean {
    const { session } = this;
    if (program.leaf === null || session.open !== null || session.isOld) return false;
    session.kinds.add('compaction');
    const before = { ...program };
    const last = uuidOf(program.path.at(-1) as WrittenRow);
    const points = program.points.filter(({ length }) => length > program.seenFrom);
    const from = this.#isShared || this.#world.chance(0.7) ? undefined : this.#world.pick(points)?.length;
    const kept = from === undefined ? [] : program.path.slice(from).filter(({ block }) => block !== null);
    const summary = this.#block('summary');
    const anchor = this.#world.id();
    const uuids = kept.map(uuidOf);
    const compactMetadata = {
      ...{ trigger: 'auto', preTokens: 100, durationMs: 20 },
      ...(kept.length > 0 && { preservedMessages: { anchorUuid: anchor, uuids, allUuids: uuids } }),
    };
    const boundary = { type: 'system', subtype: 'compact_boundary', logicalParentUuid: last };
    this.#add(program, { ...boundary, compactMetadata }, null, null);
    program.seenFrom = program.path.length;
    const message = { role: 'user', content: summary.word };
    this.#add(program, { type: 'user', uuid: anchor, message, isCompactSummary: true }, summary);
    program.kept = kept;
    program.points = [];
    program.isChain = kept.length === 0;
    session.hasKept ||= kept.length > 0;
    if (kept.length > 0) session.kinds.add('compaction that keeps rows');
    if (!this.#isShared && this.#world.chance(0.3)) this.#behind(program, before);
    return true;
  }

  /** A rewind behind a compaction: a boundary that is its own anchor. */
  #behind(program: Program, { path, seenFrom, kept, points }: Program): void {
    if (kept.length > 0) return;
    this.#turn(program);
    const point = this.#world.pick(points);
    const length = point === undefined || this.#world.chance(0.5) ? path.length : point.length;
    const stays = path.slice(0, length);
    const uuids = stays
      .slice(seenFrom)
      .filter(({ block }) => block !== null)
      .map(uuidOf);
    if (uuids.length === 0) return;
    this.session.kinds.add('rewind behind a compaction');
    this.#leave(program);
    const uuid = this.#world.id();
    const preservedMessages = { anchorUuid: uuid, uuids };
    const compactMetadata = { trigger: 'manual', preTokens: 0, durationMs: 0, preservedMessages };
    const fields = { type: 'system', subtype: 'compact_boundary', uuid, compactMetadata };
    const row = this.#row(null, fields, null);
    Object.assign(program, { path: [...stays, row], leaf: uuid, seenFrom, kept, points: [] });
    Object.assign(program, { isChain: false });
    this.session.hasKept = true;
    this.#turn(program);
  }

  /** A row of what was left: the report of a background task, or a hook. */
  #late(): boolean {
    const left = this.#world.pick(this.session.left.filter(({ late }) => late !== 'within'));
    if (left === undefined || this.#isShared) return true;
    const parent = this.#world.chance(0.5) ? left.path.at(-1) : this.#world.pick(left.path);
    if (parent?.block == null || this.#isOnAny(parent)) return true;
    const block = this.#world.chance(0.5) ? this.#block('notice') : null;
    const fields =
      block === null
        ? { type: 'system', subtype: 'stop_hook_summary', hookCount: 0 }
        : { type: 'user', isMeta: true, message: { role: 'user', content: block.word } };
    this.#lateRow(left, parent, fields, block);
    return true;
  }

  #lateRow(left: LeftBranch, parent: WrittenRow, fields: JsonObject, block: Block | null): WrittenRow {
    this.session.kinds.add('late row');
    const { open } = this.session;
    const row = this.#row(uuidOf(parent), fields, block);
    // Nothing has followed the marker, so the row is on the branch that is still the current one.
    const isHere = open?.before.includes(parent) === true;
    this.session.open = open !== null && isHere ? { ...open, before: [...open.before, row] } : open;
    const having = this.session.left.filter(({ path }) => path.includes(parent));
    const isAtEnd = having.length === 1 && left.path.at(-1) === parent;
    for (const one of having) one.late = isAtEnd ? 'end' : 'within';
    if (isAtEnd) left.path = [...left.path, row];
    return row;
  }

  #isOnAny(row: WrittenRow): boolean {
    const { programs } = this.session;
    return programs.some(({ path }) => path.includes(row));
  }

  /** A second program opens the session where it is, and both write at once: the rows of their answers alternate. */
  #secondProgram(program: Program): boolean {
    const { session } = this;
    if (this.#isShared || session.open !== null || session.isOld || program.kept.length > 0) return false;
    session.kinds.add('second program');
    session.programs.push({ ...program, points: [], open: [] });
    program.points = [];
    session.needsMarkers = true;
    for (const one of session.programs) this.prompt(one);
    const messages = session.programs.map(() => this.#message());
    const begun = session.programs.map((one) => this.#begin(one));
    for (const row of [1, 2])
      for (const [at, one] of session.programs.entries()) {
        const message = messages[at] as NonNullable<Block['message']>;
        const written = this.#textRow(one, message, row, row === 2);
        if (row === 1) begun[at]?.(written);
      }
    return true;
  }
}

export function uuidOf({ record }: WrittenRow): string {
  return String(record.uuid);
}
