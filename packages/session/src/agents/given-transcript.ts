import { isPlainObject, messageOf, parseEvent, preview } from '@hansard/events';
import { givenEvent, type TranscriptMessage } from '@hansard/prompt';
import type { LoggedString } from '@hansard/provider';
import { invalidOption, sessionErrors } from '../session-errors.ts';

const roles: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

/** The primitive string of a text, which may be a `LoggedString`. Any other value stays, for the check of events. */
export function textOf(text: string | LoggedString): string {
  return isLogged(text) ? String(text) : (text as string);
}

/** As `textOf`. @throws SESSION_OPTION_INVALID for any other value */
export function checkedText(given: string | LoggedString): string {
  const text: unknown = textOf(given);
  if (typeof text === 'string') return text;
  const wasSpread = isCopied(text);
  const hint = wasSpread
    ? ' A LoggedString that was copied field by field is none: pass the LoggedString itself.'
    : '';
  throw invalidOption('text', `A message must be a text; it is ${preview(text)}.${hint}`);
}

/** Whether it is a `LoggedString` that was copied field by field (`{ ...line }`). */
function isCopied(text: unknown): boolean {
  try {
    return isPlainObject(text) && 'messageId' in text;
  } catch {
    // A proxy that was revoked.
    return false;
  }
}

/** The substance of a text: the event of a `LoggedString`. */
export function substanceOf(text: string | LoggedString): { readonly substance?: string } {
  return isLogged(text) && text.messageId !== undefined ? { substance: text.messageId } : {};
}

function isLogged(text: unknown): text is LoggedString {
  try {
    return text instanceof String;
  } catch {
    // A proxy that was revoked.
    return false;
  }
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
  if (messages === undefined) return;
  if (!Array.isArray(messages))
    throw notGiven(null, `it is ${preview(messages)}, and not a list of messages`);
  /** The calls without a result, and the message of each. */
  const open = new Map<string, number>();
  for (const [index, message] of messages.entries()) {
    const problem = problemOf(message, open, index);
    if (problem !== null) throw notGiven(index, problem);
  }
  for (const [toolCallId, index] of open) throw notGiven(index, `its call ${toolCallId} has no result`);
}

function problemOf(message: TranscriptMessage, open: Map<string, number>, index: number): string | null {
  if (!isPlainObject(message)) return `it is ${preview(message)}, and not a message`;
  const { role, content, thinking, toolCalls = [], toolCallId } = message;
  if (!roles.has(role)) return `its role is ${preview(role)}`;
  const hasText = typeof content === 'string' || (content as unknown) instanceof String;
  if (!hasText && (content !== null || role === 'system' || role === 'user'))
    return `a message of the role ${role} has text as its content`;
  if (!Array.isArray(toolCalls)) return `its toolCalls are ${preview(toolCalls)}, and not a list`;
  if (role !== 'assistant' && (thinking !== undefined || toolCalls.length > 0))
    return `a message of the role ${role} has no thinking and no tool calls`;
  if (role === 'tool' && !open.delete(toolCallId ?? ''))
    return `no call before it is open with the id ${JSON.stringify(toolCallId ?? null)}`;
  for (const call of toolCalls as readonly unknown[]) {
    if (!isPlainObject(call)) return `one of its calls is ${preview(call)}`;
    const id = String(call.toolCallId);
    if (open.has(id)) return `the call ${id} is open already`;
    open.set(id, index);
  }
  return eventProblem(message);
}

/** What is wrong with the event that the message becomes. */
function eventProblem(message: TranscriptMessage): string | null {
  try {
    const event = givenEvent(asText(message), { id: 'given', agentId: 'given' });
    parseEvent({ ...event, timestamp: '2026-01-01T00:00:00.000Z' });
    return null;
  } catch (error) {
    return messageOf(error).replace(/\.$/, '');
  }
}

/** `index`: null for the transcript as a whole. */
function notGiven(index: number | null, problem: string): Error {
  const what = index === null ? 'The given transcript' : `Message ${index} of the given transcript`;
  return sessionErrors.error('SESSION_GIVEN_INVALID', `${what} can't be given: ${problem}.`, {
    details: index === null ? {} : { index },
  });
}
