/**
 * Measures an append to a dispatch of 1,000, 10,000 and 100,000 events. Each figure is the median of short rounds in which
 * the contenders, at every length, take turns in random order.
 */
import { rmSync } from 'node:fs';
import type { CapturedEvent } from '@hansard/events';
import { type Contender, type Log, openContenders } from './contenders.ts';
import { mean, median, microsecondsSince } from './measure.ts';
import { report, rounded, type Target } from './report.ts';
import { sampleEvent } from './sample-events.ts';
import { temporaryFolder } from './temporary-folder.ts';

const lengths = [1_000, 10_000, 100_000];
const repeats = 10;
/** The last thousand events of each length are appended one by one, in rounds of this size. */
const measured = 1_000;
const round = 100;
/** At 10,000 events one rewrite takes 15 milliseconds; 1,000 events make the point. */
const longestRewrite = 1_000;
const rewrite = 'rewrite of the whole file';

interface Entry {
  readonly contender: Contender;
  readonly length: number;
  readonly log: Log;
}

const samples = new Map<string, number[]>();
const keyOf = (contender: Contender, length: number): string =>
  `${contender.through} ${contender.name} ${length}`;

async function runOnce(count: boolean): Promise<Contender[]> {
  const folder = temporaryFolder('bench-append');
  const contenders = await openContenders(folder);
  const entries: Entry[] = [];
  for (const contender of contenders) {
    for (const length of contender.name === rewrite ? [longestRewrite] : lengths) {
      entries.push({ contender, length, log: await filledLog(contender, length) });
    }
  }
  // The rewrite fills the heap with garbage that others would have to clear away, so it runs on its own.
  for (const turn of [entries.filter(isRewrite), entries.filter((entry) => !isRewrite(entry))]) {
    for (let done = 0; done < measured; done += round) {
      for (const entry of shuffled(turn)) {
        const first = entry.length - measured + done;
        const microseconds = await appendRound(entry.log, first);
        if (count) note(entry, microseconds);
      }
    }
  }
  for (const contender of contenders) await contender.close();
  rmSync(folder, { recursive: true });
  return contenders;
}

async function filledLog(contender: Contender, length: number): Promise<Log> {
  const log = await contender.openLog(`of-${length}`);
  for (let first = 0; first < length - measured; first += measured) {
    await log.fill(eventsFrom(first, Math.min(measured, length - measured - first)));
  }
  return log;
}

/** @returns microseconds per event */
async function appendRound(log: Log, first: number): Promise<number> {
  const events = eventsFrom(first, round);
  const lines = events.map((event) => `${JSON.stringify(event)}\n`);
  const start = process.hrtime.bigint();
  await log.append(events, lines);
  return microsecondsSince(start) / round;
}

function note({ contender, length }: Entry, microseconds: number): void {
  const key = keyOf(contender, length);
  samples.set(key, [...(samples.get(key) ?? []), microseconds]);
}

function isRewrite({ contender }: Entry): boolean {
  return contender.name === rewrite;
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((left, right) => left.place - right.place)
    .map(({ item }) => item);
}

function eventsFrom(first: number, count: number): CapturedEvent[] {
  return Array.from({ length: count }, (_, index) => sampleEvent(first + index));
}

let contenders = await runOnce(false);
for (let repeat = 0; repeat < repeats; repeat += 1) contenders = await runOnce(true);

const cost = (contender: Contender, length: number): number =>
  median(samples.get(keyOf(contender, length)) ?? []);
const [readyLine, encodedLine, , rawInsert] = contenders as [Contender, Contender, Contender, Contender];

function targetsOf({ name, through }: Contender, length: number): Target[] {
  const targets: Target[] = [];
  // A store is given an event and has to make the line itself; both readings of "one write of the same line" are shown.
  if (name === 'store-jsonfile') {
    const atMost = through === 'facade' ? 2 : 1.35;
    targets.push({ key: 'ofReadyLine', atMost }, { key: 'ofEncodedLine', atMost });
  }
  if (name === 'store-sqlite' && through === 'provider') targets.push({ key: 'ofRawInsert', atMost: 1.3 });
  if (name.startsWith('store-') && length === 100_000) targets.push({ key: 'of1k', atMost: 1.2 });
  return targets;
}

for (const contender of contenders) {
  for (const length of lengths) {
    if (!samples.has(keyOf(contender, length))) continue;
    const microseconds = cost(contender, length);
    const result = {
      benchmark: 'append',
      contender: contender.name,
      through: contender.through,
      events: length,
      microseconds: rounded(microseconds),
      mean: rounded(mean(samples.get(keyOf(contender, length)) ?? [])),
      ofReadyLine: rounded(microseconds / cost(readyLine, length)),
      ofEncodedLine: rounded(microseconds / cost(encodedLine, length)),
      ofRawInsert: rounded(microseconds / cost(rawInsert, length)),
      of1k: rounded(microseconds / cost(contender, 1_000)),
    };
    report(result, targetsOf(contender, length));
  }
}
