import type { JsonObject } from '@hansard/events';
import type { Conversation, TrainingMessage } from '../conversation.ts';
import { argumentsOf } from './row-options.ts';

/**
 * One prompt and its answer as text (G5). The prompt ends after a line
 * feed, so that its end does not depend on the text that follows.
 */
export function sftRow({ calls, messages }: Conversation): JsonObject {
  const [{ dispatchId, agentName, agentRole, turn }] = calls;
  const texts = messages.map(messageText);
  return {
    prompt: texts.slice(0, -1).join(''),
    completion: texts.at(-1) ?? '',
    metadata: { game_id: dispatchId, agent_name: agentName, agent_role: agentRole, turn },
  };
}

function messageText({ message, thinking }: TrainingMessage): string {
  if (message.role === 'tool')
    return `<tool_result name=${JSON.stringify(message.tool)}>\n${message.text}\n</tool_result>\n`;
  if (message.role !== 'assistant') return `<${message.role}>\n${message.text}\n</${message.role}>\n`;
  const { text, toolCalls } = message;
  const parts = [
    ...(thinking === null ? [] : [`<thinking>\n${thinking}\n</thinking>`]),
    ...(text === '' ? [] : [text]),
    ...toolCalls.map(
      ({ tool, input }) =>
        `<tool_call name=${JSON.stringify(tool)}>${JSON.stringify(argumentsOf(input))}</tool_call>`,
    ),
  ];
  return `<assistant>\n${parts.join('\n')}\n</assistant>\n`;
}
