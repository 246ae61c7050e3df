import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NewEvent } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { expect, it, onTestFinished } from 'vitest';
import { type ExportFormatId, type ExportOptions, exportFormats, openHarness } from '../src/index.ts';

const seeds = [1, 2, 3, 4, 5, 6];
const mapping = {
  turn: { events: ['game:day'], field: 'turn', first: 'Start' },
  gameEvents: { events: ['game:*'] },
  chat: { tools: { speak: 'text' } },
  actions: { vote: { type: 'VOTE' } },
};

interface Made {
  readonly events: NewEvent[];
  /** By event: a word that no other event has. */
  readonly canaries: Map<string, { readonly type: string; readonly word: string }>;
  /** The ids of the first events of the model's answers. */
  readonly answers: Set<string>;
}

/** A random game with files, branches and calls. Each event but a rewind has a word of its own. */
function makeLog(seed: number): Made {
  const random = randomFrom(seed);
  const made: Made = { events: [], canaries: new Map(), answers: new Set() };
  const agents = ['a1', 'a2'];
  const ends = new Map<string, string[]>();
  let [time, calls] = [0, 0];
  const add = (type: string, dataOf: (word: string) => object, more: object = {}) => {
    const id = `e${made.events.length}`;
    const word = `canary${seed}w${made.events.length}w`;
    time += 1_000;
    const timestamp = new Date(Date.UTC(2026, 2, 1) + time).toISOString();
    made.events.push({ id, type, timestamp, ...more, data: dataOf(word) } as NewEvent);
    made.canaries.set(id, { type, word });
    return id;
  };
  for (const agentId of agents) add('agent:created', (name) => ({ name, languageModel: 'm' }), { agentId });
  for (let step = 0; step < 40; step += 1) {
    const agentId = agents[Math.floor(random() * agents.length)] as string;
    const path = ends.get(agentId) ?? [];
    ends.set(agentId, path);
    const dice = random();
    if (dice < 0.25) {
      const image = {
        kind: 'image',
        mediaType: 'image/png',
        base64: Buffer.from(`p${step}`.repeat(9)).toString('base64'),
      };
      const parts = random() < 0.3 ? { parts: [image] } : {};
      path.push(add('user:message', (text) => ({ text, source: { kind: 'user' }, ...parts }), { agentId }));
    } else if (dice < 0.5) {
      const messageId = `m${step}`;
      const id = add('agent:text', (text) => ({ text }), { agentId, messageId });
      made.answers.add(id);
      path.push(id);
    } else if (dice < 0.65) add(random() < 0.5 ? 'game:day' : 'game:note', (turn) => ({ turn }));
    else if (dice < 0.85) {
      calls += 1;
      const [tool, messageId, toolCallId] = [random() < 0.5 ? 'speak' : 'vote', `m${step}`, `c${calls}`];
      const id = add('agent:tool_call', (text) => ({ toolCallId, tool, metadata: {}, input: { text } }), {
        agentId,
        messageId,
      });
      made.answers.add(id);
      const changes = [{ path: '/w/file.txt', kind: 'modified', before: '', after: `line ${step}\n` }];
      const files = random() < 0.5 ? { changes } : {};
      path.push(
        id,
        add(
          'agent:tool_result',
          (output) => ({ toolCallId, tool, status: 'completed', metadata: {}, output, ...files }),
          { agentId },
        ),
      );
    } else if (dice < 0.93) add('system:notice', (problem) => ({ problem }));
    else if (path.length > 2) {
      const kept = path[Math.floor(random() * (path.length - 1))] as string;
      const id = add('session:rewind', () => ({ keptThrough: kept }), { agentId });
      made.canaries.delete(id);
      path.splice(path.indexOf(kept) + 1);
    }
  }
  return made;
}

const formats = Object.keys(exportFormats) as ExportFormatId[];
const optionsOf: Partial<Record<ExportFormatId, Partial<ExportOptions>>> = {
  otlp: { content: 'events', reasoning: true },
  streams: { mapping: 'mapping.json', extended: true },
};

async function opened(seed: number, open: typeof openHarness) {
  const cwd = mkdtempSync(join(tmpdir(), 'hansard-left-out-'));
  const harness = await open({ cwd, env: {}, load: 'record', packageDirs: [import.meta.dirname] });
  onTestFinished(async () => {
    await harness.close();
    rmSync(cwd, { recursive: true, force: true });
  });
  writeFileSync(join(cwd, 'mapping.json'), JSON.stringify(mapping));
  const made = makeLog(seed);
  const place = { role: 'worker', dispatchId: 'D', fidelity: 'full' } as const;
  const dispatch = await harness.store.beginDispatch('lab/tasks/game', place);
  await dispatch.append(made.events);
  await dispatch.end({ status: 'completed' });
  return { cwd, harness, made };
}

/** All text of a file, or of the files of a folder. */
function textOf(path: string, isFolder: boolean): string {
  if (!isFolder) return readFileSync(path, 'utf8');
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'manifest.json')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
}

type LeftOut = Readonly<Record<string, number>>;

/** The events of each type that an output does not have, by their words; `idsIn`: by their ids instead. */
function missing({ canaries }: Made, isIn: (id: string, word: string) => boolean): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [id, { type, word }] of canaries) if (!isIn(id, word)) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

const sumOf = (counts: LeftOut) => Object.values(counts).reduce((sum, count) => sum + count, 0);
const only = (counts: LeftOut, types: Iterable<string>) => {
  const wanted = new Set(types);
  return Object.fromEntries(Object.entries(counts).filter(([kind]) => wanted.has(kind)));
};

/** Checks that what went in is in the output or counted. */
const laws: Readonly<Record<ExportFormatId, (made: Made, text: string, leftOut: LeftOut) => void>> = {
  'session-v1': byWord,
  'session-v2': byWord,
  smallchat: byWord,
  otlp: byWord,
  markdown: folded,
  'pull-request': (made, text, leftOut) => {
    // The title can be a prompt of a branch that was left.
    const shown = text.slice(text.indexOf('\n'));
    const lost = sumOf(missing(made, (_, word) => shown.includes(word)));
    expect(sumOf(leftOut)).toBeGreaterThanOrEqual(lost);
    expect(lost).toBeGreaterThan(0);
    expect(shown).toContain('Left out: ');
  },
  html: (made, text, leftOut) => {
    expect(missing(made, (_, word) => text.includes(word))).toEqual({});
    // The images are on the page, and what is folded opens.
    expect(leftOut).toEqual({});
  },
  pages: (made, text) => expect(missing(made, (_, word) => text.includes(word))).toEqual({}),
  streams: (made, text, leftOut) => {
    const ids = new Set(text.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line).event_id)));
    const types = [...made.canaries.values()].map(({ type }) => type);
    expect(only(leftOut, types)).toEqual(missing(made, (id) => ids.has(id)));
  },
  'agent-trace': (made, text, leftOut) => {
    const ids = new Set([...text.matchAll(/\?event=(e\d+)/g)].map(([, id]) => id));
    const types = [...made.canaries.values()].map(({ type }) => type);
    expect(only(leftOut, types)).toEqual(missing(made, (id) => ids.has(id)));
  },
  atif: (made, text, leftOut) => {
    const counts: Record<string, number> = {};
    for (const [kind, count] of Object.entries(leftOut)) {
      const type = kind.replace(/ \(.*\)$/, '');
      counts[type] = (counts[type] ?? 0) + count;
    }
    byWord(made, text, counts);
  },
  sft: trained,
  trl: trained,
  'trl-chat': inRows,
  openai: inRows,
};

function byWord(made: Made, text: string, leftOut: LeftOut): void {
  const types = [...made.canaries.values()].map(({ type }) => type);
  expect(only(leftOut, types)).toEqual(missing(made, (_, word) => text.includes(word)));
}

/** One row stands for the events of a branch that was left. What others heard is below the rows, so only the rows are searched. */
function folded(made: Made, text: string, leftOut: LeftOut): void {
  const from = text.indexOf('### What happened');
  const rows = text.slice(from, text.indexOf('\n### ', from + 5));
  const branches = ['events of abandoned branches', 'events of parallel branches'];
  const count = sumOf(only(leftOut, branches));
  // A rewind has no word.
  const rewinds = made.events.filter(({ type }) => type === 'session:rewind').length;
  const shown = rows.match(/^\*\*[\d:]+\*\* \S+ rewind/gm)?.length ?? 0;
  expect(sumOf(missing(made, (_, word) => rows.includes(word))) + rewinds - shown).toBe(count);
}

/** A row for each call: a word of each answer is the completion of one row, or its call is counted. */
function trained(made: Made, text: string, leftOut: LeftOut): void {
  const completions = text
    .split('\n')
    .flatMap((line) => (line === '' ? [] : JSON.stringify(JSON.parse(line).completion)));
  const answers = [...made.answers].map((id) => made.canaries.get(id)?.word ?? '');
  const out = answers.filter((word) => completions.some((one) => one.includes(word)));
  const calls = Object.entries(leftOut).filter(([kind]) => kind.startsWith('calls ('));
  expect(out.length + sumOf(Object.fromEntries(calls))).toBe(answers.length);
}

/** The manifest counts the calls of all rows. */
function inRows(made: Made, _: string, leftOut: LeftOut): void {
  const calls = Object.entries(leftOut).filter(([kind]) => kind.startsWith('calls ('));
  expect(sumOf(Object.fromEntries(calls))).toBeLessThanOrEqual(made.answers.size);
}

async function check(as: ExportFormatId, seed: number, open: typeof openHarness): Promise<void> {
  const { cwd, harness, made } = await opened(seed, open);
  const isFolder = exportFormats[as].target === 'folder';
  const session = as === 'pages' ? {} : { session: 'lab/game' };
  const out = `out-${as}-${seed}`;
  const { leftOut, summary } = await harness.export({ as, ...session, out, ...optionsOf[as] });
  laws[as](made, textOf(join(cwd, out), isFolder), leftOut);
  if ('calls' in summary) {
    const { inRows: written } = summary.calls as { inRows: number };
    const dropped = Object.entries(leftOut).filter(([kind]) => kind.startsWith('calls ('));
    expect(written + sumOf(Object.fromEntries(dropped))).toBe(made.answers.size);
  }
  if (as !== 'otlp') return;
  const bare = await harness.export({ as, ...session, out: `bare-${seed}` });
  const counts = missing(made, () => false);
  const data = Object.fromEntries(Object.entries(counts).map(([type, count]) => [`data of ${type}`, count]));
  expect(bare.leftOut).toEqual({
    ...data,
    ...only(bare.leftOut, ['data of session:rewind', 'data of content:stored']),
  });
}

it.each(formats)('what goes into %s is in it, or is counted by its kind', async (as) => {
  for (const seed of seeds) await check(as, seed, openHarness);
});

it('what goes into packets for judges is in a line, or is counted', async () => {
  for (const seed of seeds) {
    const { cwd, harness, made } = await opened(seed, openHarness);
    const packed = await harness.packForJudges('lab/game', { mapping: 'mapping.json', out: 'packets' });
    const events = made.events.length + (await contentsOf(harness));
    for (const { pass, events: read, excluded } of packed.manifests) {
      const lines = readFileSync(join(cwd, 'packets', `${pass}.jsonl`), 'utf8').split('\n');
      const refs = new Set(lines.flatMap((line) => (line === '' ? [] : JSON.parse(line).ref)));
      expect(read).toBe(events);
      expect(refs.size + excluded.events_without_line).toBe(read);
    }
  }
});

/** How many events hold the bytes of images. */
async function contentsOf(harness: Awaited<ReturnType<typeof openHarness>>): Promise<number> {
  const events = await harness.store.getDispatchEvents('lab/tasks/game', 'D');
  return events.filter(({ type }) => type === 'content:stored').length;
}

it.each([
  ['agent-trace', 'write-agent-trace.ts', 'if (!written.has(url))', 'if (written.size >= 0)'],
  ['trl', 'format-writers.ts', '{reason})`, count)', '{reason})`, 1)'],
  [
    'streams',
    'format-writers.ts',
    'for (const { omitted } of runs)',
    'for (const { leftOut: omitted } of runs)',
  ],
  ['otlp', 'format-writers.ts', 'onUntimed, onLeftOut }', 'onUntimed }'],
  ['markdown', 'format-writers.ts', 'write(source, { onLeftOut })', 'write(source, {})'],
  [
    'session-v2',
    'format-writers.ts',
    'diagnostics: lost }, leftOut, notes }',
    'diagnostics: lost }, leftOut: {}, notes }',
  ],
  [
    'session-v1',
    'export-in-harness.ts',
    'path: target.path, summary, leftOut, notes',
    'path: target.path, summary, leftOut: {}, notes',
  ],
] as const)('a wrong count of what %s leaves out is caught', async (as, file, piece, instead) => {
  const home = join(import.meta.dirname, '..');
  const broken = (await importMutated(home, [`exports/${file}`, piece, instead], 'index.ts')) as {
    openHarness: typeof openHarness;
  };
  const run = async () => {
    for (const seed of seeds) await check(as, seed, broken.openHarness);
  };
  await expect(run()).rejects.toThrow();
});
