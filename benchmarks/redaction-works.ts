/** What the benchmarks of redaction measure: the recording and the export of transcripts by the packages of a checkout. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type * as claude from '@hansard/claude';
import type * as dispatchPackage from '@hansard/dispatch';
import type { CapturedEvent, TaskSource } from '@hansard/events';
import type * as formats from '@hansard/formats';
import type * as importPackage from '@hansard/import';
import type * as pages from '@hansard/pages';
import type { AgentProvider, LanguageModelProvider, ToolProvider } from '@hansard/provider';
import { type Redactor, redactSource } from '@hansard/redaction';
import type * as sessionPackage from '@hansard/session';
import type * as jsonFile from '@hansard/store-jsonfile';
import { isCorpusThere, writeCorpusTranscript } from './corpus-transcripts.ts';
import { writeTranscript } from './transcripts.ts';

const taskDir = 'benchmarks/tasks/redaction';
/** This checkout. */
export const here = join(import.meta.dirname, '..');

/** Of a session: a message, a call of a tool, and an answer each. */
const sessionRounds = 100;

export interface Place {
  /** The checkout whose packages do the work. */
  readonly root: string;
  readonly transcript: string;
  readonly folder: string;
}

interface Variant extends Place {
  readonly redactor: Redactor | null;
}

/** Prepares a work, which is then measured. */
type Work = (place: Variant) => Promise<() => Promise<unknown>>;

export const works: Readonly<Record<string, Work>> = {
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
    const { openSession } = await packageOf<typeof sessionPackage>(place, 'packages/session');
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
      const session = await openSession({ store, taskDir, model, tools: [tool] });
      const { root } = session;
      for (let round = 0; round < sessionRounds; round += 1) {
        await root.harken(`Look at file ${round}.`);
        await root.response();
      }
      await session.close();
    };
  },
  'export session-v2': exported(sessionLog),
  'export html': exported(page),
};

/** An export of a transcript that was imported without redaction, written to a file. */
function exported(write: WriteText): Work {
  return async (place) => {
    const { openTaskSource } = await packageOf<typeof dispatchPackage>(place, 'packages/dispatch');
    const { recordLog } = await packageOf<typeof importPackage>(place, 'packages/import');
    const { openClaudeTranscript } = await packageOf<typeof claude>(place, 'packages/claude');
    const store = await openStore(place, null);
    await recordLog(store, taskDir, await openClaudeTranscript(place.transcript));
    const { redactor } = place;
    return async () => {
      const source = await openTaskSource(store, taskDir);
      const read = redactor === null ? source : redactSource(source, redactor).source;
      await writeFile(join(place.folder, 'out'), write(place, read));
    };
  };
}

type WriteText = (place: Place, source: TaskSource) => AsyncIterable<string>;

async function* sessionLog(place: Place, { envelopes, readEvents }: TaskSource): AsyncGenerator<string> {
  const { sessionFormats } = await packageOf<typeof formats>(place, 'packages/formats');
  const events: CapturedEvent[] = [];
  for (const { dispatchId } of envelopes)
    for await (const event of readEvents(dispatchId)) events.push(event);
  yield sessionFormats['session-v2'].write(events).text;
}

async function* page(place: Place, source: TaskSource): AsyncGenerator<string> {
  const { writeTaskPage } = await packageOf<typeof pages>(place, 'packages/pages');
  yield* writeTaskPage(source);
}

function packageOf<T>({ root }: Place, folder: string): Promise<T> {
  return import(join(root, folder, 'src/index.ts')) as Promise<T>;
}

async function openStore(place: Place, redactor: Redactor | null): Promise<dispatchPackage.DispatchStore> {
  const { openDispatchStore } = await packageOf<typeof dispatchPackage>(place, 'packages/dispatch');
  const { openJsonFileStore } = await packageOf<typeof jsonFile>(place, 'plugins/store-jsonfile');
  const provider = openJsonFileStore({ root: place.folder });
  return openDispatchStore(provider, redactor === null ? {} : { redact: redactor });
}

export async function eventsOf(place: Place): Promise<CapturedEvent[]> {
  const { openClaudeTranscript } = await packageOf<typeof claude>(place, 'packages/claude');
  const events: CapturedEvent[] = [];
  for await (const batch of (await openClaudeTranscript(place.transcript)).read()) events.push(...batch);
  return events;
}

/** Writes the transcripts of the corpus, or made ones, and gives their size. */
export function writeSomeTranscript(path: string, bytes: number): number {
  return (isCorpusThere ? writeCorpusTranscript : writeTranscript)(path, bytes);
}
