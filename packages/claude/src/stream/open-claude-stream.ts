import type { ClaudeLog } from '../log/claude-log.ts';
import { readLogHead } from '../log/read-log-head.ts';
import { isStreamMessage } from './is-stream-message.ts';
import { StreamReading } from './stream-reading.ts';

/**
 * Opens a recorded stream of the Agent SDK for import: the messages of one run, one per line. Reads up to the first
 * message with a time.
 * @throws FORMAT_UNREADABLE, FORMAT_EMPTY, FORMAT_NOT_JSONL
 */
export async function openClaudeStream(path: string): Promise<ClaudeLog> {
  const head = await readLogHead(path, isStreamMessage);
  const reading = new StreamReading(head);
  return {
    format: 'claude-stream',
    files: [path],
    bytes: head.bytes,
    dispatchId: head.dispatchId,
    sessionId: head.sessionId,
    continues: null,
    cwd: head.cwd,
    startedAt: head.startedAt,
    hasTime: head.hasTime,
    read: (options) => reading.read(options),
    summary: () => reading.summary(),
    continueAfter: () => null,
  };
}
