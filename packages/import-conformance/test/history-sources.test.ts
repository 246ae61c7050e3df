import { globSync } from 'node:fs';
import { join } from 'node:path';
import { balanceProblem, type CapturedEvent, eventProblem } from '@hansard/events';
import { logImporters } from '@hansard/import';
import type { LogImporterProvider } from '@hansard/provider';
import { corpus, isCorpusThere, skipped } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import { runImporterConformance } from '../src/index.ts';
import { createChoices } from '../src/random.ts';
import { objectOf } from '../src/written-source.ts';
import { countEvents, eventsOf, type Fields, type HistoryFormat, historyFormats } from './histories.ts';

const importerOf = (id: string, all: readonly LogImporterProvider[] = logImporters) => {
  const importer = all.find((one) => one.id === id);
  if (importer === undefined) throw new Error(`There is no importer ${id}.`);
  return importer;
};

/** Fields whose names a tool, a user or a model chooses. */
const free =
  /^(?:args|arguments|function_args|input|details|parameters|sections|(?:agent|model|providerModel)Metrics|usageAccountingWatermarks|toolCounts|properties|restrictedProperties|metrics)$/;

/** The kinds and fields of a record, at every level. */
function fieldsOf(value: unknown, place: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsOf(item, place));
  if (typeof value !== 'object' || value === null) return [];
  const fields = value as Fields;
  const kind = typeof fields.type === 'string' ? `:${fields.type}` : '';
  return Object.entries(fields).flatMap(([key, item]) => [
    `${place}${kind}.${key}`,
    ...(free.test(key) ? [] : fieldsOf(item, `${place}${kind}.${key}`)),
  ]);
}

describe.skipIf(!isCorpusThere)(`random sources${skipped}`, () => {
  it.each(historyFormats)('have every kind and field of real ones: $name', ({ files, read, kind, write }) => {
    const real = globSync([...files], { cwd: corpus });
    const named = (record: Fields) => [kind(record), ...fieldsOf(record, kind(record))];
    const wanted = new Set(real.flatMap((file) => read(join(corpus, file)).flatMap(named)));
    expect(wanted.size).toBeGreaterThan(10);
    const written = new Set<string>();
    for (let seed = 1; seed <= 250; seed += 1)
      for (const record of write(createChoices(seed)))
        for (const name of named(objectOf(record) ?? {})) written.add(name);
    expect([...wanted].filter((name) => !written.has(name)).sort()).toEqual([]);
  });

  it.each(historyFormats)(
    'of the real format are read whole, with nothing unknown: $name',
    async ({ files, importer, read, count }) => {
      for (const file of globSync([...files], { cwd: corpus })) {
        const path = join(corpus, file);
        const events: CapturedEvent[] = [];
        for (const log of await importerOf(importer).open({ files: [path], bytes: 0 }, { now: Date.now })) {
          for await (const batch of log.read()) events.push(...batch);
          const { balance, counts } = log.summary();
          expect([file, balanceProblem(balance), counts]).toEqual([file, null, {}]);
        }
        expect(events.map((event) => eventProblem(event)).filter((problem) => problem !== null)).toEqual([]);
        expect([file, countEvents(events)]).toEqual([file, count(read(path))]);
      }
    },
  );
});

const seeds = Number(process.env.HANSARD_SEEDS ?? 10);

async function wrongTotals(
  { write, count }: HistoryFormat,
  importer: LogImporterProvider,
): Promise<number[]> {
  const wrong: number[] = [];
  for (let seed = 1; seed <= seeds; seed += 1) {
    const records = write(createChoices(seed));
    const counted = count(records.map((record) => objectOf(record) ?? {}));
    const found = countEvents(await eventsOf(importer, records));
    if (JSON.stringify(found) !== JSON.stringify(counted)) wrong.push(seed);
  }
  return wrong;
}

it.each(historyFormats)(
  'counts each call of a random source once, with all its tokens: $name',
  async (format) => {
    expect(await wrongTotals(format, importerOf(format.importer))).toEqual([]);
  },
);

const home = join(import.meta.dirname, '../../import');

interface Fault {
  readonly breaks: string;
  readonly format: string;
  readonly piece: readonly [file: string, piece: string, instead: string];
  /** The case of the kit that catches it. Absent: the totals do. */
  readonly caughtBy?: string;
}

const faults: readonly Fault[] = [
  {
    breaks: 'a usage is counted again with each version of its message',
    format: 'gemini-cli, lines',
    piece: ['histories/gemini.ts', '`${id}.inference`', '`${id}.inference-${Math.random()}`'],
  },
  {
    breaks: 'thinking tokens are not counted',
    format: 'gemini-cli, document',
    piece: ['histories/gemini.ts', 'output: output + thoughts,', 'output,'],
  },
  {
    breaks: 'a message that comes again is not read',
    format: 'gemini-cli, lines',
    piece: [
      'histories/gemini.ts',
      'if (!this.#before.has(id)) this.#before.set(id, this.#last);',
      "if (this.#before.has(id)) { fields.take(...Object.keys(fields.own)); return 'repeated'; } this.#before.set(id, this.#last);",
    ],
  },
  {
    breaks: 'fields that it does not know are lost',
    format: 'gemini-cli, document',
    piece: [
      'histories/record-item.ts',
      'if (this.#taken.includes(key)) continue;',
      "if (this.#taken.includes(key) || key.startsWith('kit_')) continue;",
    ],
    caughtBy: 'complete/unknown-fields',
  },
  {
    breaks: 'what the program shows of a result is lost',
    format: 'gemini-cli, document',
    piece: [
      'histories/gemini.ts',
      "call.drop('resultDisplay', answer.output);",
      "call.take('resultDisplay');",
    ],
    caughtBy: 'complete/every-text',
  },
  {
    breaks: 'the file is named by its place',
    format: 'gemini-cli, document',
    piece: [
      'histories/gemini.ts',
      'dispatchIdOf(`gemini-cli\\n${sessionId}`, 0)',
      'dispatchIdOf(`gemini-cli\\n${sessionId}${Math.random()}`, 0)',
    ],
    caughtBy: 'identity/not-from-place',
  },
  {
    breaks: 'any JSON lines are taken',
    format: 'gemini-cli, lines',
    piece: [
      'histories/gemini.ts',
      'return known * 2 > records && startRecords(text).some(isSession);',
      'return known >= 0 && records > 0;',
    ],
    caughtBy: 'detection/other-formats',
  },
  {
    breaks: 'tokens of a cache are lost',
    format: 'opencode',
    piece: [
      'histories/opencode.ts',
      'output: output + reasoning, cacheRead, cacheWrite, reasoning',
      'output: output + reasoning, reasoning',
    ],
  },
  {
    breaks: 'the sum of a message counts beside its steps',
    format: 'opencode',
    piece: ['histories/opencode.ts', 'if (isCounted) {', 'if (isCounted && !this.#inference(data, row)) {'],
  },
  {
    breaks: 'a call that runs is not recorded',
    format: 'opencode',
    piece: [
      'histories/opencode.ts',
      "if (status === 'pending') return 'pending';",
      "if (status === 'pending' || status === 'running') return 'pending';",
    ],
  },
  {
    breaks: 'the database is opened for writing',
    format: 'opencode',
    piece: [
      'histories/history-database.ts',
      "if (folder === null) url.search = '?mode=ro&immutable=1';\n      return new Snapshot(file, state, folder, new sqlite.DatabaseSync(url));",
      "const database = new sqlite.DatabaseSync(url);\n      database.exec('PRAGMA user_version = 7');\n      return new Snapshot(file, state, folder, database);",
    ],
    caughtBy: 'source/not-written',
  },
  {
    breaks: 'reasoning counts beside the output that has it',
    format: 'pi',
    piece: [
      'histories/pi.ts',
      'const usage = usageOf({ input, output, cacheRead',
      'const usage = usageOf({ input, output: output + reasoning, cacheRead',
    ],
  },
  {
    breaks: 'the usage of a summary is lost',
    format: 'pi',
    piece: ['histories/pi.ts', "    });\n    this.#usage(fields, item, 'inference');", '    });'],
  },
  {
    breaks: 'entries of the first version are named by their lines',
    format: 'pi',
    piece: [
      'histories/pi.ts',
      "return `at-${at}-${kind}${number === 1 ? '' : `-${number}`}`;",
      'return `at-${Math.random()}`;',
    ],
    caughtBy: 'grown/every-cut',
  },
  {
    breaks: 'calls of the agents that the program runs are lost',
    format: 'qwen-code',
    piece: ['histories/qwen.ts', "?.startsWith('managed-') === true", "?.startsWith('nobody-') === true"],
  },
  {
    breaks: 'the telemetry of each call counts, too',
    format: 'qwen-code',
    piece: [
      'histories/qwen.ts',
      "asText(event.subagent_type)?.startsWith('managed-') === true",
      'event.model !== undefined',
    ],
  },
  {
    breaks: 'tokens of a cache count twice',
    format: 'copilot-cli',
    piece: ['histories/copilot.ts', 'input: input - cacheRead - cacheWrite', 'input'],
  },
  {
    breaks: 'the start of a call is another call',
    format: 'copilot-cli',
    piece: [
      'histories/copilot.ts',
      'this.#started(data);',
      "item.add('agent:tool_call', { toolCallId: 'again', tool: 'again', metadata: {} });",
    ],
  },
  {
    breaks: 'a value where a list is expected is lost',
    format: 'opencode-go',
    piece: [
      'histories/record-item.ts',
      'if (own === undefined) return [];',
      'if (own === undefined) {\n      this.#within.set(name, []);\n      return [];\n    }',
    ],
    caughtBy: 'complete/damaged-lines',
  },
];

async function problemOf(
  { format: name, caughtBy }: Fault,
  importers: readonly LogImporterProvider[],
): Promise<unknown> {
  const format = historyFormats.find((one) => one.name === name) as HistoryFormat;
  const importer = importerOf(format.importer, importers);
  if (caughtBy === undefined) return (await wrongTotals(format, importer)).length > 0 ? 'wrong totals' : null;
  const [result] = await runImporterConformance({ importer, write: format.write, seed: 1, seeds: 8 }, [
    caughtBy,
  ]);
  return result?.error?.message ?? null;
}

it.each(faults)('a broken importer is caught: $breaks', async (fault) => {
  expect(await problemOf(fault, logImporters)).toBeNull();
  const { logImporters: broken } = (await importMutated(home, fault.piece, 'importers/log-importers.ts')) as {
    logImporters: readonly LogImporterProvider[];
  };
  expect(await problemOf(fault, broken)).not.toBeNull();
});
