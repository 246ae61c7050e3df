import { type Command, Option } from 'commander';
import type { CliContext } from './context.ts';

/** Adds options, examples and the action to a command that already has its name, arguments and description. */
export type AddCommand = (command: Command, context: CliContext) => void;

/** In the order of the help. */
export const commandGroups = ['Record', 'Find', 'Read', 'Ask', 'Give', 'Care', 'Help'] as const;
type CommandGroup = (typeof commandGroups)[number];

/** A command as the help lists it. Its options and its action are loaded when it is called or explained. */
export interface CommandRow {
  readonly name: string;
  /** What it is for: the help lists the commands in groups. */
  readonly group: CommandGroup;
  readonly description: string;
  /** Each argument as Commander writes it, such as `<session>`, with its description and its default value. */
  readonly arguments?: readonly ArgumentRow[];
  /** Whether its answer can be long, and it asks nothing: on a terminal it is read in a pager. */
  readonly isPaged?: true;
  /** The usage line of a command with subcommands or with words of several kinds. Absent: derived from the arguments. */
  readonly usage?: string;
  load(): Promise<AddCommand>;
}

export type ArgumentRow = readonly [syntax: string, description?: string, defaultValue?: string];

/** The options of every command except the demo. */
export interface CommonOptions {
  readonly config?: string;
  readonly root?: string;
  readonly json?: boolean;
  readonly utc?: boolean;
}

/** The help of the words by which commands name things. */
export const sessionHelp = 'latest, a task, TASK/ID, an id or its end, or the beginning of a title';
export const eventHelp =
  'its position, a time (@15:04: the last one up to then), latest, or an id, its end or its beginning';
export const agentHelp = 'its name, or its id, the end or the beginning of it';

/** In `hansard help options`, and hidden in the help of each command. */
export const commonOptions: readonly (() => Option)[] = [
  () => new Option('--config <file>', 'use this configuration (default: hansard.config.json, if it exists)'),
  () =>
    new Option(
      '--root <folder>',
      'use the log and the configuration of this folder (default: HANSARD_ROOT, or the first folder with .projects or hansard.config.json from the current one up)',
    ).conflicts('config'),
  () => new Option('--json', 'print JSON, one document per line'),
  () => new Option('--utc', 'print and read times in UTC (default: the local time zone; JSON is always UTC)'),
];

export function pagerOption(): Option {
  return new Option('--no-pager', 'print to the terminal itself, without a pager');
}

/** Adds the options that name the log. */
export function withPlaceOptions(command: Command): Command {
  for (const option of commonOptions.slice(0, 2)) command.addOption(option().hideHelp());
  return command;
}

/** Adds the options that every command has. */
export function withCommonOptions(command: Command): Command {
  for (const option of commonOptions) command.addOption(option().hideHelp());
  return command;
}

/** The examples in the help of a command, without `hansard`. */
export function withExamples(command: Command, ...examples: readonly string[]): Command {
  const lines = examples.map((example) => `  hansard ${example}`);
  return command.addHelpText(
    'after',
    ['', examples.length === 1 ? 'Example:' : 'Examples:', ...lines].join('\n'),
  );
}
