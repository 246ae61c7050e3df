import { resolve } from 'node:path';
import { fidelities } from '@hansard/events';
import { logImporters } from '@hansard/import';
import { Option } from 'commander';
import { type RunImportOptions, runImport } from '../import/run-import.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { parseDuration } from '../terminal/parse-duration.ts';

export const addImport: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option(
      '--task <project/slug>',
      'import into this task (default: derived from the session; required for session logs and games)',
    )
    .option(
      '--as <format>',
      `set the format (default: detected from the records): ${logImporters.map(({ id }) => id).join(', ')}, or one from a plugin`,
    )
    .addOption(
      new Option(
        '--fidelity <fidelity>',
        'keep tool input and output (full, the default) or omit it (narrative)',
      ).choices(fidelities),
    )
    .option('--reread', 'read files again that have not changed since their last import')
    .option(
      '--quiet-after <duration>',
      'end a session without an end after this time without a record, such as 30m (default: 1h)',
      parseDuration,
    )
    .addHelpText(
      'after',
      '\nExamples:\n  hansard import ~/.claude/projects\n  hansard import session.jsonl --as session-v2 --task research/cafe\n  hansard import game_events.jsonl chat.jsonl --task lab/games',
    )
    .action((names: readonly string[], options: CommonOptions & RunImportOptions) =>
      runImport(
        context,
        names.map((name) => resolve(context.cwd, name)),
        options,
      ),
    );
};
