import { isReadableAs } from '@hansard/events/plain';
import { outputText } from '@hansard/prompt';
import { type LogMessage, type LogNode, wordsIn } from '../log/log-node.ts';

/** Something that an agent's model can be given. */
export interface KnownItem {
  /** `given`: of the transcript with which the agent began. `output`: observed values. `summary`: of a compaction. `answer`: an earlier answer of the agent itself. */
  readonly kind: 'system' | 'given' | 'message' | 'result' | 'output' | 'summary' | 'answer';
  /** Of a message, its `main` block. */
  readonly node: LogNode;
  /** Null: observed output, or a summary. */
  readonly message: LogMessage | null;
  /** Its place in a prompt. An answer and the results of its calls have the same rank. */
  readonly rank: number;
  /** The order of the items of one rank. */
  readonly step: number;
}

/**
 * Whether the prompt of a model call has an item. `compacted`: replaced by the summary of a compaction. `omitted`: too old for the
 * policy of the context, or a result whose call is not in the log. `superseded`: output that was observed before the
 * last action.
 */
export type ItemState = 'shown' | 'compacted' | 'omitted' | 'superseded';

/** The text of an item as it was recorded. */
export function textOfItem({ node: { event }, message }: KnownItem): string {
  if (message !== null) return wordsIn(message.entry.message);
  if (isReadableAs(event, 'agent:output')) return outputText(event.data);
  return isReadableAs(event, 'session:compaction') ? (event.data.summary ?? '') : '';
}
