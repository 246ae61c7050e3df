import {
  type ContextMessage,
  interruption,
  type TranscriptMessage,
  type TranscriptToolCall,
} from '../../src/index.ts';

interface Place {
  readonly call: TranscriptToolCall;
  readonly results: TranscriptMessage[];
}

/** The prompt of a whole transcript, rendered at once and without any state. The renderer must give the same. */
export function plainRendering(transcript: readonly TranscriptMessage[]): ContextMessage[] {
  const parts: (TranscriptMessage | Place)[] = [];
  const latest = new Map<string, Place>();
  for (const message of transcript) {
    if (message.role === 'tool') {
      if (message.toolCallId !== undefined) latest.get(message.toolCallId)?.results.push(message);
      continue;
    }
    parts.push(message);
    for (const call of message.toolCalls ?? []) {
      const place: Place = { call, results: [] };
      parts.push(place);
      latest.set(call.toolCallId, place);
    }
  }
  return parts.map((part) => ('call' in part ? resultMessage(part) : messageOf(part)));
}

function messageOf({ role, content, toolCalls = [] }: TranscriptMessage): ContextMessage {
  const text = content ?? '';
  return role === 'system' || role === 'user' ? { role, text } : { role: 'assistant', text, toolCalls };
}

function resultMessage({ call: { toolCallId, tool }, results }: Place): ContextMessage {
  const role = 'tool';
  if (results.length === 0) return { role, toolCallId, tool, text: interruption, isError: true };
  const text = results.map(({ content }) => content ?? '').join('\n');
  return { role, toolCallId, tool, text, isError: results.some(({ isError }) => isError === true) };
}
