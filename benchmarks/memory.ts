/**
 * Measures the memory that 100,000 appended events leave in use. Each contender runs in its own process, which counts after
 * a forced collection: after 200,000 events, and again 100,000 events later.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { throughFacade, throughProvider } from './contenders.ts';
import { report, rounded, type Target } from './report.ts';
import { importedEvent, sampleEvent } from './sample-events.ts';
import { type StoreName, storeNames } from './stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

const window = 100_000;
const most: Target[] = [
  { key: 'heapGrowthMegabytes', atMost: 1 },
  { key: 'rssGrowthMegabytes', atMost: 5 },
];
/** Otherwise V8 doubles its young generation during the run, which is not memory of the store. */
const fixedYoungGeneration = '--max-semi-space-size=4';

async function measure(name: StoreName, through: string, ids: string): Promise<void> {
  const folder = temporaryFolder('bench-memory');
  const contender = await (through === 'facade' ? throughFacade : throughProvider)(name, folder);
  const log = await contender.openLog('dispatch');
  const append = async (first: number, count: number): Promise<void> => {
    for (let done = 0; done < count; done += 500) {
      const events = Array.from({ length: 500 }, (_, index) =>
        ids === 'growing' ? sampleEvent(first + done + index) : importedEvent(),
      );
      await log.append(events, []);
    }
  };
  // V8 keeps a reserve for the most it ever needed between two collections, so the windows before are just as long.
  await append(0, window);
  collected();
  await append(window, window);
  const before = collected();
  await append(2 * window, window);
  const after = collected();
  report(
    {
      benchmark: 'memory',
      contender: name,
      through,
      ids,
      events: window,
      heapGrowthMegabytes: rounded((after.heapUsed - before.heapUsed) / 1e6),
      rssGrowthMegabytes: rounded((after.rss - before.rss) / 1e6),
    },
    most,
  );
  await contender.close();
  rmSync(folder, { recursive: true });
}

function collected(): NodeJS.MemoryUsage {
  for (let times = 0; times < 3; times += 1) globalThis.gc?.();
  return process.memoryUsage();
}

const [name, through, ids] = process.argv.slice(2);
if (name !== undefined && through !== undefined && ids !== undefined) {
  await measure(name as StoreName, through, ids);
} else {
  for (const store of storeNames) {
    for (const kind of ['provider growing', 'provider random', 'facade growing']) {
      const args = [
        ...process.execArgv,
        fixedYoungGeneration,
        import.meta.filename,
        store,
        ...kind.split(' '),
      ];
      execFileSync(process.execPath, args, { stdio: 'inherit' });
    }
  }
}
