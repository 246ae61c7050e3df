import { appendFileSync, cpSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { BalanceSheet, balanceProblem, type SourceBalance } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { corpus, isCorpusThere, randomFrom, skipped } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { type ImportItem, logImporters } from '../src/index.ts';
import { importAll, LogFolder, lines, logOfFormat, prompts } from './logs.ts';
import { randomSession } from './random-session.ts';

const task = 'lab/tasks/balance';
const openStore = () => openDispatchStore(createMemoryStore());

function balancesOf(items: readonly ImportItem[]): SourceBalance[] {
  return items.flatMap((item) => {
    if (item.kind === 'failed') throw item.error;
    return item.kind === 'imported' ? [item.balance] : [];
  });
}

async function balanceOf(path: string, as?: string): Promise<SourceBalance> {
  await using store = openStore();
  const balances = balancesOf(await importAll(store, [path], { task, ...(as === undefined ? {} : { as }) }));
  expect(balances.map(balanceProblem)).toEqual(balances.map(() => null));
  const sheet = new BalanceSheet();
  for (const balance of balances) sheet.add(balance);
  for (const { source } of await store.getDispatchEnvelopes(task))
    expect(balances).toContainEqual(source?.balance);
  return sheet.balance;
}

/** `HANSARD_SEEDS` sets how many logs are imported in each test of random ones. */
const seeds = Number(process.env.HANSARD_SEEDS ?? 8);
const damaged = ['{"type":"user","mess', '42', 'no JSON at all', '"text"', '{} {}', `x${'y'.repeat(40_000)}`];
const formats = ['claude-transcript', 'claude-stream', 'session-v1', 'session-v2', 'game-log'] as const;

describe('the balance of an import', () => {
  it.each(formats)('counts what was planted in %s by its reason: blank, unfinished', async (as) => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      using folder = new LogFolder();
      const random = randomFrom(seed);
      const below = (limit: number) => Math.floor(random() * limit);
      const whole = (logOfFormat[as] ?? '').trimEnd().split('\n');
      let [records, blank] = [whole.length, 0];
      for (let planted = below(6); planted > 0; planted -= 1) {
        const at = 1 + below(whole.length);
        if (random() < 0.5) {
          const text = ' '.repeat(below(3));
          whole.splice(at, 0, text);
          blank += text.length + 1;
        } else {
          const text = damaged[below(4)] ?? '';
          // Part of a line that may continue is joined with blank lines after it.
          if (text.startsWith('{')) continue;
          whole.splice(at, 0, text);
          records += 1;
        }
      }
      const tail = random() < 0.5 ? '{"type":"user","sess' : '';
      const path = folder.put('log.jsonl', `${whole.join('\n')}\n${tail}`);
      const balance = await balanceOf(path, as);
      const unfinished = tail === '' ? {} : { unfinished: 1 };
      expect(balance, `seed ${seed}`).toMatchObject({
        records: { in: records + (tail === '' ? 0 : 1), recorded: records, leftOut: unfinished },
        bytes: {
          in: statSync(path).size,
          leftOut: {
            ...(blank === 0 ? {} : { blank }),
            ...(tail === '' ? {} : { unfinished: tail.length }),
          },
        },
        files: { in: 1, recorded: 1, leftOut: {} },
      });
    }
  });

  it('counts repeated records, the rest of long damaged texts, and files beside the session', async () => {
    using folder = new LogFolder();
    const [first = {}, second = {}] = prompts(2);
    const long = `x${'y'.repeat(40_000)}`;
    const again = lines(first);
    const path = folder.put('s.jsonl', `${lines(first, second)}${again}${long}\n`);
    folder.put('s/subagents/agent-a.jsonl', '');
    folder.put('s/subagents/agent-b.jsonl', 'nothing to read\n');
    folder.put('s/subagents/agent-b.meta.json', '[1]');
    const { records, bytes, files } = await balanceOf(path);
    expect(records).toEqual({ in: 4, recorded: 3, leftOut: { repeated: 1 } });
    expect(bytes.leftOut).toEqual({
      repeated: again.length,
      cut: long.length - 16 * 1024,
      no_records: 'nothing to read\n'.length,
      not_read: 3,
    });
    expect(files).toEqual({ in: 4, recorded: 1, leftOut: { no_records: 2, not_read: 1 } });
  });

  it('adds up for hostile lines in random sessions, with every byte of every file, at once and grown', async () => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      using folder = new LogFolder();
      const random = randomFrom(seed);
      const written = randomSession(seed, 60).flatMap((line) =>
        random() < 0.1 && line.file.endsWith('.jsonl')
          ? [line, { ...line, text: `${damaged[Math.floor(random() * damaged.length)]}\n` }]
          : [line],
      );
      await using grown = openStore();
      const path = join(folder.path, 'session.jsonl');
      let last: SourceBalance | undefined;
      for (const [at, { file, text }] of written.entries()) {
        const target = join(folder.path, file);
        mkdirSync(dirname(target), { recursive: true });
        appendFileSync(target, text);
        if (at % 9 !== 0 && at < written.length - 1) continue;
        for (const balance of balancesOf(await importAll(grown, [path], { task }))) {
          expect(balanceProblem(balance), `seed ${seed}`).toBeNull();
          last = balance;
        }
      }
      const names = globSync('**/*.*', { cwd: folder.path });
      const all = names.reduce((sum, name) => sum + statSync(join(folder.path, name)).size, 0);
      expect(last, `seed ${seed}`).toEqual(await balanceOf(path));
      expect([last?.bytes.in, last?.files.in], `seed ${seed}`).toEqual([all, names.length]);
    }
  });

  it('reports an importer whose balance does not add up', async () => {
    using folder = new LogFolder();
    await using store = openStore();
    const importers = logImporters.map((importer) => ({
      ...importer,
      open: async (...args: Parameters<typeof importer.open>) =>
        (await importer.open(...args)).map((log) => ({
          ...log,
          read: (options?: object) => log.read(options),
          summary: () => {
            const sheet = new BalanceSheet();
            sheet.take('records', 7);
            return { ...log.summary(), balance: sheet.balance };
          },
        })),
    }));
    const path = folder.put('s.jsonl', logOfFormat['session-v2'] ?? '');
    const [item] = await importAll(store, [path], { task, importers });
    expect(item).toMatchObject({ kind: 'imported', counts: { not_balanced: 1 } });
  });

  it.skipIf(!isCorpusThere)(`adds up for every file of the corpus, to the byte${skipped}`, async () => {
    const patterns = [
      'claude-stream/*.jsonl',
      'claude-transcripts/**/*.jsonl',
      'claude-tree/*/p/**/*.jsonl',
      'session-v*/*.jsonl',
      'games/werewolf-match.json',
      'games/tossim/*.jsonl',
    ];
    const found = globSync(patterns, { cwd: corpus }).sort();
    const own = found.filter((file) => !file.includes('/subagents/') && !/\/agent-[^/]*$/.test(file));
    expect(own.length).toBeGreaterThan(40);
    const sheet = new BalanceSheet();
    for (const file of own) {
      using folder = new LogFolder();
      const path = join(folder.path, file.replace(/^.*\//, ''));
      writeFileSync(path, readFileSync(join(corpus, file)));
      const balance = await balanceOf(path);
      expect(balance.bytes.in, file).toBe(statSync(path).size);
      sheet.add(balance);
    }
    using folder = new LogFolder();
    cpSync(join(corpus, 'claude-transcripts/with-subagents'), folder.path, { recursive: true });
    const balance = await balanceOf(join(folder.path, 'session.jsonl'));
    expect(balance.files.in).toBe(globSync('**/*.*', { cwd: folder.path }).length);
    sheet.add(balance);
    expect(balanceProblem(sheet.balance)).toBeNull();
    expect(sheet.balance.records.recorded).toBeGreaterThan(1_000);
  });
});
