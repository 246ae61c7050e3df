import { event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { createLogIndex, perspectiveOf, renderPerspective } from '../../src/index.ts';
import { calls, created, heard, marketLog, says } from '../market-log.ts';

describe('perspectiveOf', () => {
  it('gives all that an agent heard, thought, did, received and said', () => {
    const index = createLogIndex(marketLog());
    expect(perspectiveOf(index, 'Olga').map(({ id, kind }) => [id, kind])).toEqual([
      ['e2', 'heard'],
      ['e3', 'thought'],
      ['e3.1', 'thought'],
      ['e3.2', 'did'],
      ['e3.3', 'did'],
      ['e3.4', 'did'],
      ['e6', 'received'],
      ['e8', 'received'],
      ['e10', 'received'],
      ['e11', 'did'],
      ['e29', 'received'],
      ['e30', 'said'],
    ]);
  });

  it('takes text beside a tool call for thinking, including when the call comes later', () => {
    const index = createLogIndex([
      event('agent:text', { text: 'I will look.' }, { agentId: 'ben', messageId: 'm1' }),
      says('e2', 'ann', 'Hurry.'),
      calls('e3', 'ben', 'c1', 'look', {}, { messageId: 'm1' }),
    ]);
    expect(perspectiveOf(index, 'ben').map(({ kind }) => kind)).toEqual(['thought', 'did']);
  });

  it('names the speaker of a heard message, and whether it was altered', () => {
    const rows = perspectiveOf(createLogIndex(marketLog()), 'ann');
    expect(
      rows.filter(({ from }) => from !== null).map(({ id, from, how }) => [id, from?.agentId, how]),
    ).toEqual([
      ['e14', 'olga', 'same'],
      ['e17', 'ben', 'altered'],
      ['e26', 'inner', 'same'],
    ]);
  });

  it('does not show what was withheld', () => {
    expect(perspectiveOf(createLogIndex(marketLog()), 'carl')).toEqual([]);
  });

  it('keeps an answer without anything in it', () => {
    const index = createLogIndex([
      heard('e1', 'ben', 'Well?'),
      event('agent:output', { parts: [] }, { agentId: 'ben', messageId: 'm2' }),
    ]);
    expect(perspectiveOf(index, 'ben')[1]).toMatchObject({ kind: 'said', text: '' });
  });
});

describe('renderPerspective', () => {
  it('says so for an agent without rows', () => {
    const index = createLogIndex([created('e1', 'ann', 'Ann')]);
    expect(renderPerspective(index, perspectiveOf(index, 'ann'))).toBe('(nothing yet)');
  });

  it('prints a paragraph for each row', () => {
    const index = createLogIndex(marketLog());
    expect(renderPerspective(index, perspectiveOf(index, 'ann'))).toBe(
      [
        '(reconstructed: the log does not record what the model was given)',
        '  17  heard     from Olga: It is early. The stalls open.',
        '  20  heard     from Ben (altered): [Ben]: Rye with caraway, baked at [hidden]',
        '  22  did       task {"name":"Conscience"}',
        '  24  received  talk: Conscience is there',
        '  25  did       talk {}',
        '  29  received  talk from Conscience: No. He was up at three.',
        '  30  said      Two loaves, please.',
      ].join('\n'),
    );
  });
});
