import { newEvent } from '@hansard/events';
import type { AgentProvider, LanguageModelProvider, ModelMessage } from '@hansard/provider';

export const taskDir = 'lab/tasks/explore';

/** A worker that says what it found, after `act`. */
export function scout(act: () => unknown): AgentProvider {
  return {
    contract: 1,
    async *run({ prompt, signal }) {
      yield { kind: 'event', event: newEvent('agent:text', { text: 'Walking.' }) };
      await act();
      if (signal.aborted) return;
      const result = `Found at ${prompt}: a lake`;
      yield { kind: 'event', event: newEvent('agent:text', { text: result }) };
      yield { kind: 'event', event: newEvent('session:complete', { status: 'completed', result }) };
    },
  };
}

/** A model that starts a worker, waits for it again after an interruption, and repeats its outcome. */
export function lead(): LanguageModelProvider {
  return {
    contract: 1,
    generate({ messages }) {
      const last = messages.at(-1);
      const [toolCallId, tool, input] = nextCall(messages, `call_${messages.length}`);
      const isTold =
        last?.role === 'tool' && last.tool === 'await_dispatch' && !last.text.includes('interrupted');
      return {
        model: 'scripted-1',
        usage: { inputTokens: 1, outputTokens: 1 },
        text: isTold ? last.text : '',
        toolCalls: isTold ? [] : [{ toolCallId, tool, input }],
      };
    },
  };
}

function nextCall(messages: readonly ModelMessage[], id: string) {
  const started = messages.find((message) => message.role === 'tool' && message.tool === 'dispatch_agent');
  if (started?.role !== 'tool')
    return [id, 'dispatch_agent', { role: 'scout', prompt: 'the north' }] as const;
  const dispatchId = /dispatchId: (\S+)/.exec(started.text)?.[1] ?? 'unknown';
  return [id, 'await_dispatch', { dispatch_ids: dispatchId }] as const;
}
