import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createReplayAgent } from '@hansard/agent-claude';
import { type Harness, toTaskName } from '@hansard/compose';
import { type DispatchRun, startDispatch } from '@hansard/dispatch';
import { definedOnly, toTimestamp } from '@hansard/events';
import { formatCost, shortId } from '@hansard/facts';
import { withHarness } from '../harness.ts';
import { withChatModel } from '../session/chat-model.ts';
import { ensureTask } from '../tasks/ensure-task.ts';
import { exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, withExamples, withPlaceOptions } from '../terminal/command.ts';
import { type CliContext, printLine, terminalWidth } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';

const workers = [
  { role: 'ts-dev', stream: 'tools-and-thinking.jsonl' },
  { role: 'reviewer', stream: 'hook-deny.jsonl' },
] as const;

interface DemoOptions {
  readonly config?: string;
  readonly root?: string;
  readonly delay: number;
  readonly view?: boolean;
}

export const addDemo: AddCommand = (command, context) => {
  withExamples(
    withPlaceOptions(command)
      .option('--delay <ms>', 'wait this long before each recorded message', parseCount({ example: 500 }), 15)
      .option('--view', 'serve the page until Ctrl-C (default on a terminal)')
      .option('--no-view', 'print how to open the page, and end'),
    'demo',
    'demo --no-view',
  ).action(async (options: DemoOptions) => {
    const say: Say = (line = '') => printLine(context, line);
    const played = await play(context, options, say);
    if (context.signal.aborted) return;
    if (played.isGone)
      say('\nThe configured store keeps nothing after the command, so no view can be shown.');
    else await showAround(context, options, played, say);
  });
};

interface Played {
  readonly task: string;
  readonly scene: string;
  /** The id of the session in which a hook denied a call. */
  readonly denied: string;
  /** Of the sessions' files; null with a store of another kind. */
  readonly folder: string | null;
  /** The store forgets everything when it is closed. */
  readonly isGone: boolean;
}

async function play(context: CliContext, options: DemoOptions, say: Say): Promise<Played> {
  const { signal } = context;
  const { config, root, delay: delayMs } = options;
  const stamp = toTimestamp(Date.now()).slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  const taskDir = `demo/tasks/tour-${stamp}`;
  const sceneDir = `demo/tasks/cafe-${stamp}`;
  const played: Played[] = [];
  await withHarness(context, { config, root, load: 'record' }, async (harness) => {
    say('Playing three recorded sessions of Claude and a scene of scripted agents:');
    await ensureTask(context, harness.store, taskDir, 'Find out how long a.txt is');
    const reviewer = await playStreams({ harness, taskDir, delayMs, signal, say });
    if (!signal.aborted) {
      await ensureTask(context, harness.store, sceneDir, 'A table in a café');
      await playCafe(harness, sceneDir, say);
    }
    played.push({
      task: toTaskName(taskDir),
      scene: toTaskName(sceneDir),
      denied: shortId(reviewer.dispatchId),
      folder: dispatchesFolder(harness, taskDir),
      isGone: harness.store.capabilities.durability === 'memory',
    });
  });
  const [first] = played;
  if (first === undefined) throw new Error('Nothing was played.');
  return first;
}

/** Three views, each printed by the command that is named above it, and the page. */
async function showAround(
  context: CliContext,
  options: DemoOptions,
  { task, scene, denied, folder }: Played,
  say: Say,
): Promise<void> {
  const { config, root } = options;
  const place = [
    ...(config === undefined ? [] : ['--config', config]),
    ...(root === undefined ? [] : ['--root', root]),
  ];
  const hansard = context.env.npm_package_name === 'hansard-workspace' ? 'npx pnpm@12 hansard' : 'hansard';
  const run = async (words: readonly string[]) => {
    const code = await context.runCommand?.([...words, ...place]);
    if (code !== undefined && code !== exitCode.done) process.exitCode = code;
  };
  const show = async (title: string, ...words: string[]) => {
    say(`\n${title}\n$ ${[hansard, ...words].join(' ')}\n`);
    await run([...words, '--no-pager']);
  };
  await show('1. The sessions, their workers, and what they cost', 'tree', task);
  await show('2. What the reviewer did, and what a hook denied', 'show', denied);
  await show('3. Who heard what: a hook altered a message on its way to Jill', 'heard', scene);
  if (folder !== null) say(`\nThe files, one for each session: ${folder}`);
  say('\nThe same as a page:');
  const isServed = options.view ?? terminalWidth(context) !== undefined;
  if (isServed) await run(['view', task]);
  else say(`${hansard} view   # prints the address`);
}

/** Null with a store of another kind. */
function dispatchesFolder({ loaded, plugins }: Harness, taskDir: string): string | null {
  const [store] = plugins.providers('DispatchStoreProvider');
  if (store?.id !== 'store-jsonfile') return null;
  const { root } = store.config as { readonly root: string };
  return `${resolve(loaded.baseDir, root)}/${taskDir}/dispatches`;
}

/** Plays Jack, Jill and her inner voice: a hook alters what Jill hears, and one agent is heard by Jill only. */
async function playCafe(harness: Harness, taskDir: string, say: Say): Promise<void> {
  await withChatModel({ kind: 'scenario', path: demoFile('cafe.yaml') }, async ({ chat, inputs }) => {
    const { root, session } = await harness.chat({ task: taskDir, role: 'host', ...chat });
    for (const { text, source } of inputs) {
      await root.harken(text, { source });
      await root.response();
    }
    await session.close();
  });
  say('  host             Jack, Jill and her inner voice in one session');
}

/** Prints a line of a scene. */
type Say = (line?: string) => void;

interface StreamsScene {
  readonly harness: Harness;
  readonly taskDir: string;
  readonly delayMs: number;
  readonly signal: AbortSignal;
  readonly say: Say;
}

/** Plays an analyst and its two workers into the log, and prints a line for each. Returns the run of the last worker. */
async function playStreams(scene: StreamsScene): Promise<DispatchRun> {
  const analyst = await start(scene, 'product-analyst', 'subagent.jsonl');
  const started = [{ role: 'product-analyst', run: analyst }];
  for (const { role, stream } of workers)
    started.push({ role, run: await start(scene, role, stream, analyst.dispatchId) });
  for (const { role, run } of started) {
    const { status, cost } = await run.ended;
    scene.say(`  ${role.padEnd(15)}  ${status}, ${cost === null ? 'cost not recorded' : formatCost(cost)}`);
  }
  return started.at(-1)?.run ?? analyst;
}

function start(
  { harness: { store, communication }, taskDir, delayMs, signal }: StreamsScene,
  role: string,
  stream: string,
  parentDispatchId?: string,
): Promise<DispatchRun> {
  return startDispatch({
    store,
    communication,
    taskDir,
    role,
    signal,
    agent: createReplayAgent({ path: demoFile(stream), delayMs }),
    ...definedOnly({ parentDispatchId }),
  });
}

/** The path of a file of the demo. The folder is one level above the built code, and two above the source. */
function demoFile(name: string): string {
  const beside = fileURLToPath(new URL(`../demo/${name}`, import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL(`../../demo/${name}`, import.meta.url));
}
