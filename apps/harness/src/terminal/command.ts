import { type Command, Option } from 'commander';
import type { CliContext } from './context.ts';

/** Adds options, examples and the action to a command that already has its name, arguments and description. */
export type AddCommand = (command: Command, context: CliContext) => void;

/** In the order of the help. */
export const commandGroups = ['Record', 'Find', 'Read', 'Ask', 'Exchange', 'Maintain'] as const;
type CommandGroup = (typeof commandGroups)[number];

/** A command as the help lists it. Its options and its action are loaded when it is called or explained. */
export interface CommandRow {
  readonly name: string;
  /** What it is for: the help lists the commands in groups. */
  readonly group: CommandGroup;
  readonly description: string;
  /** Each argument as Commander writes it, such as `<task>`, with its description and its default value. */
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

/** The help of the arguments of reading commands. */
export const taskHelp = 'PROJECT/SLUG, the end or the beginning of it, its name, or "latest"';
export const eventHelp =
  'its id, the end or the beginning of it, its position, a time (@15:04: the last one up to then), or "latest"';
export const agentHelp = 'its id, the end or the beginning of it, or its name';
/** The help of `--after`. */
export const afterHelp = `print only the events after this one: ${eventHelp}`;
export const dispatchHelp = 'its id, the end or the beginning of it, its title or role, or "latest"';

export function configOption(): Option {
  return new Option('--config <file>', 'use this configuration (default: hansard.config.json, if it exists)');
}

export function rootOption(): Option {
  return new Option(
    '--root <folder>',
    'use the log and the configuration of this folder (default: HANSARD_ROOT, or the first folder with .projects or hansard.config.json from the current one up)',
  ).conflicts('config');
}

/** Adds `--config`, `--root` and `--json` to a command. */
export function withCommonOptions(command: Command): Command {
  return command
    .addOption(configOption())
    .addOption(rootOption())
    .option('--json', 'print JSON, one document per line')
    .option('--utc', 'print and read times in UTC (default: the local time zone; JSON is always UTC)');
}
