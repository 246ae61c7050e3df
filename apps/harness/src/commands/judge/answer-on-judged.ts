import { openSession } from '@hansard/compose';
import type { DispatchLog, DispatchStore } from '@hansard/dispatch';
import type { Command } from 'commander';
import { openExportSource } from '../../exports/export-source.ts';
import type { ExportSource } from '../../exports/task-export.ts';
import type { Answer } from '../../terminal/answer.ts';
import type { CommonOptions } from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';
import { createProgress } from '../../terminal/progress.ts';
import { answerFromStore } from '../../terminal/with-store.ts';

export interface MappedOptions extends CommonOptions {
  readonly mapping: string;
}

/** Finds the judged session, asks about it, and prints the answer after the progress line is removed. */
export async function answerOnJudged(
  context: CliContext,
  word: string,
  options: CommonOptions,
  ask: (source: ExportSource, log: DispatchLog, store: DispatchStore) => Promise<Answer>,
): Promise<void> {
  await answerFromStore(context, options, async (harness) => {
    const { store } = harness;
    const { taskDir, log } = await openSession(store, word);
    const progress = createProgress(context, `judging ${word}: events`);
    try {
      const source = await openExportSource(context, harness, taskDir, [log.envelope], progress);
      return await ask(source, log, store);
    } finally {
      progress.end();
    }
  });
}

export function withMapping(command: Command): Command {
  return command.requiredOption(
    '--mapping <file>',
    'use this game mapping (JSON or YAML), as for `export --as streams`',
  );
}
