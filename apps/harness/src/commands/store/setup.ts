import { importStore, loadConfig } from '@hansard/compose';
import type { SetupRoles } from '@hansard/provider';
import type { Command } from 'commander';
import { packageDirs } from '../../harness.ts';
import { printAnswer } from '../../terminal/answer.ts';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import { type CommonOptions, withCommonOptions } from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';

export function addSetup(parent: Command, context: CliContext): void {
  const command = parent
    .command('setup')
    .description(
      'print the SQL that prepares the server of the configured store: its tables, and the rights of its roles',
    );
  withCommonOptions(command)
    .option('--owner <role>', 'the role that owns the tables (default: the user that runs the SQL)')
    .option('--writer <role>', 'a role that records, and can never change or delete an event')
    .option('--reader <role>', 'a role that only reads')
    .addHelpText(
      'after',
      '\nThe roles must exist on the server. The command connects to nothing: read the SQL, and run it as a user that may create schemas.\n\nExamples:\n  hansard store setup\n  hansard store setup --owner agents_owner --writer agents_writer --reader agents_reader | psql agents',
    )
    .action(async ({ owner, writer, reader, ...options }: CommonOptions & SetupRoles) => {
      const { plugin, config } = await importStore(loadConfig(context, options), packageDirs);
      const roles = {
        ...(owner === undefined ? {} : { owner }),
        ...(writer === undefined ? {} : { writer }),
        ...(reader === undefined ? {} : { reader }),
      };
      const text = setupOf(() => plugin.setup?.(config, roles) ?? null);
      await printAnswer(context, options, {
        rows: [{ plugin: plugin.id, setup: text }],
        text: text?.trimEnd() ?? `-- ${plugin.id} has no server, and needs no set-up.`,
      });
    });
}

/** @throws CliError for a name that the server does not allow */
function setupOf(make: () => string | null): string | null {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CliError(exitCode.usage, error.message, 'Use the name of a role as the server has it.', {
      cause: error,
    });
  }
}
