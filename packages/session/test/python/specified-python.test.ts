import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';
import { type SessionFormatId, sessionFormats } from '@hansard/formats';
import { SessionViewer } from '@hansard/views';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../truth/random.ts';
import { playRandomSession } from '../truth/random-session.ts';

const specs = process.env.HANSARD_SPECS ?? join(import.meta.dirname, '../../../../../shared/specs');
const isThere = existsSync(join(specs, 'session-log-v1.md'));
const hasPython = spawnSync('python3', ['--version']).status === 0;
const canRun = isThere && hasPython;
const skipped = canRun
  ? ''
  : ` (skipped: ${hasPython ? 'no specifications; HANSARD_SPECS names their folder' : 'no python3'})`;

/** How many sessions are read and written. `HANSARD_PYTHON_SESSIONS=1000` is the campaign; its figures are in `scripts/campaigns/python.json`. */
const sessions = Number(process.env.HANSARD_PYTHON_SESSIONS ?? 40);
const firstSeed = Number(process.env.HANSARD_SEED ?? 1);
const seeds = Array.from({ length: sessions }, (_, at) => firstSeed + at);
const formats = [sessionFormats['session-v1'], sessionFormats['session-v2']];

/** A message as both sides have it: its role, text, calls with parsed arguments, and the call that it answers. */
type Said = readonly [
  role: string,
  content: string | null,
  calls: readonly JsonValue[],
  answers: string | null,
];

interface PythonReading {
  readonly agents: Readonly<Record<string, string | null>>;
  readonly transcripts: Readonly<Record<string, readonly JsonObject[]>>;
  /** What `load_session` of v1 built, from the root down. */
  readonly built?: Readonly<Record<string, readonly JsonObject[]>>;
  readonly root?: string;
}

function python(job: { read: JsonValue; write: JsonValue; resume?: readonly string[] }): {
  read: PythonReading[];
  resumed: string[];
} {
  const { status, stdout, stderr } = spawnSync('python3', [join(import.meta.dirname, 'specified.py')], {
    input: JSON.stringify({ specs, ...job }),
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    env: { ...process.env, PYTHONUTF8: '1' },
  });
  expect([status, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

/** The transcripts as our viewer has them. What only an answer thought has no record in either dialect. */
function ourTranscripts(viewer: SessionViewer): Record<string, Said[]> {
  return Object.fromEntries(
    [...viewer.listAgents().keys()].map((agentId) => [
      agentId,
      viewer
        .getTranscript(agentId)
        .filter(({ events }) => events.some(({ type }) => type !== 'agent:thinking'))
        .map(({ message: { role, content, toolCalls = [], toolCallId = null } }): Said => {
          const calls = toolCalls.map(({ toolCallId: id, tool, input }) => [id, tool, input]);
          return [role, content, calls, toolCallId];
        }),
    ]),
  );
}

function pythonTranscripts(transcripts: Readonly<Record<string, readonly JsonObject[]>>) {
  return Object.fromEntries(
    Object.entries(transcripts).map(([agentId, messages]) => [agentId, messages.map(saidOf)]),
  );
}

function saidOf({ role, content = null, tool_calls: calls, tool_call_id: answers = null }: JsonObject): Said {
  const made = ((calls ?? []) as JsonObject[]).map(({ id, function: called }) => {
    const { name, arguments: input } = called as { name: string; arguments: string };
    return [id ?? null, name, JSON.parse(input) as JsonValue];
  });
  return [role as string, content as string | null, made, answers as string | null];
}

describe(`the Python of the specifications, with ${sessions} sessions from seed ${firstSeed}${skipped}`, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'hansard-python-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.skipIf(!canRun)(
    'reads exports of random sessions, and has the transcripts that our viewer has',
    async () => {
      const exported: {
        format: SessionFormatId;
        file: string;
        seed: number;
        ours: Record<string, Said[]>;
      }[] = [];
      for (const seed of seeds) {
        const { events } = await playRandomSession(seed, 64);
        const ours = ourTranscripts(new SessionViewer(events));
        for (const { id: format, write } of formats) {
          const file = join(folder, `${seed}.${format}.jsonl`);
          writeFileSync(file, write(events).text);
          exported.push({ format, file, seed, ours });
        }
      }
      const { read: found } = python({
        read: exported.map(({ format, file }) => ({ format, file })),
        write: [],
      });
      let messages = 0;
      let built = 0;
      for (const [at, { seed, format, ours }] of exported.entries()) {
        const theirs = found[at] as PythonReading;
        expect(pythonTranscripts(theirs.transcripts), `seed ${seed}, ${format}`).toEqual(ours);
        messages += Object.values(ours).flat().length;
        if (format === 'session-v2') continue;
        const tree = pythonTranscripts(theirs.built ?? {});
        expect(tree, `seed ${seed}`).toEqual(
          Object.fromEntries(Object.keys(tree).map((agentId) => [agentId, ours[agentId]])),
        );
        built += Object.keys(tree).length;
      }
      expect(found).toHaveLength(2 * sessions);
      expect(messages).toBeGreaterThan(20 * sessions);
      expect(built).toBeGreaterThanOrEqual(sessions);
    },
    600_000,
  );

  it.skipIf(!canRun)(
    'loads exports of random sessions, whose messages are numbered, and continues their ids',
    async () => {
      const files: { file: string; lines: number; agents: Set<string>; seed: number }[] = [];
      for (const seed of seeds) {
        const { events } = await playRandomSession(seed, 64);
        const { text } = sessionFormats['session-v2'].write(withMintedIds(events));
        const records: JsonObject[] = text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line));
        const numbers = records.map((_, at) => `msg_${String(at + 1).padStart(3, '0')}`);
        expect(
          records.map(({ message_id: id }) => id),
          `seed ${seed}`,
        ).toEqual(numbers);
        const file = join(folder, `${seed}.resumed.jsonl`);
        writeFileSync(file, text);
        const agents = new Set(records.map(({ agent_id: id }) => String(id)));
        files.push({ file, lines: records.length, agents, seed });
      }
      const { resumed } = python({ read: [], write: [], resume: files.map(({ file }) => file) });
      for (const [at, { file, lines, agents, seed }] of files.entries()) {
        const agentId = resumed[at] ?? '';
        expect([agentId.startsWith('agent_'), agents.has(agentId)], `seed ${seed}`).toEqual([true, false]);
        const { events, report } = sessionFormats['session-v2'].read(readFileSync(file, 'utf8'));
        expect(report.diagnostics.filter(({ code }) => code === 'id_taken')).toEqual([]);
        expect(
          events.slice(-2).map(({ id, agentId: of }) => [id, of]),
          `seed ${seed}`,
        ).toEqual([1, 2].map((more) => [`msg_${String(lines + more).padStart(3, '0')}`, agentId]));
      }
    },
    600_000,
  );

  it.skipIf(!canRun).each(formats)(
    'writes random logs of $id that we read as they were meant, write again byte for byte, and give as trees',
    ({ id: format, read, write }) => {
      const meant = seeds.map((seed) => ({
        ...new RandomTalk(seed, format).play(),
        file: join(folder, `${seed}.${format}.python.jsonl`),
      }));
      python({ read: [], write: meant.map(({ file, steps }) => ({ format, file, steps })) });
      for (const [at, { file, transcripts }] of meant.entries()) {
        const text = readFileSync(file, 'utf8');
        const { events, report } = read(text);
        expect(ourTranscripts(new SessionViewer(events)), `seed ${seeds[at]}`).toEqual(transcripts);
        expect(report.diagnostics, `seed ${seeds[at]}`).toEqual([]);
        expect(write(events).text, `seed ${seeds[at]}`).toBe(text);
        writeFileSync(file, sessionFormats['session-v1'].write(events).text);
      }
      const inV1 = meant.map(({ file }) => ({ format: 'session-v1', file }));
      const { read: trees } = python({ read: inV1, write: [] });
      for (const [at, { transcripts }] of meant.entries())
        expect(pythonTranscripts(trees[at]?.built ?? {}), `seed ${seeds[at]}`).toEqual(transcripts);
    },
    600_000,
  );
});

/** The events with ids as a program gets them: those of the random play are `e1`, `e2` … */
function withMintedIds(events: readonly CapturedEvent[]): CapturedEvent[] {
  const text = JSON.stringify(events).replace(
    /"e(\d+)((?:\.\d+)?)"/g,
    (_, number: string, block: string) => `"01JM8Z7T3V${number.padStart(16, '0')}${block}"`,
  );
  return JSON.parse(text);
}

const texts = ['Yes.', 'Grüß Gott', '"so", he said', 'a\nb\t\\', '🙂 \u2028', 'Error: no', 'ß: 1, 2', ''];

/** Calls of the logger of a dialect, and the transcripts that they mean. */
class RandomTalk {
  readonly #random: Random;
  readonly #isV1: boolean;
  readonly #steps: [string, JsonObject][] = [];
  readonly #transcripts: Record<string, Said[]> = {};
  /** The ids and agents of what was said. */
  readonly #said: { id: string; agentId: string; text: string }[] = [];

  constructor(seed: number, format: SessionFormatId) {
    this.#random = new Random(seed);
    this.#isV1 = format === 'session-v1';
  }

  play(): { steps: [string, JsonObject][]; transcripts: Record<string, Said[]> } {
    this.#create('agent_root', {});
    for (let turn = 0; turn < 12; turn += 1) this.#turn();
    return { steps: this.#steps, transcripts: this.#transcripts };
  }

  #turn(): void {
    const agentId = this.#random.pick(Object.keys(this.#transcripts));
    const heard = this.#hear(agentId);
    if (this.#random.chance(0.5)) {
      const text = this.#random.pick(texts.filter((one) => one !== ''));
      const id = this.#message(agentId, { role: 'assistant', content: text }, this.#cause(heard));
      this.#said.push({ id, agentId, text });
    } else this.#call(agentId, heard);
  }

  /** A person, or an utterance of another agent that is delivered. */
  #hear(agentId: string): string {
    const said = this.#said.filter((one) => one.agentId !== agentId);
    if (said.length === 0 || this.#random.chance(0.4)) {
      const source = this.#isV1 ? { source: 'external' } : {};
      return this.#message(agentId, { role: 'user', content: this.#random.pick(texts) }, source);
    }
    const { id, agentId: speaker, text } = this.#random.pick(said);
    const links = this.#isV1 ? { source: speaker, caused_by: id, utterance_ref: id } : { substance: id };
    return this.#message(agentId, { role: 'user', content: `[${speaker}]: ${text}` }, links);
  }

  /** A message with one call, which creates an agent or gives an answer. */
  #call(agentId: string, heard: string): void {
    const callId = `c${this.#steps.length}`;
    const input = { name: this.#random.pick(texts), n: [1, null, true] };
    const isThinking = this.#random.chance(0.3);
    const text = JSON.stringify(input);
    const message = {
      role: 'assistant',
      ...(isThinking ? { content: 'Let me see.' } : this.#isV1 ? { content: null } : {}),
      tool_calls: [
        {
          id: callId,
          type: 'function',
          // As Python writes arguments.
          function: { name: 'task', arguments: this.#random.chance(0.5) ? text : text.replace(':', ': ') },
        },
      ],
    };
    const id = this.#message(agentId, message, this.#cause(heard));
    const count = Object.keys(this.#transcripts).length;
    if (count < 5 && this.#random.chance(0.6)) {
      const created = `agent_${count}`;
      this.#create(created, { ...this.#cause(id), ...(this.#isV1 ? {} : { cause: id }), name: `N${count}` });
      this.#message(created, { role: 'system', content: 'You are new.' }, {});
    }
    const content = this.#random.pick(texts);
    this.#message(agentId, { role: 'tool', tool_call_id: callId, content }, this.#cause(id));
  }

  #cause(id: string): JsonObject {
    return this.#isV1 ? { caused_by: id } : {};
  }

  #create(agentId: string, fields: JsonObject): void {
    this.#transcripts[agentId] = [];
    this.#steps.push(['log_agent_created', { agent_id: agentId, language_model: 'test/small', ...fields }]);
  }

  #message(agentId: string, message: JsonObject, links: JsonObject): string {
    const method = this.#isV1 ? 'log_message' : 'log_transcript_entry';
    this.#steps.push([method, { agent_id: agentId, message, ...links }]);
    this.#transcripts[agentId]?.push(saidOf(message));
    return `msg_${`${this.#steps.length}`.padStart(3, '0')}`;
  }
}
