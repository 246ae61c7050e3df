/**
 * Measures what redaction costs an import, a run and two exports of transcripts, in processor time: with a redactor and without, and, if the
 * folder of another checkout is named, without one in both checkouts. The transcripts are those of the corpus, or generated. A
 * process does one work many times; its variants take turns, after a round that is not counted. The processes of the two checkouts take turns as
 * well. Nothing collects garbage by force: a full collection also discards what V8 knows of the shapes of objects.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type * as claude from '@hansard/claude';
import type * as dispatchPackage from '@hansard/dispatch';
import type { CapturedEvent, TaskSource } from '@hansard/events';
import type * as formats from '@hansard/formats';
import type * as importPackage from '@hansard/import';
import type { AgentProvider, LanguageModelProvider, ToolProvider } from '@hansard/provider';
import type * as redaction from '@hansard/redaction';
import { createRedactor, redactSource } from '@hansard/redaction';
import type * as sessionPackage from '@hansard/session';
import type * as jsonFile from '@hansard/store-jsonfile';
import { isCorpusThere, writeCorpusTranscript } from './corpus-transcripts.ts';
import { median } from './measure.ts';
import { report, rounded, type Target } from './report.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { writeTranscript } from './transcripts.ts';

const taskDir = 'benchmarks/tasks/redaction';
const megabytes = 6;
const here = join(import.meta.dirname, '..');

const rounds = 15;
const processes = 2;
/** Of a session: a message, a call of a tool, and an answer each. */
const sessionRounds = 100;

interface Place {
  /** The checkout whose packages do the work. */
  readonly root: string;
  /** Whether one of the variants redacts. */
  readonly redacts: boolean;
  readonly transcript: string;
  readonly folder: string;
}

interface Variant extends Place {
  readonly redactor: redaction.Redactor | null;
}

/** Prepares a work, which is then measured. */
type Work = (place: Variant) => Promise<() => Promise<unknown>>;

const works: Readonly<Record<string, Work>> = {
  import: async (place) => {
    const { openClaudeTranscript } = await packageOf<typeof claude>(place, 'packages/claude');
    const { recordLog } = await packageOf<typeof importPackage>(place, 'packages/import');
    const store = await openStore(place, place.redactor);
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
    const store = await openStore(place, place.redactor);
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
  session: async (place) => {
    const { createSession } = await packageOf<typeof sessionPackage>(place, 'packages/session');
    const store = await openStore(place, place.redactor);
    const output = 'A line of what a command printed, with a path/to/a/file.ts and a number 4711.\n'.repeat(
      30,
    );
    const usage = { inputTokens: 1_000, outputTokens: 50 };
    const tool: ToolProvider = {
      contract: 1,
      listTools: () => [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
      callTool: () => ({ status: 'completed', text: output }),
    };
    const model: LanguageModelProvider = {
      contract: 1,
      generate: ({ turn }) => ({
        text: `Thought ${turn}: the next file can say more about this.`,
        toolCalls:
          turn % 2 === 1
            ? []
            : [{ toolCallId: `call-${turn}`, tool: 'look', input: { path: `src/file-${turn}.ts` } }],
        model: 'm',
        usage,
      }),
    };
    return async () => {
      const { root, session } = await createSession({ store, taskDir, model, tools: [tool] });
      for (let round = 0; round < sessionRounds; round += 1) {
        await root.harken(`Look at file ${round}.`);
        await root.response();
      }
      await session.close();
    };
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
function exported(open: (place: Variant) => Promise<(source: TaskSource) => Promise<unknown>>): Work {
  return async (place) => {
    const { openTaskSource } = await packageOf<typeof dispatchPackage>(place, 'packages/dispatch');
    const store = await openStore(place, null);
    const { recordLog } = await packageOf<typeof importPackage>(place, 'packages/import');
    const { openClaudeTranscript } = await packageOf<typeof claude>(place, 'packages/claude');
    await recordLog(store, taskDir, await openClaudeTranscript(place.transcript));
    const write = await open(place);
    return async () => {
      const source = await openTaskSource(store, taskDir, {});
      const { redactor } = place;
      return write(redactor === null ? source : redactSource(source, redactor).source);
    };
  };
}

function packageOf<T>({ root }: Place, folder: string): Promise<T> {
  return import(join(root, folder, 'src/index.ts')) as Promise<T>;
}

async function openStore(
  place: Place,
  redactor: redaction.Redactor | null,
): Promise<dispatchPackage.DispatchStore> {
  const { openDispatchStore } = await packageOf<typeof dispatchPackage>(place, 'packages/dispatch');
  const { openJsonFileStore } = await packageOf<typeof jsonFile>(place, 'plugins/store-jsonfile');
  const provider = openJsonFileStore({ root: place.folder });
  return openDispatchStore(provider, redactor === null ? {} : { redact: redactor });
}

async function eventsOf(place: Place): Promise<CapturedEvent[]> {
  const { openClaudeTranscript } = await packageOf<typeof claude>(place, 'packages/claude');
  const events: CapturedEvent[] = [];
  for await (const batch of (await openClaudeTranscript(place.transcript)).read()) events.push(...batch);
  return events;
}

/** Milliseconds of each round, by variant. */
type Times = Record<'off' | 'on', number[]>;

const [name, given] = process.argv.slice(2);
const work = works[name ?? ''];
if (work !== undefined && given !== undefined) {
  process.stdout.write(JSON.stringify(await timesOf(work, JSON.parse(given) as Place)));
  process.exit();
} else {
  measureAll(name ?? null);
}

async function timesOf(work: Work, place: Place): Promise<Times> {
  const times: Times = { off: [], on: [] };
  // A process makes one.
  const redactor = createRedactor();
  for (let round = 0; round <= rounds; round += 1) {
    for (const variant of round % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const)) {
      const isOn = variant === 'on' && place.redacts;
      const folder = join(place.folder, `${round}-${variant}`);
      const measured = await work({ ...place, folder, redactor: isOn ? redactor : null });
      const before = process.cpuUsage();
      await measured();
      const { user, system } = process.cpuUsage(before);
      if (round > 0) times[variant].push((user + system) / 1e3);
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return times;
}

function measureAll(other: string | null): void {
  const folder = temporaryFolder('bench-redaction');
  const transcript = join(folder, 'session.jsonl');
  const bytes = (isCorpusThere ? writeCorpusTranscript : writeTranscript)(transcript, megabytes * 1e6);
  for (const step of Object.keys(works)) {
    const measured = (root: string, redacts: boolean, index: number): Times => {
      const place: Place = { root, redacts, transcript, folder: join(folder, `${step}-${index}`) };
      const args = [...process.execArgv, import.meta.filename, step, JSON.stringify(place)];
      return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
    };
    const own: Times = { off: [], on: [] };
    const before: number[] = [];
    const now: number[] = [];
    for (let index = 0; index < processes; index += 1) {
      if (other !== null) {
        before.push(...Object.values(measured(other, false, index)).flat());
        now.push(...Object.values(measured(here, false, index)).flat());
      }
      const { off, on } = measured(here, true, index);
      own.off.push(...off);
      own.on.push(...on);
    }
    const off = median(own.off);
    const on = median(own.on);
    const targets: Target[] = [{ key: 'onToOff', atMost: 1.15 }];
    if (other !== null) targets.push({ key: 'offToBefore', atMost: 1.02 });
    report(
      {
        benchmark: 'redaction',
        transcript: isCorpusThere ? 'corpus' : 'made',
        work: step,
        megabytes: rounded(bytes / 1e6),
        millisecondsOff: rounded(off),
        millisecondsOn: rounded(on),
        onToOff: rounded(on / off),
        ...(other === null ? {} : { offToBefore: rounded(median(now) / median(before)) }),
      },
      targets,
    );
  }
  rmSync(folder, { recursive: true });
}
