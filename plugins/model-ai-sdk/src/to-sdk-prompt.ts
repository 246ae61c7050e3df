import type { ModelMessage, ToolDefinition } from '@hansard/provider';
import { type JSONSchema7, jsonSchema, type ModelMessage as SdkMessage, type ToolSet, tool } from 'ai';
import { replayedParts } from './replay.ts';

/** @param model the requested name of the model */
export function toSdkMessages(messages: readonly ModelMessage[], model: string | null): SdkMessage[] {
  return messages.map((message) => toSdkMessage(message, model));
}

/** Tools without `execute`, so that the SDK gives their calls back instead of making them. */
export function toSdkTools(tools: readonly ToolDefinition[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema as JSONSchema7) }),
    ]),
  );
}

function toSdkMessage(message: ModelMessage, model: string | null): SdkMessage {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.text };
    case 'assistant':
      return {
        role: 'assistant',
        content: replayedParts(message, model) ?? [
          // Vendors refuse empty text beside a tool call.
          ...(message.text === '' && message.toolCalls.length > 0
            ? []
            : [{ type: 'text' as const, text: message.text }]),
          ...message.toolCalls.map(({ toolCallId, tool: toolName, input }) => ({
            type: 'tool-call' as const,
            toolCallId,
            toolName,
            input,
          })),
        ],
      };
    case 'tool':
      return {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: message.toolCallId,
            toolName: message.tool,
            output: { type: message.isError ? 'error-text' : 'text', value: message.text },
          },
        ],
      };
  }
}
