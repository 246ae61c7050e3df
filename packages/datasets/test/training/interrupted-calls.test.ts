import { describe, expect, it } from 'vitest';
import { trainingFormatIds } from '../../src/index.ts';
import { ann, annAlone, type Talk, write } from './talk.ts';

const look = { toolCallId: 'c1', tool: 'look', input: {} };

function interrupted(): Talk {
  const talk = annAlone();
  talk.tell(ann, 'One');
  talk.say(ann, 'First');
  talk.tell(ann, 'Two');
  talk.answer(talk.ask(ann), { calls: [look] });
  talk.say(ann, 'Second');
  talk.tell(ann, 'Three');
  talk.say(ann, 'Third');
  return talk;
}

describe('a tool call without a result', () => {
  it.each(trainingFormatIds)('loses no row of %s if the agent continues', async (format) => {
    const { rows, manifest } = await write(interrupted(), { format });
    expect(manifest.dropped).toEqual({});
    expect(manifest.calls.inRows).toBe(4);
    expect(rows).toHaveLength(format === 'sft' || format === 'trl' ? 4 : 1);
    for (const text of ['First', 'Second', 'Third']) expect(JSON.stringify(rows)).toContain(text);
  });

  it.each(trainingFormatIds)('is left out of %s as such at the end of the log', async (format) => {
    const talk = interrupted();
    talk.tell(ann, 'Four');
    const last = talk.answer(talk.ask(ann), { calls: [look] });
    const { manifest } = await write(talk, { format });
    expect(manifest.dropped).toEqual({ dangling_call: { count: 1, first: [last] } });
    expect(manifest.calls.inRows).toBe(4);
  });
});
