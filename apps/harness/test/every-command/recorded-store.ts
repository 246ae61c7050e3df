import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CapturedEvent } from '@hansard/events';
import { type CommandLine, commandLine, demoStream } from '../command-line.ts';

export const task = 'chat/talk';
/** The agent of the scenario that is asked. */
export const agent = 'Advocate';

/** The files beside the store, for commands that read one. */
export const files = {
  stream: 'stream.jsonl',
  scenario: 'talk.yaml',
  /** The scenario with one more line of the user, for a session to be resumed. */
  longerScenario: 'longer.yaml',
  mapping: 'game.yaml',
} as const;

/** A dispatch of a recorded session. */
export interface RecordedDispatch {
  readonly dispatchId: string;
  readonly utteranceId: string;
  readonly inferenceId: string;
  /** The file of its verdicts. */
  readonly verdicts: string;
}

/** A store with two sessions of one task, each judged. */
export interface RecordedStore {
  readonly line: CommandLine;
  /** The last dispatch of the task, which a command means without a dispatch. */
  readonly latest: RecordedDispatch;
  readonly sibling: RecordedDispatch;
}

const scenarioPath = fileURLToPath(new URL('../../../../examples/scenarios/steel-man.yaml', import.meta.url));

/** Records the sessions with the command, in a new folder with this configuration. */
export async function recordStore(config: object): Promise<RecordedStore> {
  const line = commandLine();
  const write = (name: string, text: string) => writeFileSync(join(line.cwd, name), text);
  const scenario = readFileSync(scenarioPath, 'utf8');
  write('hansard.config.json', JSON.stringify(config));
  write(files.scenario, scenario);
  write(
    files.longerScenario,
    scenario
      .replace('agents:', '  - One more thing.\nagents:')
      .replace('  Advocate:', '    - say: Then ask me.\n  Advocate:'),
  );
  write(
    files.mapping,
    'turn: { events: ["session:start"] }\ngameEvents: { events: ["agent:created"] }\nchat: { tools: { discuss: prompt } }\n',
  );
  copyFileSync(demoStream('hook-deny'), join(line.cwd, files.stream));
  const sibling = await recordDispatch(line);
  const latest = await recordDispatch(line);
  return { line, latest, sibling };
}

async function recordDispatch(line: CommandLine): Promise<RecordedDispatch> {
  await succeed(line, 'chat', files.scenario, '--task', task, '--quiet');
  const dispatchId = (await succeed(line, 'ls', task, '--json'))[0]?.dispatchId as string;
  const events = (await succeed(
    line,
    'show',
    `${task}/${dispatchId}`,
    '--raw',
    '--json',
  )) as unknown as CapturedEvent[];
  const isOf = (type: string) => (event: CapturedEvent) => event.type === type && event.agentId !== undefined;
  const [packed] = (await succeed(
    line,
    ...['judge', 'pack', `${task}/${dispatchId}`, '--mapping', files.mapping],
    ...['--out', `packets-${dispatchId}`, '--json'],
  )) as unknown as [{ packets: { pass: string; sha256: string; players: string[] }[] }];
  const verdicts = `verdicts-${dispatchId}.jsonl`;
  writeFileSync(
    join(line.cwd, verdicts),
    packed.packets
      .map(({ pass, sha256, players }) =>
        JSON.stringify({
          judge: 'ann',
          pass,
          target: players[0],
          question: 'deceptive?',
          label: 'no',
          citations: [],
          packet_sha256: sha256,
        }),
      )
      .join('\n'),
  );
  await succeed(line, 'judge', 'import', `${task}/${dispatchId}`, verdicts, '--mapping', files.mapping);
  return {
    dispatchId,
    utteranceId: events.find(isOf('agent:text'))?.id ?? '',
    inferenceId: events.find(isOf('agent:inference'))?.id ?? '',
    verdicts,
  };
}

async function succeed(line: CommandLine, ...args: string[]): Promise<Record<string, unknown>[]> {
  const { code, err, json } = await line.hansard(...args);
  if (code !== 0) throw new Error(`hansard ${args.join(' ')} exits with ${code}: ${err}`);
  return args.includes('--json') ? (json() as Record<string, unknown>[]) : [];
}
