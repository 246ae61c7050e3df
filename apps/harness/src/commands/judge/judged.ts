import type { ExportReading, Harness } from '@hansard/compose';
import type { Command } from 'commander';
import type { Answer } from '../../terminal/answer.ts';
import type { CommonOptions } from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';
import { createProgress } from '../../terminal/progress.ts';
import { answerFromStore } from '../../terminal/with-store.ts';

export interface MappedOptions extends CommonOptions {
  readonly mapping?: string;
}

/** Asks about the judged session, and prints the answer after the progress line is removed. */
export function answerOnJudged(
  context: CliContext,
  word: string,
  options: CommonOptions,
  ask: (harness: Harness, reading: ExportReading) => Promise<Answer>,
): Promise<void> {
  const progress = createProgress(context, `judging ${word}: events`);
  const reading = { signal: context.readSignal, onEvents: (count: number) => progress.update(count) };
  return answerFromStore(context, options, (harness) => ask(harness, reading).finally(() => progress.end()));
}

export function withMapping(command: Command): Command {
  return command.option(
    '--mapping <file>',
    'use this game mapping (JSON or YAML), as for `export --as streams`; imported game logs need none',
  );
}
