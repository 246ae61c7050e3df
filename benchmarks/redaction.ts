/**
 * Measures what redaction costs an import, a run and two exports of the corpus's transcripts (or of generated ones), in processor time: without a redactor, with it, and,
 * if the folder of another checkout is named, as that checkout does them. Each work runs in a process of its own; the variants take
 * turns, and the ratios are medians of the rounds. `HANSARD_BENCH_ROUNDS` sets how many there are (default: 5).
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type * as claude from '@hansard/claude';
import type * as dispatchPackage from '@hansard/dispatch';
import type { CapturedEvent, TaskSource } from '@hansard/events';
import type * as formats from '@hansard/formats';
import type * as importPackage from '@hansard/import';
import type { AgentProvider } from '@hansard/provider';
import type * as redaction from '@hansard/redaction';
import type * as jsonFile from '@hansard/store-jsonfile';
import { isCorpusThere, writeCorpusTranscript } from './corpus-transcripts.ts';
import { median } from './measure.ts';
import { report, rounded, type Target } from './report.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { writeTranscript } from './transcripts.ts';

const taskDir = 'benchmarks/tasks/redaction';
const megabytes = 6;
const here = join(import.meta.dirname, '..');

interface Place {
  /** The checkout whose packages do the work. */
  readonly root: string;
  readonly isRedacted: boolean;
  readonly transcript: string;
  readonly folder: string;
}

/** Prepares a work, which is then measured. */
type Work = (place: Place) => Promise<() => Promise<unknown>>;

const works: Readonly<Record<string, Work>> = {
  import: async (place) => {
    const { openClaudeTranscript } = await packageOf<typeof claude>(place, 'packages/claude');
    const { recordLog } = await packageOf<typeof importPackage>(place, 'packages/import');
    const store = await openStore(place, place.isRedacted);
    return async () => recordLog(store, taskDir, await openClaudeTranscript(place.transcript));
  },
  run: async (place) => {
    const { runDispatch } = await packageOf<typeof dispatchPackage>(place, 'packages/dispatch');
    const events = await eventsOf(place);
    const agent: AgentProvider = {
      contract: 1,
      async *run() {
        for (const event of events) yield { kind: 'event', event };
      },
    };
    const store = await openStore(place, place.isRedacted);
    return () =>
      runDispatch({
        store,
        taskDir,
        agent,
        role: 'agent',
        prompt: 'Begin.',
        fidelity: 'full',
        loopDetector: false,
      });
  },
  'export session-v2': exported(async (place) => {
    const { sessionFormats } = await packageOf<typeof formats>(place, 'packages/formats');
    return async (source) => {
      const events: CapturedEvent[] = [];
      for (const { dispatchId } of source.envelopes)
        for await (const event of source.readEvents(dispatchId)) events.push(event);
      return sessionFormats['session-v2'].write(events);
    };
  }),
  'export html': exported(async (place) => {
    const { writeTaskPage } = await packageOf<typeof formats>(place, 'packages/formats');
    return async (source) => {
      for await (const piece of writeTaskPage(source)) if (piece === '') throw new Error('an empty piece');
    };
  }),
};

/** An export of a transcript that was imported without redaction. */
function exported(open: (place: Place) => Promise<(source: TaskSource) => Promise<unknown>>): Work {
  return async (place) => {
    const { openTaskSource } = await packageOf<typeof dispatchPackage>(place, 'packages/dispatch');
    const store = await openStore(place, false);
    const { recordLog } = await packageOf<typeof importPackage>(place, 'packages/import');
    const { openClaudeTranscript } = await packageOf<typeof claude>(place, 'packages/claude');
    await recordLog(store, taskDir, await openClaudeTranscript(place.transcript));
    const write = await open(place);
    return async () => {
      const source = await openTaskSource(store, taskDir, {});
      if (!place.isRedacted) return write(source);
      const { createRedactor, redactSource } = await packageOf<typeof redaction>(place, 'packages/redaction');
      return write(redactSource(source, createRedactor()).source);
    };
  };
}

function packageOf<T>({ root }: Place, folder: string): Promise<T> {
  return import(join(root, folder, 'src/index.ts')) as Promise<T>;
}

async function openStore(place: Place, isRedacted: boolean): Promise<dispatchPackage.DispatchStore> {
  const { openDispatchStore } = await packageOf<typeof dispatchPackage>(place, 'packages/dispatch');
  const { openJsonFileStore } = await packageOf<typeof jsonFile>(place, 'plugins/store-jsonfile');
  const provider = openJsonFileStore({ root: place.folder });
  if (!isRedacted) return openDispatchStore(provider);
  const { createRedactor } = await packageOf<typeof redaction>(place, 'packages/redaction');
  return openDispatchStore(provider, { redact: createRedactor() });
}

async function eventsOf(place: Place): Promise<CapturedEvent[]> {
  const { openClaudeTranscript } = await packageOf<typeof claude>(place, 'packages/claude');
  const events: CapturedEvent[] = [];
  for await (const batch of (await openClaudeTranscript(place.transcript)).read()) events.push(...batch);
  return events;
}

const [name, given] = process.argv.slice(2);
const work = works[name ?? ''];
if (work !== undefined && given !== undefined) {
  const place = JSON.parse(given) as Place;
  const measured = await work(place);
  const before = process.cpuUsage();
  await measured();
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(JSON.stringify({ milliseconds: (user + system) / 1e3 }));
  process.exit();
} else {
  measureAll(name === undefined ? null : name);
}

function measureAll(other: string | null): void {
  const folder = temporaryFolder('bench-redaction');
  const transcript = join(folder, 'session.jsonl');
  const bytes = (isCorpusThere ? writeCorpusTranscript : writeTranscript)(transcript, megabytes * 1e6);
  const variants: Record<string, Pick<Place, 'root' | 'isRedacted'>> = {
    off: { root: here, isRedacted: false },
    on: { root: here, isRedacted: true },
    ...(other === null ? {} : { before: { root: other, isRedacted: false } }),
  };
  for (const step of Object.keys(works)) {
    const times: Record<string, number[]> = {};
    for (let round = 0; round < Number(process.env.HANSARD_BENCH_ROUNDS ?? 5); round += 1) {
      // In another order each time, so that no variant always follows the same one.
      const order = Object.keys(variants).toSorted((a, b) => (round % 2 === 0 ? 1 : -1) * (a < b ? -1 : 1));
      for (const variant of order) {
        const place = {
          ...variants[variant],
          transcript,
          folder: join(folder, `${step}-${variant}-${round}`),
        };
        const args = [...process.execArgv, import.meta.filename, step, JSON.stringify(place)];
        const { milliseconds } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
        times[variant] = [...(times[variant] ?? []), milliseconds];
        rmSync(place.folder, { recursive: true, force: true });
      }
    }
    const ratio = (one: string, to: string) =>
      rounded(median((times[one] ?? []).map((time, round) => time / (times[to]?.[round] ?? Number.NaN))));
    const targets: Target[] = [{ key: 'onToOff', atMost: 1.15 }];
    if (other !== null) targets.push({ key: 'offToBefore', atMost: 1.02 });
    report(
      {
        benchmark: 'redaction',
        transcript: isCorpusThere ? 'corpus' : 'made',
        work: step,
        megabytes: rounded(bytes / 1e6),
        millisecondsOff: rounded(median(times.off ?? [])),
        millisecondsOn: rounded(median(times.on ?? [])),
        onToOff: ratio('on', 'off'),
        ...(other === null ? {} : { offToBefore: ratio('off', 'before') }),
      },
      targets,
    );
  }
  rmSync(folder, { recursive: true });
}
