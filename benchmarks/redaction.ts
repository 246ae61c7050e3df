/**
 * Measures what redaction costs an import, a run, a session and two exports of transcripts, in processor time. The transcripts are
 * those of the corpus, or made. A process does one work many times; with a redactor and without take turns, after a round that is not
 * counted. Nothing collects garbage by force: a full collection also discards what V8 knows of the shapes of objects.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createRedactor } from '@hansard/redaction';
import { isCorpusThere } from './corpus-transcripts.ts';
import { median } from './measure.ts';
import { here, type Place, works, writeSomeTranscript } from './redaction-works.ts';
import { report, rounded } from './report.ts';
import { temporaryFolder } from './temporary-folder.ts';

const megabytes = 6;
const rounds = 15;
const processes = 4;

/** Milliseconds of each round, by variant. */
type Times = Record<'off' | 'on', number[]>;

const [step, given] = process.argv.slice(2);
if (step !== undefined && given !== undefined) {
  process.stdout.write(JSON.stringify(await timesOf(step, JSON.parse(given) as Place)));
  process.exit();
} else {
  measureAll();
}

async function timesOf(step: string, place: Place): Promise<Times> {
  const work = works[step];
  if (work === undefined) throw new TypeError(`no work: ${step}`);
  const times: Times = { off: [], on: [] };
  // A process makes one.
  const redactor = createRedactor();
  for (let round = 0; round <= rounds; round += 1) {
    for (const variant of round % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const)) {
      const folder = join(place.folder, `${round}-${variant}`);
      const measured = await work({ ...place, folder, redactor: variant === 'on' ? redactor : null });
      const before = process.cpuUsage();
      await measured();
      const { user, system } = process.cpuUsage(before);
      if (round > 0) times[variant].push((user + system) / 1e3);
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return times;
}

function measureAll(): void {
  const folder = temporaryFolder('bench-redaction');
  const transcript = join(folder, 'session.jsonl');
  const bytes = writeSomeTranscript(transcript, megabytes * 1e6);
  for (const step of Object.keys(works)) {
    const times: Times = { off: [], on: [] };
    for (let index = 0; index < processes; index += 1) {
      const place: Place = { root: here, transcript, folder: join(folder, `${step}-${index}`) };
      const args = [...process.execArgv, import.meta.filename, step, JSON.stringify(place)];
      const { off, on } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Times;
      times.off.push(...off);
      times.on.push(...on);
    }
    const [off, on] = [median(times.off), median(times.on)];
    report(
      {
        benchmark: 'redaction',
        transcript: isCorpusThere ? 'corpus' : 'made',
        work: step,
        megabytes: rounded(bytes / 1e6),
        millisecondsOff: rounded(off),
        millisecondsOn: rounded(on),
        onToOff: rounded(on / off),
      },
      [{ key: 'onToOff', atMost: 1.15 }],
    );
  }
  rmSync(folder, { recursive: true });
}
