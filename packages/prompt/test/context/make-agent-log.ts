import type { CapturedEvent, JsonValue } from '@hansard/events';
import { event, randomFrom } from '@hansard/testing';
import type { TokenCounter } from '../../src/index.ts';

/** Counts words, so that tests need no vocabulary. */
export const words: TokenCounter = {
  id: 'words',
  count: (text) => text.split(/\s+/).filter((word) => word !== '').length,
};

export const system = (text: string) => event('agent:system_prompt', { text });
export const heard = (text: string) => event('user:message', { text, source: { kind: 'user' } });
export const observed = (text: string) => event('agent:output', { parts: [{ kind: 'text', text }] });
export const said = (text: string, messageId = nextId()) =>
  event('agent:text', { text }, { id: nextId(), messageId });
export const called = (toolCallId: string, input: JsonValue = {}, messageId = nextId()) =>
  event('agent:tool_call', { toolCallId, tool: 'look', input, metadata: {} }, { id: nextId(), messageId });
export const result = (toolCallId: string, output: string, isError = false) =>
  event('agent:tool_result', {
    toolCallId,
    tool: 'look',
    status: isError ? 'error' : 'completed',
    output,
    metadata: {},
  });
export const compacted = (summary: string, keptFrom?: string) =>
  event('session:compaction', {
    trigger: 'auto',
    summary,
    ...(keptFrom === undefined ? {} : { keptFrom }),
  });

let made = 0;
function nextId(): string {
  made += 1;
  return `m${made}`;
}

/** A log of one agent, with late results, repeated results, results without a call, and calls that stay open. */
export function randomLog(seed: number, length: number): CapturedEvent[] {
  const random = randomFrom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const text = (longest: number) =>
    Array.from({ length: 1 + below(longest) }, (_, index) => `word${index}`).join(' ');
  const events: CapturedEvent[] = [system(text(20))];
  const open: string[] = [];
  let answer = 'none';
  while (events.length < length) {
    const kind = below(20);
    if (kind < 4) events.push(heard(text(60)));
    else if (kind < 7) {
      answer = nextId();
      events.push(said(text(60), answer));
    } else if (kind < 9) events.push(said(text(10), answer));
    else if (kind < 12) {
      const id = `c${below(6) === 0 ? below(5) : events.length}`;
      if (below(2) === 0) answer = nextId();
      events.push(called(id, { at: text(400), list: [1, 2, text(3)] }, answer));
      open.push(id);
    } else if (kind < 16) {
      const id = open[below(open.length)] ?? 'of-nothing';
      if (below(8) > 0) open.splice(open.indexOf(id), 1);
      events.push(result(id, text(600), below(5) === 0));
    } else if (kind < 18) events.push(observed(text(200)));
    else if (kind < 19)
      events.push(event('agent:inference', { model: 'm', usage: { inputTokens: 1, outputTokens: 1 } }));
    else if (below(6) === 0) events.push(system(text(8)));
    else if (below(8) === 0) events.push(compacted(text(30), events[below(events.length)]?.id));
  }
  return events;
}
