import { describe, expect, it } from 'vitest';
import { causesOf, createLogIndex, dialogOf, neverHeard, renderDialog } from '../../src/index.ts';
import { calls, created, decides, heard, marketLog, receives, says } from '../market-log.ts';

describe('dialogOf', () => {
  it('gives each saying once, in order, with the agents that heard it and how', () => {
    const rows = dialogOf(createLogIndex(marketLog()), ['ben', 'ann']);
    expect(rows.map(({ id, speaker, audience }) => [id, speaker.agentId, audience.map(brief)])).toEqual([
      [
        'e12',
        'olga',
        [
          ['ben', 'same'],
          ['ann', 'same'],
        ],
      ],
      ['e15', 'ben', [['ann', 'altered']]],
      ['e27', 'ann', [['ben', 'wrapped']]],
    ]);
    expect(rows[1]?.audience[0]).toMatchObject({
      text: '[Ben]: Rye with caraway, baked at [hidden]',
      via: 'e16',
    });
  });

  it('takes agents by name or id, and names an unknown one in the error', () => {
    const index = createLogIndex(marketLog());
    expect(dialogOf(index, ['Ben', 'ANN'])).toEqual(dialogOf(index, ['ben', 'ann']));
    expect(() => dialogOf(index, ['ben', 'zoe'])).toThrow(TypeError);
  });

  it('shows the agent that a saying was withheld from', () => {
    const rows = dialogOf(createLogIndex(marketLog()), ['ben', 'carl']);
    expect(rows.map(({ id, audience }) => [id, audience.map(brief)])).toEqual([
      ['e15', [['carl', 'withheld']]],
    ]);
    expect(rows[0]?.audience[0]).toMatchObject({ text: null, via: 'e18' });
  });

  it('shows what only one agent heard to that agent alone', () => {
    const index = createLogIndex(marketLog());
    const ids = (agents: string[]) => dialogOf(index, agents).map(({ id }) => id);
    expect(ids(['ann', 'ben'])).not.toContain('e25');
    expect(ids(['ann', 'inner'])).toEqual(['e23', 'e25', 'e27']);
  });

  it('gives for one agent all that it said and heard, including from a person', () => {
    const index = createLogIndex([heard('e1', 'owl', 'A mouse!'), says('e2', 'owl', 'Thank you.')]);
    expect(dialogOf(index, ['owl']).map(({ id, speaker }) => [id, speaker.kind])).toEqual([
      ['e1', 'user'],
      ['e2', 'agent'],
    ]);
  });

  it('does not join messages with equal text that the log does not link', () => {
    const index = createLogIndex([
      calls('e1', 'olga', 'c1', 'talk'),
      heard('e2', 'ben', 'Begin.', { from: 'olga', cause: 'e1' }),
      heard('e3', 'ann', 'Begin.', { from: 'olga', cause: 'e1' }),
    ]);
    expect(dialogOf(index, ['ben', 'ann'])).toEqual([]);
    const rows = dialogOf(index, ['olga', 'ben', 'ann']);
    expect(rows.map(({ id, speaker, audience }) => [id, speaker.agentId, audience.map(brief)])).toEqual([
      ['e2', 'olga', [['ben', 'same']]],
      ['e3', 'olga', [['ann', 'same']]],
    ]);
  });

  it('does not attribute the text of a tool to an agent, including when an agent said the same', () => {
    const index = createLogIndex([
      calls('e1', 'olga', 'c1', 'collect_votes'),
      says('e2', 'ben', 'yes'),
      receives('e3', 'olga', 'c1', 'yes'),
    ]);
    expect(index.sayings.map(({ id, hearings }) => [id, hearings])).toEqual([['e2', []]]);
    expect(causesOf(index, 'e3').map(({ id }) => id)).toEqual(['e1', 'e3']);
  });

  it('calls a text that a hook altered `altered`, including when it still contains the original text', () => {
    const index = createLogIndex([
      says('e1', 'ben', 'I will pay'),
      decides('e2', 'ann', { hook: 'h', on: 'delivery', decision: 'alter', subject: 'e1' }),
      heard('e3', 'ann', 'Nobody should believe that I will pay you a cent', {
        from: 'ben',
        substance: 'e1',
        via: 'e2',
      }),
      heard('e4', 'carl', 'Ann: Nobody should believe that I will pay you a cent', {
        from: 'ann',
        substance: 'e3',
      }),
      heard('e5', 'dora', 'I will pay', { from: 'ann', substance: 'e3' }),
    ]);
    const rows = dialogOf(index);
    expect(rows[0]?.audience.map(brief)).toEqual([
      ['ann', 'altered'],
      ['carl', 'altered'],
      ['dora', 'same'],
    ]);
    expect(renderDialog(index, rows)).toContain(
      'heard by ann, altered (via 1): Nobody should believe that I will pay you a cent',
    );
  });

  it('compares the texts if the decision of the delivery did not alter them', () => {
    const index = createLogIndex([
      calls('e1', 'olga', 'c1', 'ask'),
      decides('e2', 'olga', { hook: 'h', on: 'tool_call', decision: 'alter', toolCallId: 'c1', input: {} }),
      says('e3', 'ben', 'yes'),
      receives('e4', 'olga', 'c1', 'yes', { substance: 'e3', via: 'e2' }),
      decides('e5', 'ann', { hook: 'h', on: 'delivery', decision: 'allow', subject: 'e3' }),
      heard('e6', 'ann', '[ben]: yes', { substance: 'e3', via: 'e5' }),
      decides('e7', 'carl', { hook: 'h', on: 'delivery', decision: 'deny', subject: 'e3' }),
      heard('e8', 'carl', '[ben]: yes, they say', { substance: 'e3', via: 'e7' }),
      heard('e9', 'dora', '[ben]: yes', { substance: 'e3', via: 'gone' }),
    ]);
    expect(index.sayings[0]?.hearings.map(brief)).toEqual([
      ['olga', 'same'],
      ['ann', 'wrapped'],
      ['carl', 'withheld'],
      ['carl', 'altered'],
      ['dora', 'altered'],
    ]);
    expect(neverHeard(index, 'e3').map(({ agent }) => agent.agentId)).toEqual([]);
  });

  it('follows a content over several deliveries to its speaker', () => {
    const index = createLogIndex([
      says('e1', 'ben', 'Sold out'),
      heard('e2', 'ann', '[Ben]: Sold out', { from: 'ben', substance: 'e1' }),
      heard('e3', 'carl', 'Ann heard: [Ben]: Sold out', { from: 'ann', substance: 'e2' }),
    ]);
    expect(dialogOf(index, ['ben', 'carl'])[0]?.audience.map(brief)).toEqual([['carl', 'wrapped']]);
  });

  it('shows all sayings if no agents are chosen, including those of a person', () => {
    const index = createLogIndex(marketLog());
    const rows = dialogOf(index);
    expect(rows.map(({ id }) => id)).toEqual(index.sayings.map(({ id }) => id));
    expect(rows.some(({ speaker }) => speaker.kind === 'user')).toBe(true);
  });

  it('shows content that was delivered without being said before, such as the result of a tool', () => {
    const index = createLogIndex([
      calls('e1', 'ben', 'c1', 'look'),
      receives('e2', 'ben', 'c1', 'Three loaves'),
      heard('e3', 'ann', '[Ben]: Three loaves', { from: 'ben', substance: 'e2' }),
      heard('e4', 'carl', 'Three loaves', { from: 'ben', substance: 'e2' }),
    ]);
    const rows = dialogOf(index, ['ann', 'carl']);
    expect(rows.map(({ id, text, audience }) => [id, text, audience.map(brief)])).toEqual([
      [
        'e2',
        'Three loaves',
        [
          ['ann', 'wrapped'],
          ['carl', 'same'],
        ],
      ],
    ]);
  });

  it('counts a repeated delivery to an agent once, unless its text differs', () => {
    const index = createLogIndex([
      says('e1', 'ben', 'Rye'),
      heard('e2', 'ann', '[Ben]: Rye', { substance: 'e1' }),
      heard('e3', 'ann', '[Ben]: Rye', { substance: 'e1' }),
      heard('e4', 'ann', 'Rye!', { substance: 'e1' }),
    ]);
    expect(dialogOf(index, ['ben', 'ann'])[0]?.audience.map(({ event }) => event.id)).toEqual(['e2', 'e4']);
  });

  it('joins the deliveries of a content that is not in this log', () => {
    const index = createLogIndex([
      created('e0', 'ben'),
      heard('e1', 'ben', 'Hi', { from: 'zoe', substance: 'gone' }),
      heard('e2', 'ann', 'Hi', { from: 'zoe', substance: 'gone' }),
    ]);
    expect(dialogOf(index, ['ben', 'ann']).map(({ id, audience }) => [id, audience.length])).toEqual([
      ['e1', 2],
    ]);
  });

  it('takes the first of deliveries with cyclic substances as the origin', () => {
    const index = createLogIndex([
      heard('e1', 'ben', 'Hi', { substance: 'e2' }),
      heard('e2', 'ann', 'Hi', { substance: 'e1' }),
      heard('e3', 'ann', 'Ho', { substance: 'e3' }),
    ]);
    expect(index.sayings.map(({ id, hearings }) => [id, hearings.map(brief)])).toEqual([
      [
        'e1',
        [
          ['ben', 'same'],
          ['ann', 'same'],
        ],
      ],
      ['e3', [['ann', 'same']]],
    ]);
  });
});

describe('renderDialog', () => {
  it('prints the speaker, the text and how each agent heard it', () => {
    const index = createLogIndex(marketLog());
    expect(renderDialog(index, dialogOf(index, ['ben', 'ann', 'carl']))).toBe(
      [
        '  15  Olga: It is early. The stalls open.',
        '      heard by Ben, Ann',
        '      not heard by Carl',
        '  18  Ben: Rye with caraway, baked at 240 degrees',
        '      heard by Ann, altered (via 19): [Ben]: Rye with caraway, baked at [hidden]',
        '      withheld from Carl (via 21)',
        '  30  Ann: Two loaves, please.',
        '      heard by Ben (wrapped)',
        '      not heard by Carl',
      ].join('\n'),
    );
  });

  it('says how many did not hear it where they are many, and nothing where nobody did', () => {
    const others = ['b', 'c', 'd', 'e', 'f', 'g'];
    const index = createLogIndex([
      ...['a', ...others].map((agent) => created(`c${agent}`, agent)),
      says('e1', 'a', 'Rye'),
      heard('e2', 'b', 'Rye', { from: 'a', substance: 'e1' }),
      says('e3', 'a', 'Who is there?'),
    ]);
    const rows = dialogOf(index);
    expect(rows.map(({ missing, isPublic }) => [missing, isPublic])).toEqual([
      [others.slice(1), false],
      [others, false],
    ]);
    expect(renderDialog(index, rows)).toBe(
      '   7  a: Rye\n      heard by b\n      not heard by 5 others\n   9  a: Who is there?',
    );
    const [chosen] = dialogOf(index, ['a', 'b']);
    expect(chosen).toMatchObject({ missing: [], isPublic: false });
  });

  it('indents further lines below the first and neutralises controls', () => {
    const index = createLogIndex([created('e1', 'a', 'A\u001b'), says('e2', 'a', 'one\ntwo\u001b[2J')]);
    expect(renderDialog(index, dialogOf(index, ['a']))).toBe('   1  A␛: one\n          two␛[2J');
  });
});

function brief({ agentId, how }: { readonly agentId: string; readonly how: string }): [string, string] {
  return [agentId, how];
}
