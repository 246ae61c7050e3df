import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { shortId } from '@hansard/facts';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { appendEvents, createDispatch, updateDispatch } from '@hansard/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PrintedCommand, printedCommands } from '../../../scripts/printed-commands.ts';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';

let line: CommandLine;
/** The short id that stands for 4K7Q. */
let id: string;

const mapping = `
turn: { events: ["game:day"] }
gameEvents: { events: ["game:*"] }
chat: { tools: { speak: message } }
`;

/** Why a printed command is not run to its end here. Each is read by the command line all the same. */
const notRun: readonly (readonly [words: RegExp, reason: string])[] = [
  [/--agent claude/, 'runs a model'],
  [/--model model-ai-sdk/, 'needs a model that is configured'],
  [/^show latest (-i )?-f\b/, 'follows until Ctrl-C'],
  [/^send\b/, 'needs a process that records the session'],
  [/^approve\b/, 'needs a call that waits for a person: `approve` runs it'],
  [/^view\b/, 'serves a page until Ctrl-C'],
  [/~/, 'is about the home folder'],
  [/^import --undo/, 'asks before it deletes anything'],
  [/^import --mirrored/, 'needs a session that the Agent SDK mirrored: `sessions-both-ways` runs it'],
  [/^watch$/, 'watches until Ctrl-C'],
  [/^watch (un)?install/, 'is about the home folder'],
  [/^plugins check/, 'needs a plugin with its kit: `write-a-plugin` runs it'],
  [/^store delete/, 'deletes what the others need'],
  [/^store verify --against/, 'reads a file that `store seal` wrote'],
  [/^secrets redact(?!.*--yes)/, 'asks before it changes anything'],
  [/^help options$|^help$/, 'is tested beside the help'],
];

/** What the placeholders and the computed parts of hints stand for. */
const stand: readonly (readonly [part: RegExp, stands: string])[] = [
  [/\$\{toTaskName\([\w.]+\)\}\/\$\{[^}]+\}|\$\{(?:taskDir|task)\}\/\$\{dispatchId\}/g, 'chat/cafe/latest'],
  [/\$\{path\.join\(' '\)\}/g, 'show'],
  [/\$\{name\}/g, 'chat/cafe'],
  [/\bSESSION EVENT\b/g, 'chat/cafe 35'],
  [/\bSESSION POSITION\b/g, 'chat/cafe 35'],
  [/\bSESSION\b/g, 'chat/cafe'],
  [/\bFILE\b/g, 'src/app.ts'],
  [/\bTASK\b/g, 'research/route-models'],
  [/\bCOMMAND\b/g, 'show'],
  [/\bPROJECT\/SLUG\b/g, 'research/replayed'],
  [/\bPATH\b/g, 'worker.jsonl'],
  [/\bSTREAM\.jsonl\b/g, 'stream.jsonl'],
  [/\bONE\b/g, 'jack'],
  [/\bOTHER\b/g, 'jill'],
  [/@15:04/g, '@23:59'],
];

function argsOf(words: string): string[] {
  // A shell would take what follows these.
  const [own = ''] = words.split(/ [|>]/);
  const concrete = stand.reduce((text, [part, stands]) => text.replace(part, stands), own);
  return [...concrete.replaceAll('4K7Q', id).matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain = '']) => single ?? double ?? plain,
  );
}

const commands = printedCommands();
const groups = ['run', 'chat', 'import', 'ls', 'search', 'usage', 'compare', 'show', 'tree', 'view'];
const later = ['store', 'secrets', 'demo', 'completion', 'help'];
/** Packets are written before they are checked. */
const stepsOfJudge = ['judge pack', 'judge check', 'judge import', 'judge report'];
/** Records first, and what changes the store last, as the help lists them. */
const order = ({ words, isHint }: PrintedCommand) => {
  const [name = '', sub] = words.split(' ');
  // It makes a second session, which other commands would have to choose from.
  if (name === 'fork') return 99;
  if (words.includes('--attach')) return 100;
  if (name === 'chat') return groups.indexOf(name) + (isHint ? 0.5 : 0);
  if (name === 'judge') return 50 + stepsOfJudge.indexOf(`${name} ${sub}`) / 10;
  return groups.includes(name) ? groups.indexOf(name) : later.includes(name) ? 90 + later.indexOf(name) : 50;
};
const run = commands
  .filter(({ words }) => !notRun.some(([pattern]) => pattern.test(words)))
  .toSorted((one, other) => order(one) - order(other));

beforeAll(async () => {
  line = commandLine();
  const { cwd } = line;
  const scenario = fileURLToPath(new URL('../../../examples/scenarios/cafe.yaml', import.meta.url));
  mkdirSync(join(cwd, 'examples/scenarios'), { recursive: true });
  copyFileSync(scenario, join(cwd, 'examples/scenarios/cafe.yaml'));
  copyFileSync(demoStream('tools-and-thinking'), join(cwd, 'stream.jsonl'));
  copyFileSync(demoStream('hook-deny'), join(cwd, 'worker.jsonl'));
  const log = fileURLToPath(new URL('fixtures/traders-v2.jsonl', import.meta.url));
  copyFileSync(log, join(cwd, 'session.jsonl'));
  writeFileSync(join(cwd, 'notes.md'), '# Notes\n');
  for (const name of ['game.yaml', 'village.yaml']) writeFileSync(join(cwd, name), mapping);
  const store = openDispatchStore(openJsonFileStore({ root: join(cwd, '.projects') }));
  const told = Array.from({ length: 130 }, (_, at) =>
    newEvent('agent:text', { text: `The ${at}th walrus.` }),
  );
  for (const taskDir of ['research/tasks/route-models', 'lab/tasks/old', 'lab/tasks/new']) {
    const { dispatchId } = await createDispatch(store, taskDir, { role: 'dev', fidelity: 'full' });
    await appendEvents(store, taskDir, dispatchId, told);
    await updateDispatch(store, taskDir, dispatchId, { status: 'completed' });
    if (taskDir.startsWith('research/')) id = shortId(dispatchId);
  }
  for (const taskDir of ['game/tasks/village', 'village/tasks/game']) {
    const { dispatchId } = await createDispatch(store, taskDir, { role: 'game', fidelity: 'full' });
    await appendEvents(store, taskDir, dispatchId, gameEvents());
    const completedAt = new Date().toISOString();
    await updateDispatch(store, taskDir, dispatchId, { status: 'completed', completedAt });
  }
  await recordEdits(store, cwd);
  await store.close();
  await prepareFiles(cwd);
});
afterAll(() => line[Symbol.dispose]());

function gameEvents(): NewEvent[] {
  const ann = { agentId: 'agent_001', messageId: 'm1' };
  const speak = { toolCallId: 'c1', tool: 'speak', metadata: {} };
  return [
    newEvent('agent:created', { name: 'Ann' }, { agentId: 'agent_001' }),
    { type: 'game:day', data: { turn: 'Day 1' } },
    newEvent('agent:tool_call', { ...speak, input: { message: 'Good morning.' } }, ann),
    newEvent('agent:tool_result', { ...speak, status: 'completed' }, ann),
  ];
}

/** A session that wrote the file of the examples, here and elsewhere. */
async function recordEdits(store: DispatchStore, cwd: string): Promise<void> {
  const after = Array.from({ length: 60 }, (_, at) => `line ${at + 1}\n`).join('');
  mkdirSync(join(cwd, 'src'));
  writeFileSync(join(cwd, 'src/app.ts'), after);
  const paths = [join(cwd, 'src/app.ts'), '/home/ann/shop/src/app.ts'];
  const changes = paths.map((path) => ({ path, before: null, after }));
  const wrote = { toolCallId: 'c1', tool: 'write', metadata: {}, status: 'completed', changes } as const;
  const { dispatchId } = await createDispatch(store, 'shop/tasks/cart', { role: 'dev', fidelity: 'full' });
  await appendEvents(store, 'shop/tasks/cart', dispatchId, [
    newEvent('agent:tool_result', { ...wrote, target: 'src/app.ts' }),
  ]);
  await updateDispatch(store, 'shop/tasks/cart', dispatchId, { status: 'completed' });
}

/** The streams of a game, and a verdict on its packets. */
async function prepareFiles(cwd: string): Promise<void> {
  const game = ['--mapping', 'game.yaml', '--out'];
  expect(await line.hansard('export', 'village/game', '--as', 'streams', ...game, 'made')).toMatchObject({
    code: 0,
  });
  for (const name of ['game_events.jsonl', 'chat.jsonl'])
    copyFileSync(join(cwd, 'made', name), join(cwd, name));
  expect(await line.hansard('judge', 'pack', 'game/village', ...game, 'packed')).toMatchObject({ code: 0 });
  const packet = (name: string) => readFileSync(join(cwd, 'packed', name), 'utf8');
  const { sha256 } = JSON.parse(packet('external.manifest.json'));
  const target = JSON.parse(packet('external.jsonl').split('\n')[0] ?? '').speaker;
  const verdict = { judge: 'ann', pass: 'external', target, question: 'deceptive?', label: 'yes' };
  const cited = { ...verdict, citations: [1], packet_sha256: sha256 };
  writeFileSync(join(cwd, 'verdicts.jsonl'), `${JSON.stringify(cited)}\n`);
}

describe('every command line that Hansard prints', () => {
  it('is found in the sources: examples of the help, and hints of messages', () => {
    expect(commands.filter(({ isHint }) => !isHint).length).toBeGreaterThan(70);
    expect(commands.filter(({ isHint }) => isHint).length).toBeGreaterThan(30);
    for (const [pattern] of notRun)
      expect(commands.filter(({ words }) => pattern.test(words))).not.toHaveLength(0);
  });

  it.each(run.map((command) => [command.words, command] as const))('runs: %s', async (_, command) => {
    const args = argsOf(command.words);
    const isName = command.isHint && args.every((word) => /^[a-z]+$/.test(word)) && !runsAlone(args);
    if (args[0] === 'judge' && args[1] === 'pack')
      rmSync(join(line.cwd, 'packets'), { recursive: true, force: true });
    const answer = await line.hansard(...(isName ? ['help', ...args] : args));
    // A search that finds nothing says so with 1.
    const codes = args[0] === 'search' ? [0, 1] : [0];
    expect([codes.includes(answer.code), answer.err.split('\n')[0]]).toEqual([true, expect.any(String)]);
    // The log of another tool is not there any more when a session is exported to that name.
    if (args[0] === 'import' && args.includes('session-v2')) rmSync(join(line.cwd, 'session.jsonl'));
  });

  it.each(
    commands.filter(({ words }) => notRun.some(([pattern]) => pattern.test(words))).map(({ words }) => words),
  )('is read by the command line: %s', async (words) => {
    const answer = await line.hansard(...argsOf(words), '--help');
    expect([answer.code, answer.err]).toEqual([0, '']);
  });
});

/** Whether the words are a whole command, and not only its name. */
function runsAlone(args: readonly string[]): boolean {
  const [name = '', sub] = args;
  return (
    ['ls', 'plugins', 'demo', 'usage', 'completion'].includes(name) ||
    sub === 'verify' ||
    sub === 'info' ||
    name === 'help'
  );
}
