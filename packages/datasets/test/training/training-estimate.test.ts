import { formatErrors } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import {
  type ReasoningMode,
  type TrainingEstimate,
  type TrainingFormatId,
  trainingFormatIds,
  trainingFormats,
} from '../../src/index.ts';
import { randomTalk, seeds } from './random-talk.ts';
import { ann, annAlone, type Row, write } from './talk.ts';

/** By how many bytes the estimate of a row is too large: a comma for each list of messages. */
const excess = { sft: 0, trl: 2, 'trl-chat': 1, openai: 1 } as const;

const cases = trainingFormatIds.flatMap(
  (format): { format: TrainingFormatId; reasoning?: ReasoningMode }[] => {
    const { thoughts } = trainingFormats[format];
    return thoughts.length === 0 ? [{ format }] : thoughts.map((reasoning) => ({ format, reasoning }));
  },
);

/** A counter by which a text has as many tokens as characters. */
const letters = { id: 'letters', count: (text: string) => text.length };

/** The characters of a row's messages without its metadata and form. */
function spokenIn(row: Row): number {
  return [...(row.prompt ?? []), ...(row.completion ?? []), ...(row.messages ?? [])]
    .flatMap((message: Row) => [
      message.content ?? '',
      message.reasoning_content ?? '',
      message.thinking ?? '',
    ])
    .join('').length;
}

describe.each(cases)('the estimate of $format with thoughts as $reasoning, for any talk', (chosen) => {
  it('has the rows and calls of the file, and its bytes as documented', async () => {
    for (const seed of seeds.slice(0, 10)) {
      const found: TrainingEstimate[] = [];
      const { text, manifest } = await write(randomTalk(seed), {
        ...chosen,
        tools: [{ name: 'look ✓' }],
        counter: letters,
        onEstimate: (estimate) => found.push(estimate),
      });
      const [estimate] = found;
      expect(found, `seed ${seed}`).toHaveLength(1);
      const dropped = Object.values(manifest.dropped).reduce((sum, { count }) => sum + count, 0);
      expect(estimate, `seed ${seed}`).toMatchObject({
        rows: manifest.rows,
        calls: { inRows: manifest.calls.inRows, of: manifest.calls.inRows + dropped },
      });
      const bytes = Buffer.byteLength(text);
      expect(manifest.bytes).toBe(bytes);
      expect((estimate?.bytes ?? 0) - bytes, `seed ${seed}`).toBe(manifest.rows * excess[chosen.format]);
    }
  });
});

describe('the tokens of an estimate', () => {
  it('are those of the texts in all rows, with thoughts only where they are written', async () => {
    for (const reasoning of ['drop', 'reasoning_content'] as const)
      for (const format of ['trl', 'trl-chat'] as const) {
        const talk = annAlone();
        for (let page = 0; page < 12; page += 1) {
          talk.tell(ann, `Page ${page} ${'and more '.repeat(page * 40)}`);
          talk.answer(talk.ask(ann), { thinking: `Thought ${page}.`, text: `Read ${page}.` });
        }
        const found: TrainingEstimate[] = [];
        const { rows } = await write(talk, {
          format,
          reasoning,
          counter: letters,
          onEstimate: (estimate) => found.push(estimate),
        });
        const spoken = rows.reduce((sum, row) => sum + spokenIn(row), 0);
        expect(found[0]?.tokens).toBe(spoken);
      }
  });

  it('are unknown without a counter', async () => {
    const found: TrainingEstimate[] = [];
    await write(randomTalk(1), { format: 'sft', onEstimate: (estimate) => found.push(estimate) });
    expect(found.map(({ tokens }) => tokens)).toEqual([null]);
  });
});

describe('data above the limit', () => {
  it.each(trainingFormatIds)('%s is refused before the first row, with its estimate', async (format) => {
    const talk = randomTalk(3);
    const { manifest } = await write(talk, { format });
    const found: TrainingEstimate[] = [];
    const refused = await write(talk, {
      format,
      maxBytes: manifest.bytes / 2,
      onEstimate: (estimate) => found.push(estimate),
    }).catch((error: unknown) => error);
    if (!formatErrors.is(refused, 'FORMAT_TOO_LARGE')) throw refused;
    const [estimate] = found;
    expect(refused.details).toEqual({ ...estimate, maxBytes: manifest.bytes / 2 });
    expect(refused.message).toContain(`${estimate?.bytes} bytes in ${manifest.rows} rows`);
    await expect(write(talk, { format, maxBytes: manifest.bytes * 1.03 })).resolves.toMatchObject({
      manifest,
    });
  });
});
