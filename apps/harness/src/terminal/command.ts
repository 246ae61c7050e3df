import type { Command } from 'commander';
import type { CliContext } from './context.ts';

/** Adds to a command, which has its name, arguments and description, its options, its examples and what it does. */
export type AddCommand = (command: Command, context: CliContext) => void;

/** A command as the list of all commands shows it. The rest of it is loaded when it is called or explained. */
export interface CommandRow {
  readonly name: string;
  readonly description: string;
  /** Each argument as Commander writes it, such as `<task>`, with its description and its default value. */
  readonly arguments?: readonly ArgumentRow[];
  /** How a command that has commands of its own is called; by default it follows from the arguments. */
  readonly usage?: string;
  load(): Promise<AddCommand>;
}

export type ArgumentRow = readonly [syntax: string, description?: string, defaultValue?: string];

/** The options that every command but the demo has. */
export interface CommonOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** What the arguments of the commands that read may be. */
export const taskHelp = 'PROJECT/SLUG, as `hansard ls` shows it';
export const dispatchHelp = 'its id, the first or last characters of it, or "latest"';

/** Adds `--config` and `--json` to a command. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('--config <file>', 'the configuration to use (default: hansard.config.json, or none)')
    .option('--json', 'machine-readable output: one JSON document per line');
}
