/**
 * Measures what the fold of usage and cost adds to an append: one look at an event whose line was encoded and written to an open file just
 * before, as in the recorder. Both are measured in turns of one run; each figure is a median.
 */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type CapturedEvent, encodeEvent } from '@hansard/events';
import { createDispatchFacts } from '@hansard/facts';
import { median, microsecondsSince } from './measure.ts';
import { report, rounded } from './report.ts';
import { sampleEvent } from './sample-events.ts';
import { temporaryFolder } from './temporary-folder.ts';

const rounds = 20_000;
const events = 20;

/** A log as an agent makes it: a model call after each third event. */
function logEvent(position: number): CapturedEvent {
  const event = { ...sampleEvent(position), messageId: `msg_${Math.floor(position / 4)}` };
  if (position % 4 !== 3) return event;
  const usage = { inputTokens: 12, outputTokens: 340, cacheReadTokens: 52_000, cacheWriteTokens: 1_200 };
  return { ...event, type: 'agent:inference', data: { model: 'claude-opus-4-5', usage, costUsd: 0.0125 } };
}

/** Nanoseconds by the clock for each event. A round is too short to be interrupted often. */
function timed(log: readonly CapturedEvent[], work: (event: CapturedEvent) => void): number {
  const start = process.hrtime.bigint();
  for (const event of log) work(event);
  return (microsecondsSince(start) * 1_000) / log.length;
}

const folder = temporaryFolder('bench-fold');
const file = openSync(join(folder, 'lines'), 'a');
const facts = createDispatchFacts();
const written: number[] = [];
const folded: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  const log = Array.from({ length: events }, (_, index) => logEvent(round * events + index));
  written.push(timed(log, (event) => writeSync(file, `${encodeEvent(event)}\n`)));
  let position = facts.through + 1;
  folded.push(
    timed(log, (event) => {
      facts.observe(event, position, true);
      position += 1;
    }),
  );
}
closeSync(file);
rmSync(folder, { recursive: true });

report(
  {
    encodeAndWriteNs: rounded(median(written)),
    foldNs: rounded(median(folded)),
    percentOfEncodeAndWrite: rounded((100 * median(folded)) / median(written)),
    costUsd: facts.costUsd ?? 0,
  },
  [{ key: 'percentOfEncodeAndWrite', atMost: 2 }],
);
