import type { Command } from 'commander';
import { type Harness, openHarness } from '../harness.ts';
import type { CliContext } from './context.ts';

/** One command of `hansard`: it adds itself to the program. */
export type AddCommand = (program: Command, context: CliContext) => void;

/** The options that every command but the demo has. */
export interface CommonOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** What the arguments of the commands that read may be. */
export const taskHelp = 'PROJECT/SLUG, as `hansard ls` shows it';
export const dispatchHelp = 'its id, the first or last characters of it, or "latest"';

/** Opens the configured store for reading, and closes it whatever happens. */
export async function withStore(
  context: CliContext,
  options: CommonOptions,
  action: (harness: Harness) => Promise<void>,
): Promise<void> {
  const harness = await openHarness(context, { config: options.config, load: 'store' });
  try {
    await action(harness);
  } finally {
    await harness.close();
  }
}

/** Adds `--config` and `--json` to a command. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('--config <file>', 'the configuration to use (default: hansard.config.json, or none)')
    .option('--json', 'machine-readable output: one JSON document per line');
}
