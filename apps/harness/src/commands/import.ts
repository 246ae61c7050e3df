import { resolve } from 'node:path';
import { fidelities } from '@hansard/events';
import { logImporters } from '@hansard/import';
import { Option } from 'commander';
import { type RunImportOptions, runImport } from '../import/run-import.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';

export const addImport: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option(
      '--task <project/slug>',
      'the task that they belong to (default: told from the session; none for session logs and games)',
    )
    .option(
      '--as <format>',
      `the format (default: detected from the records): ${logImporters.map(({ id }) => id).join(', ')}, or one of a plugin`,
    )
    .addOption(
      new Option(
        '--fidelity <fidelity>',
        'of transcripts and streams: with tool input and output or without (default: full)',
      ).choices(fidelities),
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
