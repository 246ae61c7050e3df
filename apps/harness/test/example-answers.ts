import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { createIdSource, type NewEvent, newEvent } from '@hansard/events';
import { systemClock } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { type CommandLine, commandLine } from './command-line.ts';
import { playScenario } from './play-scenario.ts';

/** Commands whose answers are in `docs/examples`, by the names of the files. */
const commands: Readonly<Record<string, readonly string[]>> = {
  ls: ['ls'],
  'ls-task': ['ls', 'site/routes'],
  tree: ['tree', 'site/routes'],
  show: ['show', 'site/routes/routes-dev'],
  events: ['show', 'site/routes/routes-dev', '--raw'],
  heard: ['heard', 'scenes/evening'],
  dialog: ['dialog', 'scenes/evening'],
  usage: ['usage', '--by', 'model'],
  search: ['search', 'route table'],
  compare: ['compare', 'site/routes/routes-dev', 'site/routes/routes-again'],
};

const widths = [80, 140];
const start = Date.UTC(2026, 2, 1, 9, 30);

/** The answers of commands about the same small store, on terminals of two widths: text by file name. */
export async function exampleAnswers(): Promise<ReadonlyMap<string, string>> {
  using line = commandLine();
  await writeStore(line);
  const answers = new Map<string, string>();
  for (const [name, args] of Object.entries(commands))
    for (const columns of widths) {
      const signal = new AbortController().signal;
      const { code, out, err } = await line.start(args, { signal, columns, env: { NO_COLOR: '1' } });
      if (code !== 0 || err !== '') throw new Error(`hansard ${args.join(' ')} exits with ${code}: ${err}`);
      const called = args.map((arg) => (arg.includes(' ') ? JSON.stringify(arg) : arg)).join(' ');
      answers.set(`${name}-${columns}.txt`, `$ hansard ${called}\n${out}`);
    }
  return answers;
}

async function writeStore({ cwd }: CommandLine): Promise<void> {
  const provider = openJsonFileStore({ root: join(cwd, '.projects') });
  await playScenario('cafe', provider);
  let seconds = 0;
  const now = () => start + seconds * 1_000;
  const createId = createIdSource({ now, random: () => 0 });
  const store = openDispatchStore(provider, { clock: { ...systemClock, now }, createId });
  const lead = await store.beginDispatch('site/tasks/routes', {
    ...{ role: 'lead', dispatchId: 'routes-lead', fidelity: 'full', model: 'claude-opus-4-1' },
    title: 'Fix the route table of the site',
  });
  await lead.append([said('Two attempts, then I compare.')]);
  for (const [dispatchId, isSecond] of [
    ['routes-dev', false],
    ['routes-again', true],
  ] as const) {
    const dev = await lead.beginChild({
      ...{ role: 'dev', dispatchId, fidelity: 'full', model: 'claude-sonnet-4-5' },
      title: isSecond ? 'Fix the routes, again' : 'Fix the routes',
    });
    for (const events of work(isSecond)) {
      seconds += 4;
      await dev.append(events);
    }
    await dev.end({
      status: 'completed',
      ...figures(isSecond ? 0.03 : 0.05, isSecond ? 400 : 700, isSecond ? 150 : 260),
    });
  }
  await lead.append([said('The second attempt needed fewer calls.'), ended(0.08, 900, 120)]);
  await lead.end({ status: 'completed', ...figures(0.08, 900, 120) });
  await store.close();
}

const said = (text: string): NewEvent => newEvent('agent:text', { text });

const ended = (costUsd: number, inputTokens: number, outputTokens: number): NewEvent =>
  newEvent('session:complete', {
    ...{ status: 'completed', result: 'All 14 routes answer.', costUsd, durationMs: 21_000, turns: 3 },
    usage: { inputTokens, outputTokens, cacheReadTokens: inputTokens * 9 },
  });

const figures = (cost: number, inputTokens: number, outputTokens: number) => ({
  cost,
  usage: { inputTokens, outputTokens, cacheReadTokens: inputTokens * 9, turns: 3, durationMs: 21_000 },
});

/** Reads, edits and tests; the first attempt has a test that fails. */
function* work(isSecond: boolean): Generator<NewEvent[]> {
  yield [
    newEvent('user:message', { text: 'The route table misses /about. Fix it.', source: { kind: 'user' } }),
    newEvent('agent:thinking', { text: 'The table is in routes.ts. I read it before I change it.' }),
  ];
  yield call('c1', 'Read', 'src/routes.ts', { file_path: 'src/routes.ts' }, "'/': home,\n'/team': team,");
  yield call(
    'c2',
    'Edit',
    'src/routes.ts',
    {
      file_path: 'src/routes.ts',
      old_string: "  '/team': team,\n",
      new_string: isSecond
        ? "  '/team': team,\n  '/about': about,\n"
        : "  '/team': team,\n  '/abuot': about,\n",
    },
    'The file was changed.',
  );
  if (!isSecond) {
    yield call('c3', 'Bash', 'pnpm test', { command: 'pnpm test -- routes --reporter dot' }, null);
    yield [{ type: 'session:status', data: { status: 'requesting' } }];
    yield call('c4', 'Bash', 'sed', { command: "sed -i 's/abuot/about/' src/routes.ts" }, '');
  }
  yield call('c5', 'Bash', 'pnpm test', { command: 'pnpm test -- routes --reporter dot' }, '14 passed');
  yield [said('The route table has **/about** now, and all 14 routes answer.')];
  yield [ended(isSecond ? 0.03 : 0.05, isSecond ? 400 : 700, isSecond ? 150 : 260)];
}

/** A call and its result. `output` null: it failed. */
function call(
  toolCallId: string,
  tool: string,
  target: string,
  input: Record<string, string>,
  output: string | null,
): NewEvent[] {
  const fields = { toolCallId, tool, target, metadata: {} };
  return [
    newEvent('agent:tool_call', { ...fields, input }),
    newEvent('agent:tool_result', {
      ...fields,
      durationMs: 1_200,
      ...(output === null
        ? { status: 'error', error: 'routes > /about answers: expected 200, got 404' }
        : { status: 'completed', output }),
    }),
  ];
}
