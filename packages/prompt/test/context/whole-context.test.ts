import { describe, expect, it } from 'vitest';
import { putTogether, renderContext } from '../../src/index.ts';
import { called, heard, randomLog, result } from './make-agent-log.ts';
import { plainRendering } from './plain-rendering.ts';

describe('the prompt of a whole transcript', () => {
  it('equals a rendering of the whole transcript at once', () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      // A call id that is repeated in a message with separated blocks belongs to the latest call in the log, not in the transcript.
      const events = randomLog(seed, 120).filter(
        ({ type, data }) =>
          type !== 'agent:output' && type !== 'session:compaction' && !/^c\d$/.test(String(data.toolCallId)),
      );
      const transcript = putTogether(events).map(({ message }) => message);
      const expected = JSON.stringify(plainRendering(transcript));
      expect(JSON.stringify(renderContext(events).messages), `seed ${seed}`).toBe(expected);
    }
  });

  it('has each result directly after its call, whatever arrived in between', () => {
    const id = 'm-two';
    const events = [
      called('c1', {}, id),
      called('c2', {}, id),
      heard('Meanwhile'),
      result('c2', 'two'),
      result('c1', 'one'),
    ];
    expect(renderContext(events).messages.map(({ text }) => text)).toEqual(['', 'one', 'two', 'Meanwhile']);
  });

  it('has one result for each call: several are joined, a missing one is reported as interrupted', () => {
    const id = 'm-joined';
    const events = [
      called('c1', {}, id),
      called('c2', {}, id),
      result('c1', 'one'),
      result('c1', 'more', true),
    ];
    expect(renderContext(events).messages.slice(1)).toEqual([
      { role: 'tool', toolCallId: 'c1', tool: 'look', text: 'one\nmore', isError: true },
      {
        role: 'tool',
        toolCallId: 'c2',
        tool: 'look',
        text: expect.stringMatching(/^interrupted/),
        isError: true,
      },
    ]);
  });

  it('has no result without a call, and takes a result for the latest call of that id', () => {
    const events = [
      result('c1', 'of nothing'),
      called('c1', {}, 'm-a'),
      result('c1', 'first'),
      called('c1', {}, 'm-b'),
      result('c1', 'second'),
    ];
    expect(renderContext(events).messages.map(({ text }) => text)).toEqual(['', 'first', '', 'second']);
  });
});
