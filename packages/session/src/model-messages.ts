import type { ModelMessage, ModelToolCall } from '@hansard/provider';
import type { TranscriptMessage } from '@hansard/views';
import { interruption } from './interruption.ts';

interface Slot {
  readonly call: ModelToolCall;
  readonly results: TranscriptMessage[];
}

/**
 * A transcript as a model takes it: the results of a message's tool calls stand right behind it, one for each call,
 * whatever else arrived meanwhile. A call without a result has one that says so; a result without a call is left out,
 * for models refuse it.
 */
export function modelMessages(transcript: readonly TranscriptMessage[]): ModelMessage[] {
  const parts: (TranscriptMessage | Slot)[] = [];
  const latest = new Map<string, Slot>();
  for (const message of transcript) {
    if (message.role === 'tool') {
      if (message.toolCallId !== undefined) latest.get(message.toolCallId)?.results.push(message);
      continue;
    }
    parts.push(message);
    for (const call of message.toolCalls ?? []) {
      const slot: Slot = { call, results: [] };
      parts.push(slot);
      latest.set(call.toolCallId, slot);
    }
  }
  return parts.map((part) => ('call' in part ? resultMessage(part) : messageOf(part)));
}

function messageOf({ role, content, toolCalls = [] }: TranscriptMessage): ModelMessage {
  const text = content ?? '';
  return role === 'system' || role === 'user' ? { role, text } : { role: 'assistant', text, toolCalls };
}

function resultMessage({ call: { toolCallId, tool }, results }: Slot): ModelMessage {
  const role = 'tool';
  if (results.length === 0) return { role, toolCallId, tool, text: interruption, isError: true };
  const text = results.map(({ content }) => content ?? '').join('\n');
  return { role, toolCallId, tool, text, isError: results.some(({ isError }) => isError === true) };
}
