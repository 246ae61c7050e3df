import { readFileSync } from 'node:fs';
import { newEvent } from '@hansard/events';
import type { AgentProvider } from '@hansard/provider';

/** An agent without a model: it reads a log file, and reports the lines that name an error. */
export function createWatchman(file: string): AgentProvider {
  return {
    contract: 1,
    async *run({ prompt }) {
      const toolCallId = 'read-1';
      yield {
        kind: 'event',
        event: newEvent('agent:tool_call', { toolCallId, tool: 'read_log', input: { file }, metadata: {} }),
      };
      const bad = readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => /\berror\b/i.test(line));
      const status = bad.length === 0 ? 'completed' : 'error';
      const call = { toolCallId, tool: 'read_log', metadata: {} };
      yield {
        kind: 'event',
        event: newEvent('agent:tool_result', { ...call, status, durationMs: 0, output: bad.join('\n') }),
      };
      const result = bad.length === 0 ? 'All is well.' : `${bad.length} errors.`;
      yield { kind: 'event', event: newEvent('agent:text', { text: `${prompt} ${result}` }) };
      yield { kind: 'event', event: newEvent('session:complete', { status: 'completed', result }) };
    },
  };
}
