import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { createReplayAgent } from '@hansard/agent-claude';
import type { RunDispatchOptions } from '@hansard/dispatch';
import { messageOf } from '@hansard/events';
import { assertRegularFile } from '@hansard/import';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { CliContext } from '../terminal/context.ts';

/** One dispatch that `hansard run` records. */
export interface PlannedRun {
  readonly what: string;
  readonly agent: RunDispatchOptions['agent'];
  /** The options of this dispatch alone. */
  readonly options: Partial<RunDispatchOptions>;
}

/** Plans one dispatch for each recorded stream. */
export function planStreams(context: CliContext, words: readonly string[], delayMs: number): PlannedRun[] {
  return words.map((word) => {
    const path = resolve(context.cwd, word);
    assertReadable(path);
    assertRegularFile(path);
    return { what: word, agent: createReplayAgent({ path, delayMs }), options: {} };
  });
}

/** Checks a stream before its dispatch begins. */
function assertReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    const message = `The stream ${path} can't be read: ${messageOf(cause)}`;
    throw new CliError(
      exitCode.failed,
      message,
      'Check the path, or add --agent claude to run an agent with these words. Nothing was recorded.',
      { cause },
    );
  }
}
