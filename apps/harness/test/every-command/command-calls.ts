import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli.ts';
import { commandTable } from '../../src/commands/command-table.ts';
import { taskExports } from '../../src/exports/task-exports.ts';
import { agent, files, type RecordedDispatch, type RecordedStore, task } from './recorded-store.ts';

/** One call of the command. */
export interface CommandCall {
  readonly args: readonly string[];
  readonly isWriting: boolean;
  /** Whether the call reads the sibling, and not the latest dispatch. The history of a dispatch needs all others. */
  readonly isOfSibling: boolean;
}

/** Stands for a path that no other call writes. */
const newPath = 'NEW PATH';

/** How many arguments a command needs at least, where options could stand for one that it declares as optional. */
const leastArguments: Readonly<Record<string, number>> = { chat: 1, export: 1 };

const writing = /^(?:run|import|chat|resume|demo|redact|unlock|judge import)\b/;

/** The options without which a command does nothing, and those that select another way of reading. */
const options: Readonly<Record<string, readonly (readonly string[])[]>> = {
  run: [['--task', task, '--quiet']],
  import: [['--task', task]],
  chat: [['--task', task, '--quiet']],
  resume: [['--scenario', files.longerScenario, '--quiet']],
  replay: [['--speed', 'max']],
  show: [[], ['--damaged']],
  events: [[], ['--damaged']],
  context: [[], ['--history']],
  redact: [['--yes']],
  unlock: [['--yes']],
  'judge pack': [['--mapping', files.mapping, '--out', newPath]],
  'judge check': [['--mapping', files.mapping]],
  'judge import': [['--mapping', files.mapping]],
  demo: [['--delay', '0']],
  export: taskExports.map(({ id, target }) => [
    '--as',
    id,
    ...(target === 'folder' ? ['--out', newPath] : []),
    ...(id === 'streams' ? ['--mapping', files.mapping] : []),
  ]),
};

/**
 * Calls of every command of the catalogue: with each number of its arguments, and with the latest dispatch and its sibling
 * where it takes a dispatch; those that read come first. A new command is called by itself; one that needs an option has it in {@link options}.
 */
export async function commandCalls(store: RecordedStore): Promise<CommandCall[]> {
  const program = await createProgram(silent, commandTable);
  const leaves = program.commands
    // These open no store.
    .filter((command) => !['help', 'completion'].includes(command.name()))
    .flatMap((command) => (command.commands.length === 0 ? [command] : subcommandsOf(command)));
  const calls = leaves.flatMap((command) => callsOf(command, store));
  return calls
    .map(({ args, ...call }, at) => ({
      ...call,
      args: args.map((arg) => (arg === newPath ? `out-${at}` : arg)),
    }))
    .sort((left, right) => Number(left.isWriting) - Number(right.isWriting));
}

function subcommandsOf(parent: Command): Command[] {
  return parent.commands.filter((command) => command.name() !== 'help');
}

function callsOf(command: Command, { latest, sibling }: RecordedStore): CommandCall[] {
  const words = command.parent?.parent == null ? [command.name()] : [command.parent.name(), command.name()];
  const name = words.join(' ');
  const args = command.registeredArguments;
  const least = leastArguments[name] ?? args.filter((argument) => argument.required).length;
  const counts = Array.from({ length: args.length - least + 1 }, (_, more) => least + more);
  const hasOption = command.options.some(({ long }) => long === '--dispatch');
  return (options[name] ?? [[]]).flatMap((given) =>
    counts.flatMap((count) => {
      const used = args.slice(0, count).map((argument) => argument.name());
      const takesDispatch = hasOption || used.includes('dispatch');
      // The latest is named only where a command needs a name.
      const isNamed = used.at(-1) === 'dispatch' && count > least;
      const dispatches = takesDispatch ? [...(isNamed ? [] : [latest]), sibling] : [latest];
      return dispatches.map((dispatch) => ({
        args: [
          ...words,
          ...used.flatMap((argument) => wordFor(argument, dispatch)),
          ...given,
          ...(hasOption && !used.includes('dispatch') ? ['--dispatch', dispatch.dispatchId] : []),
        ],
        isWriting: writing.test(name),
        isOfSibling: dispatch === sibling && !given.includes('--history'),
      }));
    }),
  );
}

/** What an argument of a command stands for. */
function wordFor(argument: string, dispatch: RecordedDispatch): string {
  const values: Readonly<Record<string, string>> = {
    task,
    dispatch: dispatch.dispatchId,
    other: dispatch.dispatchId,
    agent,
    event: dispatch.utteranceId,
    call: dispatch.inferenceId,
    words: files.stream,
    text: 'the',
    path: files.stream,
    scenario: files.scenario,
    file: dispatch.verdicts,
    folder: `packets-${dispatch.dispatchId}`,
  };
  const value = values[argument];
  if (value === undefined) throw new Error(`Say here what the argument <${argument}> stands for.`);
  return value;
}

const silent = {
  stdout: new PassThrough(),
  stderr: new PassThrough(),
  stdin: new PassThrough(),
  cwd: '.',
  env: {},
  signal: new AbortController().signal,
  readSignal: new AbortController().signal,
};
