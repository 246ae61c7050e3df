import { describe, expect, it } from 'vitest';
import type { GameMappingInput } from '../../src/index.ts';
import { ann, annAlone, type Talk, write } from './talk.ts';

const mapping: GameMappingInput = {
  turn: { events: ['game:day'] },
  gameEvents: { events: ['game:*'] },
  parts: { tags: { speak: 'chat', thinking: 'thinking', wait: 'action' } },
};

function game(): Talk {
  const talk = annAlone();
  talk.tell(ann, 'Day 1.');
  talk.say(ann, '<thinking>Bo lies.</thinking>\n<speak>Good morning.</speak>');
  talk.tell(ann, 'Day 2.');
  talk.answer(talk.ask(ann), {
    thinking: 'Hm.',
    text: 'Wait. <speak>No.</speak><plan>Vote Bo.</plan><wait/>',
  });
  talk.tell(ann, 'Day 3.');
  talk.say(ann, '<thinking>Nothing.</thinking>');
  return talk;
}

function answersIn(rows: Awaited<ReturnType<typeof write>>['rows']): Record<string, unknown>[] {
  return rows
    .flatMap(({ messages = [], prompt = [], completion = [] }) => [...messages, ...prompt, ...completion])
    .filter(({ role }) => role === 'assistant');
}

describe('an agent that thinks and speaks in one text', () => {
  it('has its thoughts in the column of reasoning, and its words in their form, in each row and each prompt', async () => {
    const { rows, manifest } = await write(game(), {
      format: 'trl-chat',
      reasoning: 'reasoning_content',
      mapping,
    });
    const [morning, no] = [
      { content: '<speak>Good morning.</speak>', reasoning_content: 'Bo lies.' },
      { content: '<speak>No.</speak><wait/>', reasoning_content: 'Hm.\nWait.\n<plan>Vote Bo.' },
    ];
    expect(answersIn(rows)).toMatchObject([morning, no]);
    expect(manifest.dropped).toMatchObject({ empty_answer: { count: 1 } });
    expect(manifest.faults).toEqual({ 'unnamed plan': 1 });
    const { rows: calls } = await write(game(), { format: 'trl', reasoning: 'thinking', mapping });
    expect(answersIn(calls).map(({ content }) => content)).toEqual([
      morning.content,
      morning.content,
      no.content,
    ]);
    expect(answersIn(calls)).toMatchObject([{ thinking: 'Bo lies.' }, { thinking: 'Bo lies.' }, {}]);
  });

  it.each(['openai', 'trl', 'trl-chat'] as const)(
    'has no thought in a row of %s that drops them',
    async (format) => {
      const { text, manifest } = await write(game(), { format, mapping });
      expect(text).toContain('<speak>Good morning.</speak>');
      expect(text).not.toMatch(/Bo|Hm|Wait\.|plan|thinking>/);
      expect(manifest.calls).toMatchObject({ of: 3, inRows: 2 });
    },
  );

  it('has the raw block in sft, and its thoughts before the text where they are tags', async () => {
    const { rows } = await write(game(), { format: 'sft', mapping });
    expect(rows[0]?.completion).toContain('<thinking>Bo lies.</thinking>\n<speak>Good morning.</speak>');
    const { rows: tagged } = await write(game(), { format: 'openai', reasoning: 'think-tags', mapping });
    expect(answersIn(tagged)[0]?.content).toBe('<think>\nBo lies.\n</think>\n<speak>Good morning.</speak>');
  });

  it.each(['drop', 'think-tags', 'reasoning_content'] as const)(
    'has rows of the estimated size, with thoughts as %s',
    async (reasoning) => {
      let estimated = 0;
      const { text, rows } = await write(game(), {
        format: 'trl-chat',
        reasoning,
        mapping,
        onEstimate: ({ bytes }) => {
          estimated = bytes;
        },
      });
      const more = estimated - Buffer.byteLength(text);
      expect(more).toBeGreaterThanOrEqual(0);
      expect(more).toBeLessThanOrEqual(2 * rows.length);
    },
  );
});
