import {
  type ContextMessage,
  type ContextPolicy,
  createContextRenderer,
  renderContext,
} from '@hansard/prompt';
import { exampleNumbers, exampleText, isCorpusThere, skipped } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { sessionFormats } from '../src/index.ts';

const words = { id: 'words', count: (text: string) => text.split(/\s+/).length };
const budget = 400;
const policies: readonly ContextPolicy[] = [
  { name: 'full' },
  { name: 'lastMessages', count: 3 },
  { name: 'faded', budget },
];

/** The context of each agent in the specifications' examples, whose logs are not part of the repository. */
describe.each(['session-v1', 'session-v2'] as const)('the agents of the examples of %s', (format) => {
  it.skipIf(!isCorpusThere)(
    `have contexts that providers accept, the same for any construction${skipped}`,
    () => {
      let rendered = 0;
      for (const number of exampleNumbers(format)) {
        const { events } = sessionFormats[format].read(exampleText(format, number));
        for (const agentId of new Set(events.map((event) => event.agentId)))
          for (const policy of policies) {
            const own = events.filter((event) => event.agentId === agentId);
            const renderer = createContextRenderer({ policy, tokens: words });
            for (const event of own) {
              renderer.observe(event);
              renderer.render();
            }
            const { messages, manifest } = renderContext(own, { policy, tokens: words });
            expect(JSON.stringify(renderer.render().messages)).toBe(JSON.stringify(messages));
            expect(misplacedResults(messages)).toEqual([]);
            if (policy.name === 'faded') expect(manifest.tokens?.prompt).toBeLessThanOrEqual(budget);
            rendered += messages.length;
          }
      }
      expect(rendered).toBeGreaterThan(20);
    },
  );
});

/** The calls that are not followed by their result, and the results without a call. */
function misplacedResults(messages: readonly ContextMessage[]): string[] {
  const expected: string[] = [];
  const misplaced: string[] = [];
  for (const message of messages) {
    if (message.role !== 'tool') misplaced.push(...expected.splice(0));
    else if (expected.shift() !== message.toolCallId) misplaced.push(message.toolCallId);
    if (message.role === 'assistant') expected.push(...message.toolCalls.map(({ toolCallId }) => toolCallId));
  }
  return [...misplaced, ...expected];
}
