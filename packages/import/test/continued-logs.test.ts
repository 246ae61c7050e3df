import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { corpus, isCorpusThere, randomFrom, skipped } from '@hansard/testing';
import { describe, expect, it, vi } from 'vitest';
import { importAll, LogFolder, lines, prompts } from './logs.ts';
import { randomSession, type WrittenLine } from './random-session.ts';

const task = 'lab/tasks/growth';

/** The files of a session as they were at one time, by name. */
type Snapshot = ReadonlyMap<string, string>;

const bytesOf = (text: string) => Buffer.from(text, 'utf8');

/** The files after the first bytes of what was written to them. */
function snapshotAt(lines: readonly WrittenLine[], bytes: number): Snapshot {
  const files = new Map<string, string>();
  let left = bytes;
  for (const { file, text } of lines) {
    if (left <= 0) break;
    const whole = bytesOf(text);
    // A file beside a transcript is written at once.
    if (file.endsWith('.meta.json') && whole.length > left) break;
    files.set(file, `${files.get(file) ?? ''}${whole.subarray(0, left).toString('latin1')}`);
    left -= whole.length;
  }
  return files;
}

/** The same lines, but the metadata of sub-agents come some lines later. */
function withLateMetadata(lines: readonly WrittenLine[], seed: number): WrittenLine[] {
  const random = randomFrom(seed);
  return lines
    .map((line, at) => ({ line, at: line.file.endsWith('.meta.json') ? at + random() * 20 : at }))
    .sort((one, other) => one.at - other.at)
    .map(({ line }) => line);
}

/** Two stores that import the same files: one continues where it can, the other reads everything again. */
class Twins implements AsyncDisposable {
  readonly #folder = new LogFolder();
  readonly #continuing = openDispatchStore(createMemoryStore());
  readonly #rereading = openDispatchStore(createMemoryStore());
  #time = 1_000;
  imported = 0;
  continued = 0;
  rewritten = 0;

  /** Imports the files and compares what both stores have. `bytes` are Latin-1, so that a cut may be inside a character. */
  async importAndCompare(snapshot: Snapshot, label: string): Promise<void> {
    this.#time += 10;
    for (const [name, bytes] of snapshot) this.#write(name, Buffer.from(bytes, 'latin1'));
    const path = join(this.#folder.path, 'session.jsonl');
    const [item] = await importAll(this.#continuing, [path], { task });
    const [again] = await importAll(this.#rereading, [path], { task, reread: true });
    expect(again?.kind, label).toBe(item?.kind === 'unchanged' ? 'imported' : item?.kind);
    if (item?.kind === 'imported') {
      this.imported += 1;
      if (item.isContinued) this.continued += 1;
      this.rewritten += item.rewrittenCount;
    }
    expect(await stateOf(this.#continuing), label).toEqual(await stateOf(this.#rereading));
  }

  /** The types of the events of an agent, in the store that continues. */
  async typesOf(agentId: string): Promise<readonly string[]> {
    const { events } = await stateOf(this.#continuing);
    return events.flat().flatMap((event) => (event.agentId === agentId ? [event.type] : []));
  }

  #write(name: string, bytes: Buffer): void {
    const path = join(this.#folder.path, name);
    mkdirSync(dirname(path), { recursive: true });
    const before = statSync(path, { throwIfNoEntry: false });
    if (before !== undefined && readFileSync(path).equals(bytes)) return;
    if (before !== undefined && before.size > bytes.length) truncateSync(path, 0);
    writeFileSync(path, bytes);
    utimesSync(path, this.#time, this.#time);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#folder[Symbol.dispose]();
    await this.#continuing.close();
    await this.#rereading.close();
  }
}

/** The envelopes and events of a store, except the places that an import keeps to continue, and its run. */
async function stateOf(store: DispatchStore) {
  const envelopes = await store.getDispatchEnvelopes(task);
  const events = await Promise.all(
    envelopes.map(({ dispatchId }) => store.getDispatchEvents(task, dispatchId)),
  );
  return {
    envelopes: envelopes.map((envelope) => ({
      ...envelope,
      source: { ...envelope.source, kept: null, run: null },
    })),
    events,
  };
}

/** `HANSARD_SEEDS` sets how many seeds are tried. */
const seedsOfBlock = 5;
const blocks = Math.ceil(Number(process.env.HANSARD_SEEDS ?? 5) / seedsOfBlock);

async function growAndCompare(lines: readonly WrittenLine[], seed: number, cuts: number) {
  const random = randomFrom(seed);
  await using twins = new Twins();
  const all = lines.reduce((sum, { text }) => sum + bytesOf(text).length, 0);
  const first = bytesOf(lines[0]?.text ?? '').length;
  const ends = Array.from({ length: cuts }, () => first + Math.floor(random() * (all - first)));
  for (const end of [...ends.sort((one, other) => one - other), all])
    await twins.importAndCompare(snapshotAt(lines, end), `seed ${seed}, ${end} of ${all} bytes`);
  return { imported: twins.imported, continued: twins.continued };
}

/** The files of a recorded session in the order of the times of their lines. */
function recordedLines(folder: string, names: readonly string[]): WrittenLine[] {
  const timed = names.flatMap((name) => {
    let time = '';
    const file = name.replace(/^[^/]*\.jsonl$/, 'session.jsonl');
    return readFileSync(join(folder, name), 'utf8')
      .split(/(?<=\n)/)
      .map((text) => {
        time = /"timestamp":"([^"]+)"/.exec(text)?.[1] ?? time;
        return { file, text, time };
      });
  });
  const [first, ...others] = timed;
  const inOrder = others.sort((one, other) => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0));
  return first === undefined ? [] : [first, ...inOrder];
}

describe('a session that is imported while it grows', () => {
  it.each(Array.from({ length: blocks }, (_, at) => at * seedsOfBlock))(
    'has the events and totals of an import of the whole, wherever it was cut (seeds from %i)',
    async (first) => {
      let imported = 0;
      let continued = 0;
      for (let seed = first; seed < first + seedsOfBlock; seed += 1) {
        const lines = randomSession(seed, 120);
        const isLate = seed % seedsOfBlock === 1;
        const counts = await growAndCompare(isLate ? withLateMetadata(lines, seed) : lines, seed, 10);
        imported += counts.imported;
        continued += counts.continued;
      }
      expect(imported).toBeGreaterThan(40);
      // Metadata that come late make an import read everything.
      expect(continued / imported).toBeGreaterThan(0.2);
    },
  );
});

describe('a continued reading finds where a conversation goes', () => {
  const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  const row = (number: number, parent: number, fields: object = {}) => ({
    ...{ ...prompts(1)[0], uuid: uuid(number), parentUuid: parent === 0 ? null : uuid(parent) },
    timestamp: new Date(Date.parse('2026-03-01T09:30:00.000Z') + number * 1_000).toISOString(),
    ...fields,
  });
  const answered = (number: number, parent: number) => {
    const content = [{ type: 'text', text: `Answer ${number}` }];
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model: 'claude-test', usage };
    return row(number, parent, {
      type: 'assistant',
      message: { ...message, content, stop_reason: 'end_turn' },
    });
  };
  const talk = (rows: number) =>
    Array.from({ length: rows }, (_, at) => (at % 2 === 0 ? row(at + 1, at) : answered(at + 1, at)));
  const turn = [row(5, 4), ...Array.from({ length: 55 }, (_, at) => answered(at + 6, at + 5))];
  const hook = { type: 'attachment', attachment: { type: 'hook_success' }, message: undefined };

  it.each([
    [
      'a late row of a branch that was left',
      [...talk(4), row(5, 2), answered(6, 5)],
      [row(7, 4, { isMeta: true })],
    ],
    ['a prompt below a late row of an early answer', [...talk(4), ...turn, row(61, 2, hook)], [row(62, 61)]],
  ])('with %s', async (name, before, after) => {
    await using twins = new Twins();
    await twins.importAndCompare(new Map([['session.jsonl', lines(...before)]]), 'before');
    await twins.importAndCompare(new Map([['session.jsonl', lines(...before, ...after)]]), name);
    expect(twins.imported).toBe(2);
  });
});

describe('a log that grew since its last import', () => {
  it('gives the store only what is new, and keeps a few kilobytes however long it is', async () => {
    using folder = new LogFolder();
    const provider = createMemoryStore();
    const appends = vi.spyOn(provider, 'appendEvents');
    const given = () => appends.mock.calls.reduce((sum, [, , events]) => sum + events.length, 0);
    await using store = openDispatchStore(provider);
    const path = folder.put('session.jsonl', lines(...prompts(5_000)));
    await importAll(store, [path], { task });
    const ofWhole = given();
    appendFileSync(path, lines(...prompts(5_003).slice(5_000)));
    const [item] = await importAll(store, [path], { task });
    expect(item).toMatchObject({ isContinued: true, added: 3, events: 5_003, records: 5_003 });
    expect(given() - ofWhole).toBe(3);
    const [envelope] = await store.getDispatchEnvelopes(task);
    expect(JSON.stringify(envelope?.source).length).toBeLessThan(4_000);
  });

  it('has the beginning of a sub-agent whose metadata came after its first lines', async () => {
    const [asked, calls, given, answers, result] = prompts(5);
    const says = (id: string, content: readonly object[]) => ({
      type: 'assistant',
      message: { id, role: 'assistant', content },
    });
    const call = { type: 'tool_use', id: 'toolu_1', name: 'Agent', input: { prompt: 'Look.' } };
    const content = [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Found.' }];
    const ends = { message: { role: 'user', content }, toolUseResult: { agentId: 'a1', content: [] } };
    const ofAgent = { isSidechain: true, agentId: 'a1' };
    const answer = { ...answers, ...ofAgent, ...says('msg_2', [{ type: 'text', text: 'Found.' }]) };
    const main = [{ ...asked }, { ...calls, ...says('msg_1', [call]) }];
    const agent = 'session/subagents/agent-a1';
    const begun = new Map([
      ['session.jsonl', lines(...main)],
      [`${agent}.jsonl`, lines({ ...given, ...ofAgent }, answer)],
    ]);
    await using twins = new Twins();
    await twins.importAndCompare(begun, 'without metadata');
    const grown = new Map([
      ...begun,
      ['session.jsonl', lines(...main, { ...result, ...ends })],
      [`${agent}.meta.json`, JSON.stringify({ agentType: 'Explore', toolUseId: 'toolu_1' })],
    ]);
    await twins.importAndCompare(grown, 'with metadata');
    expect(await twins.typesOf('a1')).toContain('agent:created');
  });

  it('is not read again where its rows name their parents', async () => {
    const rows = prompts(40).map((row, at, all) => ({
      ...row,
      parentUuid: (all[at - 1] as { uuid?: string })?.uuid ?? null,
    }));
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const path = folder.put('session.jsonl', lines(...rows.slice(0, 36)));
    await importAll(store, [path], { task });
    appendFileSync(path, lines(...rows.slice(36)));
    expect(await importAll(store, [path], { task })).toMatchObject([{ isContinued: true, added: 4 }]);
  });

  it('is read as a whole if that is asked for', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const path = folder.put('session.jsonl', lines(...prompts(10)));
    await importAll(store, [path], { task });
    appendFileSync(path, lines(...prompts(11).slice(10)));
    expect(await importAll(store, [path], { task, reread: true })).toMatchObject([{ isContinued: false }]);
    appendFileSync(path, lines(...prompts(12).slice(11)));
    expect(await importAll(store, [path], { task })).toMatchObject([{ isContinued: true, added: 1 }]);
  });
});

describe('a session whose file was rewritten instead of grown', () => {
  // With seed 1, only prompts change that no event has yet: their agents have no known call.
  it.each([2, 3, 4, 5, 6])('has the events and totals of an import of the whole (seed %i)', async (seed) => {
    const random = randomFrom(seed);
    let lines = randomSession(seed, 60);
    await using twins = new Twins();
    for (const share of [0.3, 0.5, 0.7, 0.9, 1]) {
      const end = Math.floor(lines.length * share);
      const bytes = lines.slice(0, end).reduce((sum, { text }) => sum + bytesOf(text).length, 0);
      await twins.importAndCompare(snapshotAt(lines, bytes), `seed ${seed}, ${share}`);
      // Other words, of the same length or not, in a line that was read.
      const at = Math.floor(random() * end);
      const words = random() < 0.5 ? ['Query ', 'Reply '] : ['Longer than before ', 'And longer '];
      lines = lines.map(({ file, text }, number) => ({
        file,
        text:
          number < at
            ? text
            : text.replace(/Prompt |Answer /, (word) => words[word === 'Prompt ' ? 0 : 1] ?? ''),
      }));
    }
    expect(twins.imported).toBe(5);
    expect(twins.rewritten).toBeGreaterThan(0);
    expect(twins.continued).toBe(0);
  });
});

describe('a recorded session that is imported while it grows', () => {
  const sessions: Record<string, readonly string[]> = {
    'small-13-types.jsonl': ['small-13-types.jsonl'],
    'growing-2.jsonl': ['growing-2.jsonl'],
    'compacted.jsonl': ['compacted.jsonl'],
    'concatenated-records.jsonl': ['concatenated-records.jsonl'],
    'edge-cases.jsonl': ['edge-cases.jsonl'],
    'with-subagents': [
      'session.jsonl',
      'session/subagents/agent-a2898e3.jsonl',
      'session/subagents/agent-acompact-e1f845.jsonl',
    ],
  };
  it.skipIf(!isCorpusThere).each(Object.entries(sessions))(
    `%s has the events and totals of an import of the whole, wherever it was cut${skipped}`,
    async (name, files) => {
      const folder = join(corpus, 'claude-transcripts', name.endsWith('.jsonl') ? '' : name);
      const { imported, continued } = await growAndCompare(recordedLines(folder, files), 1, 15);
      expect(imported).toBeGreaterThan(10);
      expect(continued / imported).toBeGreaterThan(0.8);
    },
  );
});
