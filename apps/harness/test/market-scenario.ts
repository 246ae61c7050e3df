import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScenarioInput, ScriptedTurn } from '@hansard/model-scripted';
import { commandFromSource } from './command-line.ts';

type Turn = Pick<ScriptedTurn, 'call' | 'say' | 'think' | 'text' | 'error'>;

/** An answer to what was heard last and to nothing else, so that it is also right after an interruption. */
const to = (regex: string, turn: Partial<Turn>) => ({ when: { regex }, repeat: true, ...turn });

const task = (name: string) => ({ tool: 'task', input: { name, system_prompt: `You are ${name}.` } });

const openTheMarket = {
  tool: 'discuss',
  input: { prompt: 'What do you sell?', speakers: ['Ann', 'Bo'] },
};

const turns = {
  opening: to('Open the market', { text: 'First the traders.', call: [task('Ann'), task('Bo')] }),
  traders: to('There is no agent', { call: [task('Ann'), task('Bo')] }),
  asking: to('Created subagent: Bo', { call: [openTheMarket] }),
  askingAgain: to('^interrupted', { call: [openTheMarket] }),
  opened: to(String.raw`\[Bo\]: `, { say: 'The market is open.' }),
  closed: to('Night falls', { say: 'The market is closed.' }),
  annThinks: to('What do you sell', { call: [task('Inner')] }),
  annAsks: to('subagent: Inner|sub-agent Inner already', {
    call: [{ tool: 'discuss', input: { prompt: 'What shall I praise?', speakers: ['Inner'] } }],
  }),
  ann: to('Praise the plums', { think: 'Plums, then.', say: 'Plums, and nothing but plums.' }),
  inner: to('What shall I praise', { say: 'Praise the plums.' }),
  bo: to(String.raw`\[Ann\]: `, { say: 'Cheese that is as old as I am.' }),
};

export type TurnName = keyof typeof turns;

/** What is said at the market, whatever happens to it on the way. */
export const marketLines = [
  'What do you sell?',
  'What shall I praise?',
  'Praise the plums.',
  'Plums, and nothing but plums.',
  'Cheese that is as old as I am.',
  'The market is open.',
  'The market is closed.',
];

/** Ann and Bo sell, Ann asks her inner voice first. The slow turn takes so long that nobody lives to see it. */
export function writeMarket(cwd: string, slow?: TurnName): string {
  const turn = (name: TurnName) => ({ ...turns[name], ...(name === slow ? { delayMs: 600_000 } : {}) });
  const rootTurns: TurnName[] = ['opening', 'traders', 'asking', 'askingAgain', 'opened', 'closed'];
  const scenario: ScenarioInput = {
    title: 'A market',
    user: ['Open the market.', { text: 'Night falls.', source: 'system' }],
    agents: {
      root: rootTurns.map(turn),
      Ann: (['annThinks', 'annAsks', 'ann'] as const).map(turn),
      Inner: [turn('inner')],
      Bo: [turn('bo')],
    },
  };
  return writeScenario(cwd, 'market.yaml', scenario);
}

/** JSON is YAML. Gives the name of the file. */
export function writeScenario(cwd: string, name: string, scenario: ScenarioInput): string {
  writeFileSync(join(cwd, name), JSON.stringify(scenario, null, 2));
  return name;
}

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** All that it wrote, to whichever stream. */
  readonly output: string;
}

/** Runs the command as a process of its own and sends it a signal at the first output that looks like this. */
export async function signalWhen(
  cwd: string,
  args: readonly string[],
  seen: RegExp,
  signal: 'SIGKILL' | 'SIGINT' | 'SIGTERM',
  first: () => Promise<void> = async () => {},
): Promise<Ended> {
  const child = spawn(process.execPath, [...commandFromSource, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 30_000,
  });
  let output = '';
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject).on('close', (code, by) => resolve({ code, signal: by, output }));
  });
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      if (seen.test(output)) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    ended.then(() => reject(new Error(`It ended before ${seen} was seen:\n${output}`)), reject);
  });
  try {
    await first();
  } finally {
    child.kill(signal);
  }
  return ended;
}

/** Kills it as `kill -9` does. */
export async function killWhen(cwd: string, args: readonly string[], seen: RegExp): Promise<void> {
  const { signal } = await signalWhen(cwd, args, seen, 'SIGKILL');
  if (signal !== 'SIGKILL') throw new Error('It ended before it could be killed.');
}
