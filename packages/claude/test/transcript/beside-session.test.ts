import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { balanceProblem, type CapturedEvent, type Fidelity } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { rowsOf } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { openClaudeTranscript } from '../../src/index.ts';
import { answer, call, lines, outcome, prompt, readToEnd } from './transcripts.ts';

type Open = typeof openClaudeTranscript;

const home = join(import.meta.dirname, '../..');
const folders: string[] = [];

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-beside-'));
  folders.push(folder);
  return folder;
}

/** Writes files below a folder, with a time that shows the order. */
function put(folder: string, files: Readonly<Record<string, string | Uint8Array>>, time = 1): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
    utimesSync(join(folder, name), time, time);
  }
}

async function read(folder: string, fidelity: Fidelity = 'full') {
  const made = await readToEnd(await openClaudeTranscript(join(folder, 'session.jsonl')), fidelity);
  for (const one of folders.splice(0)) rmSync(one, { recursive: true });
  return made;
}

const persisted = (path: string) =>
  `<persisted-output>\nOutput too large (40KB). Full output saved to: ${path}\n\nPreview:\nowl\n</persisted-output>`;

const listed = [
  prompt(1, 'List.'),
  answer(2, call('toolu_1', 'Bash', { command: 'ls' })),
  outcome(3, 'toolu_1', persisted('/srv/.claude/projects/p/session/tool-results/toolu_1.txt')),
  answer(4, text('Done.')),
];

function text(words: string) {
  return { type: 'text', text: words };
}

const outputsIn = (events: readonly CapturedEvent[]) =>
  events.filter(({ type }) => type === 'system:tool_output').map(({ data }) => data);

/** The outcome of a call as it is shown. */
function shownOf(events: readonly CapturedEvent[], toolCallId: string): string[] {
  const row = rowsOf(events).find(({ call: of }) => of?.toolCallId === toolCallId);
  return (row?.call?.outcome ?? []).map((part) => (part.kind === 'text' ? part.text : part.kind));
}

/**
 * A session with calls whose outputs lie beside it, which grows in stages: rows are added, and the files of outputs appear, change or vanish at any
 * time. Returns what differs from a reading at the end; null if nothing does.
 */
async function differenceOf(seed: number, open: Open): Promise<string | null> {
  const random = randomFrom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const folder = newFolder();
  const rows = [prompt(1, 'List.')];
  const outputs = new Map<string, string>();
  for (let number = 2; number < 12; number += 2) {
    const id = `toolu_${number}`;
    const isKept = random() < 0.6;
    const file = random() < 0.3 ? `b${number}.txt` : `${id}.txt`;
    if (isKept) outputs.set(file, `whole output ${number}`);
    rows.push(answer(number, call(id, 'Bash', { command: 'ls' })));
    const isNamed = isKept && (file !== `${id}.txt` || random() < 0.7);
    rows.push(outcome(number + 1, id, isNamed ? persisted(`/x/tool-results/${file}`) : 'short'));
  }
  const all = lines(...rows);
  const stored = new Map<string, CapturedEvent>();
  const there = new Map<string, string>();
  let kept: unknown = null;
  let cut = 0;
  for (let stage = 1; stage <= 4; stage += 1) {
    cut = stage === 4 ? all.length : Math.max(cut, lines(rows[0] ?? {}).length + below(all.length));
    put(folder, { 'session.jsonl': all.slice(0, cut) }, stage);
    for (const [file, output] of outputs) {
      if (stage < 4 && random() < 0.5) continue;
      const isOther = stage < 4 && random() < 0.3 && there.get(file) !== output;
      there.set(file, isOther ? `${output} so far` : output);
      put(folder, { [`session/tool-results/${file}`]: there.get(file) ?? '' }, stage);
    }
    const log = await open(join(folder, 'session.jsonl'));
    const rest = kept === null ? null : log.continueAfter(kept as never);
    const found: CapturedEvent[] = [];
    const reading = rest ?? log;
    for await (const batch of reading.read()) found.push(...batch);
    const problem = balanceProblem(reading.summary().balance);
    if (problem !== null) return `seed ${seed}: ${problem}`;
    for (const event of found) {
      const before = stored.get(event.id);
      if (before !== undefined && JSON.stringify(before) !== JSON.stringify(event))
        return `seed ${seed}: ${event.id} changed`;
      if (rest !== null && before !== undefined) return `seed ${seed}: ${event.id} came again`;
      stored.set(event.id, event);
    }
    if (rest?.isLost() === true) return `seed ${seed}: the rest was lost`;
    kept = reading.summary().kept;
    if (kept === null) return `seed ${seed}: it cannot be continued`;
  }
  const atOnce: CapturedEvent[] = [];
  for await (const batch of (await open(join(folder, 'session.jsonl'))).read()) atOnce.push(...batch);
  for (const event of atOnce)
    if (JSON.stringify(stored.get(event.id)) !== JSON.stringify(event))
      return `seed ${seed}: ${event.id} differs from a single reading`;
  const others = [...stored.values()].filter(({ id }) => !atOnce.some((event) => event.id === id));
  if (
    others.some(({ type, data }) => type !== 'system:tool_output' || !String(data.output).endsWith('so far'))
  )
    return `seed ${seed}: ${others.map(({ id }) => id).join()} is not at once`;
  for (const row of rows) {
    const [{ tool_use_id: id = '', content = '' } = {}] =
      row.type === 'user' && Array.isArray((row.message as { content: unknown }).content)
        ? (row.message as { content: { tool_use_id?: string; content?: string }[] }).content
        : [];
    const file = /tool-results\/(\S+)/.exec(content)?.[1];
    const right = outputs.get(file ?? `${id}.txt`) ?? content;
    for (const events of [atOnce, [...stored.values()]])
      if (id !== '' && shownOf(events, id).join() !== right)
        return `seed ${seed}: ${id} is shown as ${shownOf(events, id).join()}`;
  }
  return null;
}

async function wrongSeed(open: Open, seeds: number): Promise<string | null> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const wrong = await differenceOf(seed, open).catch(String);
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
    if (wrong !== null) return wrong;
  }
  return null;
}

const beside = 'continue/beside-session.ts';
const reading = 'continue/transcript-reading.ts';
const mutants: readonly (readonly [
  name: string,
  fault: readonly [file: string, piece: string, instead: string],
])[] = [
  ['reads an output again', [beside, 'if (this.#known.has(event.id)) return null;', '']],
  ['keeps nothing of what it has read', [reading, 'beside: this.#beside.kept,', 'beside: [],']],
  ['takes a changed output for a known one', [beside, 'JSON.stringify([name, bytes, modifiedAt])', 'name']],
  [
    'gives a changed output the id of the one before',
    [beside, "[stem, 'output', digest]", "[stem, 'output']"],
  ],
  [
    'reads only what a result names',
    [reading, 'of this.#beside.others(fidelity)', 'of this.#beside.others(fidelity).take?.(0) ?? []'],
  ],
  ['names an output after the result', [beside, 'toolUseID: stem', "toolUseID: 'x'"]],
  [
    'drops the name that a result has',
    ['map/blocks.ts', '...definedOnly({ outputFile: outputFileOf(text, asObject(output)) }),', ''],
  ],
  [
    'counts an output twice',
    [beside, "        sheet.record('files');\n", "        sheet.record('files', 2);\n"],
  ],
];

describe('outputs of tools that appear, change and vanish while a session grows', () => {
  const seeds = 30;

  it(`are those of a single reading in ${seeds} random sessions`, async () => {
    expect(await wrongSeed(openClaudeTranscript, seeds)).toBeNull();
  });

  it.each(mutants)('would differ if a reader %s', async (_, fault) => {
    const made = await importMutated(home, fault, 'index.ts');
    expect(
      await wrongSeed((made as { openClaudeTranscript: Open }).openClaudeTranscript, seeds),
    ).not.toBeNull();
  });
});

describe('the outputs of tools beside a session', () => {
  it('are events of their own, after the result that names them, and shown as its output', async () => {
    const folder = newFolder();
    put(folder, {
      'session.jsonl': lines(...listed),
      'session/tool-results/toolu_1.txt': 'owl\nkite\n',
      'session/tool-results/b7.txt': 'unnamed',
    });
    const { events, log, summary } = await read(folder);
    expect(outputsIn(events)).toEqual([
      { toolUseID: 'toolu_1', file: 'toolu_1.txt', output: 'owl\nkite\n' },
      { toolUseID: 'b7', file: 'b7.txt', output: 'unnamed' },
    ]);
    const at = events.findIndex(({ type }) => type === 'agent:tool_result');
    expect(events[at + 1]?.data.file).toBe('toolu_1.txt');
    expect(shownOf(events, 'toolu_1')).toEqual(['owl\nkite\n']);
    expect(log.files.map((file) => basename(file))).toEqual(['session.jsonl', 'b7.txt', 'toolu_1.txt']);
    expect(balanceProblem(summary.balance)).toBeNull();
    expect(summary.balance.files).toEqual({ in: 3, recorded: 3, leftOut: {} });
  });

  it('are in no narrative', async () => {
    const folder = newFolder();
    put(folder, { 'session.jsonl': lines(...listed), 'session/tool-results/toolu_1.txt': 'a secret bird' });
    const { events } = await read(folder, 'narrative');
    expect(JSON.stringify(events)).not.toContain('secret bird');
  });

  it('are named if they cannot be read: links out of the source, other kinds, and what is not text', async () => {
    const folder = newFolder();
    const outside = newFolder();
    put(outside, { 'secret.txt': 'secret bird' });
    put(folder, {
      'session.jsonl': lines(...listed),
      'session/tool-results/image.png': new Uint8Array([0xff, 0xd8, 0xff]),
      'session/tool-results/book/page-1.txt': 'page',
      'session/session-memory/summary.md': 'notes',
    });
    symlinkSync(join(outside, 'secret.txt'), join(folder, 'session/tool-results/link.txt'));
    symlinkSync('nowhere', join(folder, 'session/tool-results/lost.txt'));
    const { events, summary } = await read(folder);
    expect(outputsIn(events)).toEqual([]);
    expect(JSON.stringify(events)).not.toContain('secret bird');
    expect(summary.diagnostics.map(({ code, file }) => [code, basename(file)]).sort()).toEqual([
      ['sidecar_not_read', 'image.png'],
      ['sidecar_not_read', 'link.txt'],
      ['sidecar_not_read', 'lost.txt'],
      ['sidecar_not_read', 'page-1.txt'],
      ['sidecar_not_read', 'summary.md'],
    ]);
    expect(balanceProblem(summary.balance)).toBeNull();
    expect(summary.balance.files).toEqual({ in: 6, recorded: 1, leftOut: { not_read: 5 } });
  });

  it('are read in a time that grows with their number, and named if there are more than 5,000', async () => {
    const folder = newFolder();
    const numbers = Array.from({ length: 5_001 }, (_, at) => at + 1);
    const rows = numbers.flatMap((number) => {
      const [id, at] = [`toolu_${String(number).padStart(4, '0')}`, 2 * number];
      put(folder, { [`session/tool-results/${id}.txt`]: `output ${number}` });
      return [
        answer(at, call(id, 'Bash', { command: 'ls' })),
        outcome(at + 1, id, persisted(`/x/tool-results/${id}.txt`)),
      ];
    });
    put(folder, { 'session.jsonl': lines(prompt(1, 'List.'), ...rows) });
    const before = process.cpuUsage();
    const { events, summary } = await read(folder);
    const { user } = process.cpuUsage(before);
    expect(user / 1e6, 'seconds of a processor').toBeLessThan(15);
    expect(outputsIn(events).map(({ output }) => output)).toEqual(
      numbers.slice(0, 5_000).map((number) => `output ${number}`),
    );
    expect(summary.diagnostics.map(({ code, file }) => [code, basename(file)])).toEqual([
      ['sidecar_not_read', 'toolu_5001.txt'],
    ]);
    expect(summary.balance.files).toEqual({ in: 5_002, recorded: 5_001, leftOut: { not_read: 1 } });
  });
});

const sidechain = { isSidechain: true, sessionId: 'session-1' };

/**
 * A session with sub-agents whose metadata appear, change and vanish, while the session grows or does not. The oracle notes what each file held at
 * each reading. Returns what differs; null if nothing does.
 */
async function wrongMetadata(seed: number, open: Open): Promise<string | null> {
  const random = randomFrom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const folder = newFolder();
  const there = new Map<string, object>();
  const seen = new Set<string>();
  const stored = new Map<string, CapturedEvent>();
  let kept: unknown = null;
  for (let stage = 1; stage <= 5; stage += 1) {
    if (stage === 1 || random() < 0.3)
      put(folder, { 'session.jsonl': lines(...listed.slice(0, stage === 1 ? 2 : 4)) }, stage);
    for (const id of ['a1', 'a2', 'a3']) {
      const file = `session/subagents/${id === 'a3' ? 'workflow/' : ''}agent-${id}.meta.json`;
      if (stage > 1 || id === 'a1')
        put(folder, {
          [file.replace('.meta.json', '.jsonl')]: lines(
            prompt(50, 'Look.', { ...sidechain, agentId: id, uuid: `${id}-1` }),
          ),
        });
      const chance = random();
      if (chance < 0.5) {
        const metadata = { spawnDepth: 1 + below(3), model: 'opus', stoppedByUser: below(2) === 1 };
        there.set(file, metadata);
        const text =
          below(2) === 1
            ? JSON.stringify(metadata)
            : JSON.stringify(Object.fromEntries(Object.entries(metadata).reverse()), null, 2);
        put(folder, { [file]: text }, 10 * stage + below(9));
      } else if (chance < 0.6) {
        there.delete(file);
        rmSync(join(folder, file), { force: true });
      }
      const now = there.get(file);
      if (now !== undefined) seen.add(JSON.stringify([id, now]));
    }
    const log = await open(join(folder, 'session.jsonl'));
    const watched = log.files.filter((file) => file.endsWith('.meta.json')).length;
    if (watched !== there.size) return `seed ${seed}: ${watched} of ${there.size} files are watched`;
    const rest = kept === null ? null : log.continueAfter(kept as never);
    if (kept !== null && rest === null) return `seed ${seed}: it cannot be continued`;
    const reading = rest ?? log;
    for await (const batch of reading.read())
      for (const event of batch) {
        if (rest !== null && stored.has(event.id)) return `seed ${seed}: ${event.id} came again`;
        stored.set(event.id, event);
      }
    const { balance, kept: next } = reading.summary();
    const problem = balanceProblem(balance);
    if (problem !== null) return `seed ${seed}: ${problem}`;
    const files = log.files.length;
    if (balance.files.in !== files || balance.files.recorded !== files)
      return `seed ${seed}: ${JSON.stringify(balance.files)} of ${files} files`;
    kept = next;
  }
  const found = [...stored.values()].filter(({ type }) => type === 'system:agent_metadata');
  const facts = found.map(({ data: { agent, metadata } }) => {
    const { spawnDepth, model, stoppedByUser } = metadata as Record<string, unknown>;
    return JSON.stringify([agent, { spawnDepth, model, stoppedByUser }]);
  });
  const differ = facts.sort().join() === [...seen].sort().join();
  return differ ? null : `seed ${seed}: ${facts.join()} is not ${[...seen].join()}`;
}

async function wrongMetadataSeed(open: Open, seeds: number): Promise<string | null> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const wrong = await wrongMetadata(seed, open).catch(String);
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
    if (wrong !== null) return wrong;
  }
  return null;
}

describe('the metadata of sub-agents that appear, change and vanish', () => {
  const seeds = 12;

  it(`are an event for each content in ${seeds} random sessions, whole or continued`, async () => {
    expect(await wrongMetadataSeed(openClaudeTranscript, seeds)).toBeNull();
  });

  it.each([
    ['reads none', ['open-claude-transcript.ts', ', ...agents.flatMap(({ sidecar = [] }) => sidecar)', '']],
    [
      'counts a file twice',
      ['open-claude-transcript.ts', '[file.path, metaPathOf(file.path)]', '[file.path]'],
    ],
    ['gives changed metadata the id of the ones before', [beside, 'inOrder(metadata)}', 'file}']],
    ['distinguishes the orders of keys', [beside, '.sort(([one], [other]) => (one < other ? -1 : 1))', '']],
    [
      'knows the metadata of agents with a transcript only',
      [
        beside,
        'return limited({ ...file, agentId }, mostBytesOfMeta);',
        "return { ...file, problem: 'is unknown' };",
      ],
    ],
    [
      'keeps only what it knows',
      [beside, '      metadata,\n', '      metadata: { spawnDepth: metadata.spawnDepth ?? 0 },\n'],
    ],
  ] as const)('would differ if a reader %s', async (_, fault) => {
    const made = await importMutated(home, fault, 'index.ts');
    expect(
      await wrongMetadataSeed((made as { openClaudeTranscript: Open }).openClaudeTranscript, seeds),
    ).not.toBeNull();
  });

  it('are named and count as not read if they are not text', async () => {
    const folder = newFolder();
    put(folder, {
      'session.jsonl': lines(...listed),
      'session/subagents/agent-a1.jsonl': lines(prompt(50, 'Look.', { ...sidechain, agentId: 'a1' })),
      'session/subagents/agent-a1.meta.json': Buffer.from([...Buffer.from('{"name":"'), 0xff, 0x22, 0x7d]),
    });
    const { events, summary } = await read(folder);
    expect(events.some(({ type }) => type === 'system:agent_metadata')).toBe(false);
    const named = summary.diagnostics.filter(({ code }) => code === 'sidecar_not_read');
    expect(named.map(({ file, message }) => [basename(file), message.replace(file, '')])).toEqual([
      ['agent-a1.meta.json', ' is not text. It was left out.'],
    ]);
    expect(summary.balance.files).toEqual({ in: 3, recorded: 2, leftOut: { not_read: 1 } });
  });

  it('names the call of the agent, and folds it into its row', async () => {
    const folder = newFolder();
    put(folder, {
      'session.jsonl': lines(...listed),
      'session/subagents/agent-a1.jsonl': lines(prompt(50, 'Look.', { ...sidechain, agentId: 'a1' })),
      'session/subagents/agent-a1.meta.json': '{"toolUseId":"toolu_1","spawnDepth":2,"later":{"key":[1]}}',
    });
    const { events } = await read(folder);
    const [metadata] = events.filter(({ type }) => type === 'system:agent_metadata');
    expect(metadata?.data).toEqual({
      agent: 'a1',
      toolUseID: 'toolu_1',
      file: 'agent-a1.meta.json',
      metadata: { toolUseId: 'toolu_1', spawnDepth: 2, later: { key: [1] } },
    });
    expect(
      rowsOf(events).some(
        ({ kind, folded = [] }) => kind !== 'noise' && folded.some(({ id }) => id === metadata?.id),
      ),
    ).toBe(true);
  });
});
