import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CapturedEvent, EventOf, JsonObject, JsonValue } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import { openClaudeTranscript } from '../../src/index.ts';
import { answer, call, lines, outcome, prompt, readTranscript, record, text, uuid } from './transcripts.ts';

type Open = typeof openClaudeTranscript;

const home = join(import.meta.dirname, '../..');

/** A message of a sub-agent: what its file has, and whether the progress of its caller has the message. */
interface Said {
  readonly agent: string;
  readonly row: JsonObject;
  readonly isInProgress: boolean;
  /** The event that it is: its type, and its words or its call. */
  readonly as: string;
  readonly messageId?: string;
  /** The output tokens of the message so far, as the file has them. */
  readonly output: number;
  readonly isFirst: boolean;
}

interface Written {
  readonly main: readonly JsonObject[];
  readonly said: readonly Said[];
  readonly end: number;
}

/** The progress of an agent: without the fields that only a record of a file has, and a text as a block. */
function progressOf({ agent, row, output }: Said, number: number, call: string): JsonObject {
  const { type, uuid, timestamp, message, toolUseResult } = row;
  const { content, usage, ...rest } = message as JsonObject;
  const blocks = typeof content === 'string' ? [text(content)] : content;
  const counted =
    usage === undefined ? {} : { usage: { input_tokens: 7, output_tokens: Math.min(output, 1) } };
  const reported = { type, uuid, timestamp, message: { ...rest, content: blocks, ...counted } } as JsonObject;
  if (toolUseResult !== undefined && number % 2 === 0) reported.toolUseResult = toolUseResult;
  const data = {
    type: 'agent_progress',
    agentId: agent,
    prompt: 'Look.',
    normalizedMessages: [],
    message: reported,
  };
  const fields = { type: 'progress', uuid: `progress-${number}`, data, parentToolUseID: call };
  return record(number, { ...fields, toolUseID: `agent_msg_${number}` });
}

/** A session whose agents work at the same time. Each number is a second. */
class Session {
  readonly main: JsonObject[] = [prompt(1, 'Go.')];
  readonly said: Said[] = [];
  readonly #random: () => number;
  #number = 1;
  readonly #open = new Map<
    string,
    { call: string | null; message: number; output: number; parent: JsonValue }
  >();

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    const agents = Array.from({ length: this.#below(3) + 1 }, (_, at) => `a${at + 1}`);
    for (const agent of agents) {
      this.main.push(answer(this.#next(), call(`task_${agent}`, 'Task', { prompt: 'Look.' })));
      this.#open.set(agent, { call: null, message: 0, output: 0, parent: null });
      this.#say(agent, 'user', 'Look.', `user:message Look.`);
    }
    for (let step = this.#below(14) + 3; step > 0; step -= 1)
      this.#step(agents[this.#below(agents.length)] ?? '');
    for (const agent of agents) {
      this.#say(agent, 'assistant', [text(`Seen by ${agent}.`)], `agent:text Seen by ${agent}.`);
      const toolUseResult = { status: 'completed', agentId: agent, content: [text(`Seen by ${agent}.`)] };
      if (this.#random() < 0.8)
        this.main.push(outcome(this.#next(), `task_${agent}`, `Seen by ${agent}.`, { toolUseResult }));
    }
  }

  get end(): number {
    return this.#number;
  }

  #next(): number {
    this.#number += 1;
    return this.#number;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #step(agent: string): void {
    const state = this.#open.get(agent);
    if (state === undefined) return;
    const kind = this.#below(10);
    const number = this.#number + 1;
    if (state.call !== null && kind < 6) {
      const block = {
        type: 'tool_result',
        tool_use_id: state.call,
        content: `out ${number}`,
        is_error: kind === 0,
      };
      this.#say(agent, 'user', [block], `agent:tool_result ${state.call}`, {
        toolUseResult: { stdout: 'out' },
      });
      state.call = null;
    } else if (kind < 8 && state.call === null) {
      state.call = `toolu_${number}`;
      const block = call(state.call, 'Bash', { command: 'ls' });
      this.#say(agent, 'assistant', [block], `agent:tool_call ${state.call}`);
    } else if (kind === 8) this.#say(agent, 'assistant', [text(`T${number}`)], `agent:text T${number}`);
    else this.#say(agent, 'user', `More ${number}`, `user:message More ${number}`);
  }

  #say(agent: string, type: string, content: JsonValue, as: string, more: JsonObject = {}): void {
    const state = this.#open.get(agent);
    if (state === undefined) return;
    const isText = as.startsWith('agent:text');
    if (type === 'user' || this.#random() < 0.3)
      Object.assign(state, { message: state.message + 1, output: 0 });
    state.output += 1;
    const messageId = type === 'assistant' ? `msg_${agent}_${state.message}` : undefined;
    const usage = { input_tokens: 7, output_tokens: state.output };
    const model = { id: messageId ?? '', type: 'message', model: 'claude-test', stop_reason: null, usage };
    const message = { role: type, content, ...(type === 'assistant' ? model : {}) };
    const place = { isSidechain: true, agentId: agent, parentUuid: state.parent };
    const row = record(this.#next(), { type, message, ...place, ...more });
    const isFirst = state.parent === null;
    state.parent = row.uuid ?? null;
    const facts = {
      agent,
      row,
      as,
      output: state.output,
      isFirst,
      isInProgress: !isText || this.#random() < 0.2,
    };
    const said: Said = messageId === undefined ? facts : { ...facts, messageId };
    this.said.push(said);
    for (let times = said.isInProgress ? 1 + Number(this.#random() < 0.1) : 0; times > 0; times -= 1)
      this.main.push(progressOf(said, this.#next(), `task_${agent}`));
  }
}

/** One state of the files: the last second of the session's file, and of each agent's file, 0 if it is not there. */
type Stage = ReadonlyMap<string, number>;

function stagesOf(seed: number, end: number, agents: ReadonlySet<string>): Stage[] {
  const random = randomFrom(seed + 9_000);
  const count = 1 + Math.floor(random() * 3);
  // By then every agent was called.
  const called = 12;
  const untils = Array.from({ length: count }, () =>
    random() < 0.4 ? end : Math.max(called, Math.ceil(end * random())),
  );
  untils[count - 1] = end;
  return untils
    .toSorted((one, other) => one - other)
    .map((until) => {
      const of = [...agents].map((agent) => {
        // Its own file can be ahead of its progress.
        const ahead = random() < 0.5 ? 0 : Math.floor(random() * 4);
        return [agent, random() < 0.5 ? 0 : until + ahead] as const;
      });
      return new Map([['', until], ...of]);
    });
}

const secondOf = ({ timestamp }: JsonObject) =>
  (Date.parse(String(timestamp)) - Date.parse('2026-03-01T09:30:00.000Z')) / 1_000;

/** What each stage shows of the agents: their messages, and the output of each message as it is counted. */
function rightOf({ main, said }: Written, stages: readonly Stage[]) {
  const messages = new Map<string, Said>();
  let counted = new Map<string, number>();
  for (const stage of stages) {
    counted = new Map();
    const inProgress = new Set(
      main.filter((row) => secondOf(row) <= (stage.get('') ?? 0)).map(({ data }) => uuidOf(data)),
    );
    const inFiles = (one: Said) => secondOf(one.row) <= (stage.get(one.agent) ?? 0);
    for (const one of said) {
      const hasFile = said.some((other) => other.agent === one.agent && inFiles(other));
      const isThere = hasFile ? inFiles(one) : inProgress.has(String(one.row.uuid));
      if (!isThere) continue;
      messages.set(String(one.row.uuid), one);
      if (one.messageId !== undefined) counted.set(one.messageId, hasFile ? one.output : 1);
    }
  }
  return { messages, counted };
}

function uuidOf(data: JsonValue | undefined): string {
  return String(((data as JsonObject | undefined)?.message as JsonObject | undefined)?.uuid);
}

function wordsOf({ type, data }: CapturedEvent): string {
  return `${type} ${data.toolCallId ?? data.text}`;
}

const kinds = new Set(['user:message', 'agent:text', 'agent:tool_call', 'agent:tool_result']);

/** What a store has after the stages: events never change, and an event of a message that the source holds twice stays. */
async function storedAfter(stages: readonly Stage[], { main, said }: Written, open: Open) {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-progress-'));
  const path = join(folder, 'session.jsonl');
  const stored = new Map<string, CapturedEvent>();
  let openCalls: readonly EventOf<'agent:inference'>[] = [];
  try {
    for (const stage of stages) {
      writeFileSync(path, lines(...main.filter((row) => secondOf(row) <= (stage.get('') ?? 0))));
      for (const [agent, until] of stage) {
        if (agent === '') continue;
        const file = join(folder, `session/subagents/agent-${agent}.jsonl`);
        const rows = said.filter((one) => one.agent === agent && secondOf(one.row) <= until);
        rmSync(file, { force: true });
        mkdirSync(dirname(file), { recursive: true });
        if (rows.length > 0) writeFileSync(file, lines(...rows.map(({ row }) => row)));
      }
      const log = await open(path);
      for await (const batch of log.read()) {
        const ids = new Set(batch.map(({ id }) => id));
        if (ids.size !== batch.length) return 'two events have one id';
        for (const event of batch) {
          const before = stored.get(event.id);
          if (before === undefined) stored.set(event.id, event);
          else if (
            JSON.stringify(before) !== JSON.stringify(event) &&
            log.isInSeveralRecords?.(event.id) !== true
          )
            return `${event.id} changed: ${JSON.stringify(before)} ${JSON.stringify(event)}`;
        }
      }
      openCalls = log.summary().openCalls;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { events: [...stored.values()], openCalls };
}

/** What is wrong in a session after its stages. Null: nothing. */
async function wrongIn(seed: number, open: Open): Promise<string | null> {
  const written = new Session(seed);
  const agents = new Set(written.said.map(({ agent }) => agent));
  const stages = stagesOf(seed, written.end, agents);
  const { messages, counted } = rightOf(written, stages);
  const found = await storedAfter(stages, written, open);
  if (typeof found === 'string') return `seed ${seed}: ${found}`;
  const ofAgents = found.events.filter(({ type, agentId }) => agentId !== undefined && kinds.has(type));
  const right = [...messages].map(([id, { agent, as }]) => `${id} ${agent} ${as}`);
  const are = ofAgents.map((event) => `${event.id} ${event.agentId} ${wordsOf(event)}`);
  // One import has them in their order; later ones add what is new.
  for (const agent of agents) {
    const of = (all: readonly string[]) => {
      const own = all.filter((one) => one.split(' ')[1] === agent);
      return JSON.stringify(stages.length === 1 ? own : own.sort());
    };
    if (of(are) !== of(right)) return `seed ${seed}: ${of(are)}, not ${of(right)}`;
  }
  for (const { id, data, cause } of ofAgents) {
    const said = messages.get(id);
    if (said?.isFirst !== true && String(cause).endsWith(':created'))
      return `seed ${seed}: ${id} begins no agent`;
    if (said?.isFirst === true && cause !== `${said.agent}:created`)
      return `seed ${seed}: ${id} begins an agent`;
    if (said?.isFirst === true && (data.source as JsonObject).kind !== 'agent')
      return `seed ${seed}: ${id} spoke`;
  }
  return stages.length > 1 ? null : countedWrong(seed, found.events, found.openCalls, counted);
}

function countedWrong(
  seed: number,
  events: readonly CapturedEvent[],
  openCalls: readonly CapturedEvent[],
  right: ReadonlyMap<string, number>,
): string | null {
  const sums = new Map<string, number>();
  for (const { type, messageId, agentId, data } of [...events, ...openCalls]) {
    if (type !== 'agent:inference' || agentId === undefined || messageId === undefined) continue;
    const { outputTokens } = data.usage as { outputTokens: number };
    sums.set(messageId, (sums.get(messageId) ?? 0) + outputTokens);
  }
  const inOrder = (all: ReadonlyMap<string, number>) => JSON.stringify([...all].sort());
  return inOrder(sums) === inOrder(right) ? null : `seed ${seed}: ${inOrder(sums)}, not ${inOrder(right)}`;
}

async function firstWrong(open: Open, seeds: number): Promise<string | null> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const wrong = await wrongIn(seed, open).catch((error: unknown) => `seed ${seed}: ${error}`);
    if (wrong !== null) return wrong;
  }
  return null;
}

const mapping = 'map/transcript-mapping.ts';
const mutants: readonly (readonly [string, readonly [file: string, piece: string, instead: string]])[] = [
  ['has no results', ['map/records.ts', "message.type === 'user' || message", 'message']],
  ['has the messages of a file from its progress', [mapping, 'agentsWithFile.has(agentId) || ', '']],
  [
    'has a message as often as progress repeats it',
    [mapping, ' || records.has(uuid)) return []', ') return []'],
  ],
  ['takes a text for the answer', [mapping, 'answers.delete(agentId);', '']],
  [
    'adds a message again when its file appears',
    [mapping, 'progress.has(eventId)', 'progress.has(eventId + "x")'],
  ],
  ['begins an agent with each prompt', [mapping, 'progress.begins(agentId) ?', 'true ?']],
  ['begins no agent', [mapping, 'progress.begins(agentId) ?', 'false ?']],
  [
    'counts the usage of progress as final',
    ['map/model-message.ts', 'isModel && !step.isFromProgress', 'isModel'],
  ],
];

describe('the messages of a sub-agent in the progress of its caller', () => {
  const seeds = 100;

  it(`are those of its file, once, in ${seeds} sessions with files that come and go`, async () => {
    expect(await firstWrong(openClaudeTranscript, seeds)).toBeNull();
  });

  it.each(mutants)('would differ if a reader %s', async (_, fault) => {
    const made = await importMutated(home, fault, 'index.ts');
    const { openClaudeTranscript: open } = made as { openClaudeTranscript: Open };
    expect(await firstWrong(open, seeds)).not.toBeNull();
  });

  it('are messages of their own if a record with the same id has other words', async () => {
    const reported = { type: 'user', uuid: uuid(9), message: { role: 'user', content: 'Look.' } };
    const data = { type: 'agent_progress', agentId: 'a1', message: reported };
    const inline = (words: string) =>
      prompt(9, words, { isSidechain: true, agentId: 'a1', parentUuid: null });
    const session = (words: string) =>
      lines(
        prompt(1, 'Go.'),
        answer(2, call('toolu_1', 'Task', {})),
        record(3, { type: 'progress', data, parentToolUseID: 'toolu_1' }),
        inline(words),
      );
    const idsOf = async (words: string) =>
      (await readTranscript(session(words))).events
        .filter(({ data }) => data.text === words)
        .map(({ id }) => id);
    expect(await idsOf('Look.')).toEqual([uuid(9)]);
    expect(await idsOf('Run.')).toEqual([`${uuid(9)}:2`]);
  });
});
