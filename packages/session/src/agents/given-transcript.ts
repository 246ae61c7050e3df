import type { TranscriptMessage } from '@hansard/prompt';
import type { LoggedString } from '@hansard/provider';
import { sessionErrors } from '../session-errors.ts';

const roles: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

/** The primitive string of a text, which may be a `LoggedString`. Any other value stays, for the check of events. */
export function textOf(text: string | LoggedString): string {
  return text instanceof String ? String(text) : text;
}

/** The message with its content as a primitive string. */
export function asText(message: TranscriptMessage): TranscriptMessage {
  return message.content === null ? message : { ...message, content: textOf(message.content) };
}

/**
 * Checks a transcript with which an agent should begin.
 * @throws SESSION_GIVEN_INVALID
 */
export function checkGiven(messages: readonly TranscriptMessage[] | undefined): void {
  /** The calls without a result, and the message of each. */
  const open = new Map<string, number>();
  for (const [index, message] of (messages ?? []).entries()) {
    const { role, content, thinking, toolCalls = [], toolCallId } = message;
    if (!roles.has(role)) throw invalid(index, `its role is ${JSON.stringify(role)}`);
    const hasText = typeof content === 'string' || (content as unknown) instanceof String;
    if (!hasText && (content !== null || role === 'system' || role === 'user'))
      throw invalid(index, `a message of the role ${role} has text as its content`);
    if (role !== 'assistant' && (thinking !== undefined || toolCalls.length > 0))
      throw invalid(index, `a message of the role ${role} has no thinking and no tool calls`);
    if (role === 'tool' && !open.delete(toolCallId ?? ''))
      throw invalid(index, `no call before it is open with the id ${JSON.stringify(toolCallId ?? null)}`);
    for (const call of toolCalls) {
      if (open.has(call.toolCallId)) throw invalid(index, `the call ${call.toolCallId} is open already`);
      open.set(call.toolCallId, index);
    }
  }
  for (const [toolCallId, index] of open) throw invalid(index, `its call ${toolCallId} has no result`);
}

function invalid(index: number, problem: string): Error {
  return sessionErrors.error(
    'SESSION_GIVEN_INVALID',
    `Message ${index} of the given transcript can't be given: ${problem}.`,
    { details: { index } },
  );
}
