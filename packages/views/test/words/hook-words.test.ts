import type { CapturedEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { rowsOf, rowWords, wordsLine } from '../../src/index.ts';
import { calls, created, decides, heard, receives, says } from '../market-log.ts';

/** The words of hooks in the row that begins at a position. */
function hookWords(events: readonly CapturedEvent[], position: number): string[] {
  const row = rowsOf(events).find((one) => one.position === position);
  return (row === undefined ? [] : rowWords(row).blocks).flatMap((block) => {
    if (block.source !== 'hook') return [];
    if (block.kind === 'note') return [block.spans.map(({ text }) => text).join(' ')];
    return 'text' in block ? [`${block.label}: ${block.text}`] : [];
  });
}

const onDelivery = { hook: 'secrets', on: 'delivery', subject: 'e2' } as const;
const said = [
  created('e0', 'ann', 'Ann'),
  created('e1', 'ben', 'Ben'),
  says('e2', 'ben', 'Rye, 240 degrees'),
];

describe('what a hook did', () => {
  it('names the agent, the reason, the verdict, and the message that came instead', () => {
    const events = [
      ...said,
      says('e3', 'watch', 'She is a rival.'),
      decides('e4', 'ann', { ...onDelivery, decision: 'deny', reason: 'a rival' }, { cause: ['e2', 'e3'] }),
      heard('e5', 'ann', 'Ben said something.', { via: 'e4' }),
    ];
    expect(hookWords(events, 2)).toEqual([
      'hook secrets denied the delivery to Ann: a rival',
      'verdict of watch: She is a rival.',
      'Ann received instead: Ben said something.',
    ]);
  });

  it('does not repeat a new text that the agent received', () => {
    const alters = decides('e3', 'ann', { ...onDelivery, decision: 'alter', text: 'Rye' });
    expect(hookWords([...said, alters], 2)).toEqual([
      'hook secrets altered the delivery to Ann',
      'new text: Rye',
    ]);
    const delivered = heard('e4', 'ann', 'Rye', { substance: 'e2', via: 'e3' });
    expect(hookWords([...said, alters, delivered], 2)).toEqual(['hook secrets altered the delivery to Ann']);
  });

  it('shows the result before it was altered, and the new input of a call', () => {
    const onCall = { hook: 'h', toolCallId: 'c1', decision: 'alter' } as const;
    const events = [
      calls('e1', 'olga', 'c1', 'talk', { to: 'Dan' }),
      decides('e2', 'olga', { ...onCall, on: 'tool_call', input: { to: 'Don' } }),
      decides('e3', 'olga', { ...onCall, on: 'tool_result', given: 'Rye, 240 degrees', text: 'Rye' }),
      receives('e4', 'olga', 'c1', 'Rye', { via: 'e3' }),
    ];
    expect(hookWords(events, 0)).toEqual([
      'hook h altered the tool call',
      'new input: {\n  "to": "Don"\n}',
      'hook h altered the tool result',
      'given: Rye, 240 degrees',
    ]);
  });

  it('is a row of its own where its subject is not in the log, with the reason', () => {
    const [row] = rowsOf([decides('e1', 'ann', { ...onDelivery, decision: 'deny', reason: 'a rival' })]);
    if (row === undefined) throw new Error('There is no row.');
    expect(wordsLine(rowWords(row))).toMatchObject({
      word: 'hook',
      head: 'secrets denied the delivery',
      text: 'a rival',
      notes: '',
    });
  });
});
