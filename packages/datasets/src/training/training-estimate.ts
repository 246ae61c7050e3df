import type { TokenCounter } from '@hansard/prompt';
import { canHold, fittedConversation } from './conversation.ts';
import { RowMeasure } from './rows/row-measure.ts';
import { nothing, plus } from './rows/row-size.ts';
import type { ReadingTally, TrainingSource } from './training-source.ts';

/** The size of training data before it is written. Rows and calls are exact, unless the log changes in the meantime. */
export interface TrainingEstimate {
  readonly rows: number;
  /** As in the file, or up to 2 bytes more for each row. */
  readonly bytes: number;
  /** In the messages of all rows, so a prompt counts as often as it is repeated; null without a counter. The form of the target is not counted. */
  readonly tokens: number | null;
  readonly calls: { readonly inRows: number; readonly of: number };
}

/**
 * Reads the dispatches without keeping rows. Each message is measured once, and a prompt has the sum of its messages; only
 * ShareGPT, whose rows depend on all of their messages, builds them one at a time. Of a text over 1,000 characters, the tokens of the first 1,000 stand for the rest.
 */
export async function estimateRows(
  source: TrainingSource,
  counter: TokenCounter | undefined,
): Promise<TrainingEstimate> {
  const { format } = source;
  const measure = new RowMeasure(format, source.row, counter);
  let [rows, dropped, inRows, size] = [0, 0, 0, nothing];
  const tally: ReadingTally = {
    addEvent() {},
    drop() {
      dropped += 1;
    },
  };
  for (const envelope of source.full) {
    for await (const run of source.runsOf(envelope, tally, measure.message)) {
      if (!canHold(run, format, tally.drop)) continue;
      if (format.beginning === undefined) {
        size = plus(size, measure.run(run));
        inRows += run.calls.length;
      } else {
        const beginning = fittedConversation(run, format, tally.drop);
        if (beginning === null) continue;
        size = plus(size, measure.row(beginning));
        inRows += beginning.calls.length;
      }
      rows += 1;
    }
  }
  const tokens = counter === undefined ? null : Math.round(size.tokens);
  return { rows, bytes: size.bytes, tokens, calls: { inRows, of: inRows + dropped } };
}
