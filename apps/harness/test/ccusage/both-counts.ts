import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CopiesAmong, openDispatchStore, usageOf } from '@hansard/dispatch';
import { isEventOf } from '@hansard/events';
import { openCallEvents, type PriceTable } from '@hansard/facts';
import { importLogs } from '@hansard/import';
import { createMemoryStore } from '@hansard/store-memory';
import {
  type CountedUsage,
  countBlocksWithCcusage,
  countWithCcusage,
} from '../../../../scripts/engines/ccusage.ts';

export type { CountedUsage };

/** Both counts of the same transcripts, by day in UTC and by model. */
export interface BothCounts {
  readonly ours: ReadonlyMap<string, CountedUsage>;
  readonly theirs: ReadonlyMap<string, CountedUsage>;
}

/** What `ccusage` counted in each source: its own prices are the same each time. */
const countedByThem = new Map<string, readonly CountedUsage[]>();

/** Counts a transcript, or a folder of transcripts, with `ccusage` and as `hansard import` and `hansard usage` do. */
export async function countWithBoth(cli: string, source: string, prices?: PriceTable): Promise<BothCounts> {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-ccusage-'));
  try {
    const project = join(folder, 'config/projects/house');
    mkdirSync(project, { recursive: true });
    cpSync(source, source.endsWith('.jsonl') ? join(project, 'session.jsonl') : project, { recursive: true });
    for (const path of globSync(join(project, '**/*.jsonl')))
      writeFileSync(path, compacted(readFileSync(path, 'utf8')));
    const theirs =
      countedByThem.get(source) ??
      (await countWithCcusage(cli, join(folder, 'config'), join(folder, 'home')));
    countedByThem.set(source, theirs);
    return { ours: byCell(await countWithHansard(project, prices)), theirs: byCell(theirs) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Counts a `projects` folder by five-hour blocks with both: input, output, cache reads and cache writes. */
export async function blocksWithBoth(cli: string, config: string): Promise<{ ours: object; theirs: object }> {
  for (const path of globSync(join(config, 'projects/**/*.jsonl')))
    writeFileSync(path, compacted(readFileSync(path, 'utf8')));
  await using store = openDispatchStore(createMemoryStore());
  for await (const item of importLogs(store, [join(config, 'projects')])) void item;
  const { rows } = await usageOf(store, { by: ['block'], zone: 'utc' });
  const used = rows.flatMap(({ values: [start = ''], ...of }) => {
    const figures = [of.inputTokens, of.outputTokens, of.cacheReadTokens, of.cacheWriteTokens];
    const tokens = figures.map((one) => one ?? 0);
    return start === '' || tokens.every((one) => one === 0) ? [] : [[start, tokens] as const];
  });
  const theirs = await countBlocksWithCcusage(cli, config, join(config, '../home'));
  return {
    ours: Object.fromEntries(used),
    theirs: Object.fromEntries(Object.entries(theirs).filter(([, tokens]) => tokens.some((one) => one > 0))),
  };
}

/** Records without spaces between their keys and values, as Claude Code writes them: `ccusage` skips any other line. */
function compacted(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      try {
        return JSON.stringify(JSON.parse(line));
      } catch {
        return line;
      }
    })
    .join('\n');
}

const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, usd: 0 };

/** A cell in which nothing was used is none. */
function byCell(counted: readonly CountedUsage[]): Map<string, CountedUsage> {
  const cells = new Map<string, CountedUsage>();
  for (const { day, model, ...figures } of counted) {
    const key = `${day} ${model}`;
    const sum = { ...none, ...cells.get(key), day, model };
    for (const name of Object.keys(none) as (keyof typeof none)[]) sum[name] += figures[name];
    if (sum.inputTokens + sum.outputTokens + sum.cacheReadTokens + sum.cacheWriteTokens > 0)
      cells.set(key, sum);
  }
  return cells;
}

async function countWithHansard(folder: string, prices?: PriceTable): Promise<CountedUsage[]> {
  await using store = openDispatchStore(createMemoryStore());
  const counted: CountedUsage[] = [];
  for await (const item of importLogs(store, [folder], { task: 'lab/house', prices })) void item;
  const { dispatches } = await store.listDispatches();
  const copies = new CopiesAmong(dispatches);
  for (const envelope of await store.getDispatchEnvelopes('lab/house')) {
    const ref = { taskDir: 'lab/house', dispatchId: envelope.dispatchId };
    const { copied, raised } = (await copies.eventsOf(ref)) ?? {};
    const events = await store.getDispatchEvents('lab/house', envelope.dispatchId);
    const ids = new Set(events.map(({ id }) => id));
    for (const recorded of [...events, ...openCallEvents(envelope, (id) => ids.has(id))]) {
      const event = raised?.get(recorded.id) ?? recorded;
      if (!isEventOf(event, 'agent:inference') || copied?.has(event.id)) continue;
      const { model, usage } = event.data;
      const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
      const usd = prices?.priceOf({ model, usage, timestamp: event.timestamp })?.usd ?? 0;
      const tokens = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
      // The other counter has a row of its own for fast mode, too.
      const row = usage.speed === 'fast' ? `${model}-fast` : model;
      counted.push({ day: event.timestamp?.slice(0, 10) ?? '', model: row, ...tokens, usd });
    }
  }
  return counted;
}
