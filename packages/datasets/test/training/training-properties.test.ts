import type { ContextMessage } from '@hansard/prompt';
import { describe, expect, it } from 'vitest';
import { documentedSchemas } from './documented-schemas.ts';
import { randomTalk, seeds } from './random-talk.ts';
import { type Row, type SpokenAnswer, write } from './talk.ts';

/** A message in a form that is common to all formats. */
interface Plain {
  readonly role: string;
  readonly text: string;
  readonly calls: readonly { readonly tool: string; readonly input: unknown }[];
}

const plain = (message: ContextMessage): Plain => ({
  role: message.role,
  text: message.text,
  calls: message.role === 'assistant' ? message.toolCalls.map(({ tool, input }) => ({ tool, input })) : [],
});

function plainRow({ role, content = '', tool_calls = [] }: Row): Plain {
  return {
    role,
    text: content,
    calls: tool_calls.map(({ function: { name, arguments: input } }: Row) => ({
      tool: name,
      input: typeof input === 'string' ? JSON.parse(input) : input,
    })),
  };
}

const saidBy = ({ text = '', calls = [] }: SpokenAnswer): Plain => ({
  role: 'assistant',
  text,
  calls: calls.map(({ tool, input }) => ({ tool, input })),
});

const keyOf = (value: unknown) => JSON.stringify(value);

/** Each trained answer of a row, with the messages before it. */
function trainedIn({ prompt, completion, messages }: Row): [before: Plain[], answer: Plain][] {
  const all: Row[] = messages ?? [...prompt, ...completion];
  return all.flatMap((message, at): [Plain[], Plain][] => {
    const isTrained =
      messages === undefined
        ? at === all.length - 1
        : (message.train ?? (message.role === 'assistant' && message.weight !== 0));
    return isTrained ? [[all.slice(0, at).map(plainRow), plainRow(message)]] : [];
  });
}

describe.each(['trl', 'trl-chat', 'openai'] as const)('the rows of %s, for any talk', (format) => {
  it('train each answer with its exact prompt, at most once, or the manifest says why not', async () => {
    let merged = 0;
    for (const seed of seeds) {
      const talk = randomTalk(seed);
      const { rows, manifest } = await write(talk, { format });
      for (const row of rows) documentedSchemas[format].parse(row);
      const given = new Set(
        talk.given.map(({ messages, answer }) => keyOf([messages.map(plain), saidBy(answer)])),
      );
      const trained = rows.flatMap(trainedIn).map(keyOf);
      expect(new Set(trained).size, `seed ${seed}`).toBe(trained.length);
      expect(
        trained.filter((key) => !given.has(key)),
        `seed ${seed}`,
      ).toEqual([]);
      const dropped = Object.values(manifest.dropped).reduce((sum, { count }) => sum + count, 0);
      expect(dropped, `seed ${seed}`).toBe(talk.given.length - trained.length);
      expect(manifest.calls.inRows, `seed ${seed}`).toBe(trained.length);
      expect(
        Object.keys(manifest.dropped).filter((reason) => reason !== 'dangling_call'),
        `seed ${seed}`,
      ).toEqual([]);
      merged += trained.length - rows.length;
    }
    expect(merged > seeds.length).toBe(format !== 'trl');
  });
});

describe('sft_dataset.jsonl, for any talk', () => {
  it('has a row for each call except dangling ones, each as specified', async () => {
    for (const seed of seeds) {
      const talk = randomTalk(seed);
      const { rows, manifest } = await write(talk, { format: 'sft' });
      for (const row of rows) documentedSchemas.sft.parse(row);
      expect(rows.length + (manifest.dropped.dangling_call?.count ?? 0), `seed ${seed}`).toBe(
        talk.given.length,
      );
    }
  });
});
