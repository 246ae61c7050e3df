import type { DispatchLog, DispatchStore } from '@hansard/dispatch';
import type { Command } from 'commander';
import { openExportSource } from '../../exports/export-source.ts';
import type { ExportSource } from '../../exports/task-export.ts';
import { findDispatch } from '../../tasks/find-dispatch.ts';
import { findTask } from '../../tasks/find-task.ts';
import type { Answer } from '../../terminal/answer.ts';
import { type CommonOptions, dispatchHelp } from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';
import { createProgress } from '../../terminal/progress.ts';
import { answerFromStore } from '../../terminal/with-store.ts';

export interface JudgedOptions extends CommonOptions {
  readonly dispatch: string;
}

export interface MappedOptions extends JudgedOptions {
  readonly mapping: string;
}

/** Finds the judged dispatch, asks about it, and prints the answer after the progress line is removed. */
export async function answerOnJudged(
  context: CliContext,
  task: string,
  options: JudgedOptions,
  ask: (source: ExportSource, log: DispatchLog, store: DispatchStore) => Promise<Answer>,
): Promise<void> {
  await answerFromStore(context, options, async (harness) => {
    const { store } = harness;
    const taskDir = await findTask(store, task);
    const log = await findDispatch(store, taskDir, options.dispatch);
    const progress = createProgress(context, `judging ${task}: events`);
    try {
      const source = await openExportSource(context, harness, taskDir, [log.envelope], progress);
      return await ask(source, log, store);
    } finally {
      progress.end();
    }
  });
}

export function withDispatch(command: Command): Command {
  return command.option('--dispatch <dispatch>', `select the dispatch: ${dispatchHelp}`, 'latest');
}

export function withMapping(command: Command): Command {
  return withDispatch(command).requiredOption(
    '--mapping <file>',
    'use this game mapping (JSON or YAML), as for `export --as streams`',
  );
}
