import { describe, expect, it } from 'vitest';
import { Talk, write } from './talk.ts';

const [ann, ben] = ['agent_001', 'agent_002'] as const;
const turns = { turn: { events: ['game:day'] }, gameEvents: { events: ['game:*'] } };

/** Each player speaks before and after the events. */
async function rolesAfter(events: readonly [`game:${string}`, object][], mapping?: object) {
  const talk = new Talk();
  talk.enter(ann, 'Ann');
  talk.enter(ben, 'Ben');
  const speak = () => {
    for (const agent of [ann, ben]) {
      talk.tell(agent, 'Your turn.');
      talk.say(agent, 'Well.');
    }
  };
  speak();
  for (const [type, data] of events) talk.add(type, data as never);
  speak();
  const { rows } = await write(talk, {
    format: 'sft',
    ...(mapping === undefined ? {} : { mapping: { ...turns, ...mapping } }),
  });
  return rows.map(({ metadata }) => metadata.agent_role);
}

describe('the role of a player in training data', () => {
  it.each([
    ['a player and its role', [['game:role', { player: 'Ann', role: 'wolf' }]], ['', '', 'wolf', '']],
    ['a player by its id', [['game:role', { player: ben, role: 'seer' }]], ['', '', '', 'seer']],
    [
      'the roles of all players',
      [['game:start', { roles: { Ann: 'wolf', Ben: 'seer' } }]],
      ['', '', 'wolf', 'seer'],
    ],
    [
      'a role that changes',
      [
        ['game:role', { player: 'Ann', role: 'villager' }],
        ['game:bite', { player: 'Ann', role: 'wolf' }],
      ],
      ['', '', 'wolf', ''],
    ],
    [
      'players of whom it does not state roles',
      [['game:start', { players: { Ann: 'alive' } }]],
      ['', '', '', ''],
    ],
    ['a list of roles', [['game:start', { roles: ['wolf', 'seer'] }]], ['', '', '', '']],
  ] as const)(
    'is known after an event of the game has stated %s, and never before',
    async (_, events, roles) => {
      expect(await rolesAfter(events as never)).toEqual(roles);
    },
  );

  it('comes only from the events and fields that the mapping names', async () => {
    const events = [
      ['game:start', { players: { Ann: 'wolf', Ben: 'seer' } }],
      ['game:guess', { player: 'Ann', role: 'villager' }],
    ] as const;
    expect(
      await rolesAfter(events as never, { roles: { events: ['game:start'], players: 'players' } }),
    ).toEqual(['', '', 'wolf', 'seer']);
    expect(await rolesAfter(events as never, { roles: { events: ['game:other'] } })).toEqual([
      '',
      '',
      '',
      '',
    ]);
    expect(await rolesAfter(events as never, {})).toEqual(['', '', 'villager', '']);
  });
});
