/**
 * Measures what redaction costs an import, a run, a session and two exports of transcripts, in processor time. The transcripts are
 * those of the corpus, or made. A process does one work many times; with a redactor and without take turns, after a round that is not
 * counted. Nothing collects garbage by force: a full collection also discards what V8 knows of the shapes of objects.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createRedactor } from '@hansard/redaction';
import { processorTime, reportOnToOff, type Times, timesInTurns } from './redaction-times.ts';
import { here, type Place, works, writeSomeTranscript } from './redaction-works.ts';
import { temporaryFolder } from './temporary-folder.ts';

const megabytes = 6;
const rounds = 15;
const processes = 4;

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
  // A process makes one.
  const redactor = createRedactor();
  return timesInTurns(rounds, async (variant, name) => {
    const folder = join(place.folder, name);
    const measured = await work({ ...place, folder, redactor: variant === 'on' ? redactor : null });
    const before = process.cpuUsage();
    await measured();
    const milliseconds = processorTime(process.cpuUsage(before));
    rmSync(folder, { recursive: true, force: true });
    return milliseconds;
  });
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
    reportOnToOff('redaction', step, bytes, times);
  }
  rmSync(folder, { recursive: true });
}
