import { type CapturedEvent, isEventOf } from '@hansard/events';

const lostInput = 'The input was not kept: the log of this session is a narrative.';
const lostOutput = '[The result was not kept: the log of this session is a narrative.]';

/** What a narrative does not have of an event that is part of a prompt. Null: nothing. */
export function lostContent(event: CapturedEvent): 'input' | 'output' | 'text' | null {
  const { leftOut } = event.data;
  if (typeof leftOut !== 'object' || leftOut === null) return null;
  if (event.type === 'agent:tool_call') return 'input' in leftOut ? 'input' : null;
  if (event.type === 'agent:tool_result') return 'output' in leftOut ? 'output' : null;
  return event.type === 'user:message' || event.type === 'agent:output' ? 'text' : null;
}

/** An event that was read from the log, for a prompt: the model reads that a content was not kept, and takes nothing for an empty one. */
export function sayLoss(event: CapturedEvent): CapturedEvent {
  switch (lostContent(event)) {
    case 'input':
      return { ...event, data: { ...event.data, input: { notKept: lostInput } } };
    case 'output': {
      const error = isEventOf(event, 'agent:tool_result') ? event.data.error : undefined;
      const output = error === undefined ? lostOutput : `${error}\n${lostOutput}`;
      return { ...event, data: { ...event.data, output } };
    }
    default:
      return event;
  }
}
