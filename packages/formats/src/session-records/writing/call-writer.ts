import type { CapturedEvent } from '@hansard/events';
import { meantCall } from '../record-links.ts';

/** Says which call of an earlier message with several a record means by its causes. */
export interface CallWriter {
  /** The agent of an earlier message with exactly one call; undefined for any other id. */
  soleCaller(id: string): string | undefined;
  /** Adds the events of a record, after its own links were written. */
  add(blocks: readonly CapturedEvent[]): void;
  /**
   * `callId` is the call that the record has to name; absent if its references are enough. `isLost`: no call id says what is
   * meant.
   */
  meantCall(causes: readonly string[], ownCallId: string | undefined): MeantCall;
}

interface MeantCall {
  readonly callId?: string;
  readonly isLost: boolean;
}

interface Call {
  readonly id: string;
  readonly toolCallId: string;
}

export function createCallWriter(): CallWriter {
  /** The calls of messages with several, by the ids of their events. */
  const messages = new Map<string, readonly Call[]>();
  const soleCallers = new Map<string, string>();

  return {
    soleCaller: (id) => soleCallers.get(id),

    add(blocks) {
      const calls = blocks.filter(({ type }) => type === 'agent:tool_call').map(callOf);
      if (calls.length === 1) for (const { id, agentId = '' } of blocks) soleCallers.set(id, agentId);
      if (calls.length < 2) return;
      for (const { id } of blocks) messages.set(id, calls);
      const messageId = blocks[0]?.messageId;
      if (messageId !== undefined && !messages.has(messageId)) messages.set(messageId, calls);
    },

    meantCall(causes, ownCallId) {
      if (messages.size === 0) return { isLost: false };
      const meant = new Map<readonly Call[], Set<Call>>();
      for (const cause of causes) {
        const calls = messages.get(cause);
        // The id of a message means its first call.
        const call = calls?.find(({ id }) => id === cause) ?? calls?.[0];
        if (calls === undefined || call === undefined) continue;
        meant.set(calls, (meant.get(calls) ?? new Set()).add(call));
      }
      const own = ownCallId === undefined ? {} : { role: 'tool', tool_call_id: ownCallId };
      const says = (callId: string | undefined) =>
        [...meant].every(([calls, chosen]) => {
          const call = meantCall(callId === undefined ? own : { cause_tool_call_id: callId }, calls);
          return call === undefined ? chosen.size === calls.length : chosen.size === 1 && chosen.has(call);
        });
      if (says(undefined)) return { isLost: false };
      const candidates = [...meant.values()].flatMap((chosen) =>
        [...chosen].map(({ toolCallId }) => toolCallId),
      );
      const callId = candidates.find(says);
      if (callId !== undefined) return { callId, isLost: false };
      const isFirst = [...meant].every(
        ([calls, chosen]) => chosen.size === 1 && chosen.has(calls[0] as Call),
      );
      // A reference to a message that does not say which call it means is read as its first.
      return { isLost: !isFirst };
    },
  };
}

function callOf({ id, data: { toolCallId } }: CapturedEvent): Call {
  return { id, toolCallId: typeof toolCallId === 'string' ? toolCallId : '' };
}
