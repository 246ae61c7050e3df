/** What the benchmarks of redaction do with times: both variants take turns, and are compared. */
import { isCorpusThere } from './corpus-transcripts.ts';
import { median } from './measure.ts';
import { report, rounded } from './report.ts';

/** With a redactor, or without one. */
export type Variant = 'off' | 'on';

/** Milliseconds of each round. */
export type Times = Record<Variant, number[]>;

/** Does this number of rounds of both variants, after one that is not counted. `run` returns milliseconds. */
export async function timesInTurns(
  rounds: number,
  run: (variant: Variant, name: string) => number | Promise<number>,
): Promise<Times> {
  const times: Times = { off: [], on: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const variant of round % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const)) {
      const milliseconds = await run(variant, `${round}-${variant}`);
      if (round > 0) times[variant].push(milliseconds);
    }
  }
  return times;
}

/** Milliseconds of processor time. */
export function processorTime({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1e3;
}

export function reportOnToOff(benchmark: string, work: string, bytes: number, times: Times): void {
  const [off, on] = [median(times.off), median(times.on)];
  report(
    {
      benchmark,
      transcript: isCorpusThere ? 'corpus' : 'made',
      work,
      megabytes: rounded(bytes / 1e6),
      millisecondsOff: rounded(off),
      millisecondsOn: rounded(on),
      onToOff: rounded(on / off),
    },
    [{ key: 'onToOff', atMost: 1.15 }],
  );
}
