import { PassThrough } from 'node:stream';
import { exportFormats } from '@hansard/compose';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli.ts';
import { commandTable } from '../../src/commands/command-table.ts';
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
const leastArguments: Readonly<Record<string, number>> = { chat: 1, compare: 2, export: 1, import: 1 };

const writing = /^(?:run|import|chat|demo|task|secrets redact|store unlock|store adopt|judge import)\b/;

/** The commands for which a task means all its sessions. */
const ofAll = /^(?:show|ls|usage|search|tree|view|export|store verify|secrets (?:scan|redact))$/;

/** The options without which a command does nothing, and those that select another way of reading. */
const options: Readonly<Record<string, readonly (readonly string[])[]>> = {
  run: [['--task', task, '--quiet']],
  import: [['--task', task]],
  chat: [['--task', task, '--quiet']],
  ls: [[], ['--tasks']],
  show: [[], ['--damaged'], ['--raw'], ['--raw', '--damaged']],
  task: [['--status', 'open']],
  perspective: [['--agent', agent]],
  heard: [[], ['--agent', agent]],
  why: [[], ['--effects']],
  context: [[], ['--history']],
  'secrets redact': [['--yes']],
  'store unlock': [['--yes']],
  'store adopt': [['--yes']],
  'judge pack': [['--mapping', files.mapping, '--out', newPath]],
  'judge check': [['--mapping', files.mapping]],
  'judge import': [['--mapping', files.mapping]],
  demo: [['--delay', '0']],
  export: Object.entries(exportFormats).map(([id, { target }]) => [
    '--as',
    id,
    ...(target === 'folder' ? ['--out', newPath] : []),
    ...(id === 'streams' ? ['--mapping', files.mapping] : []),
  ]),
};

/** Options that need an event, or one session. */
const moreOptions: Readonly<Record<string, readonly (readonly string[])[]>> = {
  show: [['--speed', 'max']],
  heard: [['--never'], ['--diff']],
};

/** Formats that are written of one session. */
const ofOneSession = Object.entries(exportFormats).flatMap(([id, { scope }]) =>
  scope === 'session' ? [id] : [],
);

/**
 * Calls of every command of the catalogue: with each number of its arguments, and with the latest dispatch and its sibling
 * where it takes a dispatch; those that read come first. A new command is called by itself; one that needs an option has it in {@link options}.
 */
export async function commandCalls(store: RecordedStore): Promise<CommandCall[]> {
  const program = await createProgram(silent, commandTable);
  const leaves = program.commands
    // These open no store, or need a session that runs (`send.test.ts`, `approve.test.ts`), add a session (`fork.test.ts`) or a mark (`note.test.ts`) or a file that a session changed (`blame.test.ts`).
    .filter(
      (command) =>
        !['help', 'completion', 'send', 'approve', 'fork', 'blame', 'note'].includes(command.name()),
    )
    .flatMap((command) => (command.commands.length === 0 ? [command] : subcommandsOf(command)))
    // One deletes what the others need (`delete.test.ts`), and one reads no store (`write-a-plugin.test.ts`).
    .filter((command) => command.name() !== 'delete')
    .filter((command) => command.name() !== 'check' || command.parent?.name() !== 'plugins');
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
  const calls = counts.flatMap((count) => {
    const used = args.slice(0, count).map((argument) => argument.name());
    const isOfSession = used.includes('session');
    // Null: all sessions of the task.
    const named = isOfSession
      ? [...(ofAll.test(name) && !used.includes('event') ? [null] : []), latest, sibling]
      : [latest];
    return named.flatMap((dispatch) => {
      const isOne = isOfSession && dispatch !== null;
      const all = [
        ...(options[name] ?? [[]]),
        ...(isOne && (used.includes('event') || name === 'show') ? (moreOptions[name] ?? []) : []),
      ];
      return all
        .filter(([, format = '']) => isOne || !ofOneSession.includes(format as never))
        .map((given) => ({
          args: [
            ...words,
            ...used.flatMap((argument) => wordFor(argument, dispatch ?? latest, isOne)),
            ...given,
          ],
          isWriting: writing.test(name),
          isOfSibling: isOne && dispatch === sibling && !given.includes('--history'),
        }));
    });
  });
  return name === 'chat'
    ? [...calls, ...[latest, sibling].map((dispatch) => resumed(dispatch, dispatch === sibling))]
    : calls;
}

function resumed({ dispatchId }: RecordedDispatch, isOfSibling: boolean): CommandCall {
  const args = ['chat', files.longerScenario, '--resume', `${task}/${dispatchId}`, '--quiet'];
  return { args, isWriting: true, isOfSibling };
}

/** What an argument of a command stands for. */
function wordFor(argument: string, dispatch: RecordedDispatch, isOne: boolean): string {
  const session = `${task}/${dispatch.dispatchId}`;
  const values: Readonly<Record<string, string>> = {
    task,
    session: isOne ? session : task,
    other: session,
    event: dispatch.inferenceId,
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
