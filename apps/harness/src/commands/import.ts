import { resolve } from 'node:path';
import { fidelities } from '@hansard/events';
import { Option } from 'commander';
import { importFormatIds } from '../import/import-formats.ts';
import { type ImportOptions, importPaths } from '../import/import-paths.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { withStore } from '../terminal/with-store.ts';

export const addImport: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option(
      '--task <project/slug>',
      'the task that they belong to (default: told from the session; none for session logs and games)',
    )
    .addOption(
      new Option('--as <format>', 'the format (default: told from the records)').choices(importFormatIds),
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
    .action((names: readonly string[], options: CommonOptions & ImportOptions) =>
      withStore(context, options, (harness) =>
        importPaths(
          context,
          harness,
          names.map((name) => resolve(context.cwd, name)),
          options,
        ),
      ),
    );
};
