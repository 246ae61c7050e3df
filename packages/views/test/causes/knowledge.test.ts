import { event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  createLogIndex,
  dialogOf,
  hearingMatrix,
  knownBy,
  neverHeard,
  renderDialog,
  renderHearing,
  renderKnown,
  renderNeverHeard,
} from '../../src/index.ts';
import { calls, created, decides, heard, instructed, marketLog, receives, says } from '../market-log.ts';

describe('hearingMatrix', () => {
  it('has a row for each saying and a cell for each agent that said or heard it', () => {
    const index = createLogIndex(marketLog());
    const { agents, rows } = hearingMatrix(index);
    expect(agents.map(({ agentId }) => agentId)).toEqual(['olga', 'ben', 'ann', 'carl', 'inner']);
    expect(rows.map(({ saying, cells }) => [saying.id, Object.fromEntries(cells)])).toEqual([
      ['e2', { olga: ['same'] }],
      ['e12', { olga: ['said'], ben: ['same'], ann: ['same'] }],
      ['e15', { ben: ['said'], ann: ['altered'], carl: ['withheld'], olga: ['wrapped'] }],
      ['e23', { ann: ['said'], inner: ['same'] }],
      ['e25', { inner: ['said'], ann: ['same'] }],
      ['e27', { ann: ['said'], ben: ['wrapped'], olga: ['wrapped'] }],
      ['e30', { olga: ['said'] }],
    ]);
  });

  it('shows every delivery to an agent, including one after the same content was withheld', () => {
    const denied = { hook: 'h', on: 'delivery', decision: 'deny', subject: 'e1' } as const;
    const index = createLogIndex([
      says('e1', 'ben', 'Rye'),
      decides('e2', 'ann', denied),
      heard('e3', 'ann', 'Rye', { substance: 'e1' }),
      decides('e4', 'ann', denied),
    ]);
    const matrix = hearingMatrix(index);
    expect(matrix.rows[0]?.cells.get('ann')).toEqual(['withheld', 'same', 'withheld']);
    expect(renderHearing(index, matrix)).toContain('withheld ×2, same');
    expect(neverHeard(index, 'e1')).toEqual([]);
  });

  it('shows to whom a message was sent, and names a receiver that has no transcript', () => {
    const sent = (id: string, agent: string) => ({
      ...event('agent:message_sent', { text: `Hi ${agent}`, to: { agent } }, { id, agentId: 'ann' }),
    });
    const index = createLogIndex([
      created('e1', 'ann', 'Ann'),
      created('e2', 'b7', 'Ben'),
      says('e3', 'b7', 'Rye'),
      sent('e4', 'Ben'),
      sent('e5', 'Carl'),
      event('agent:message_sent', { text: 'Far', to: { dispatchId: 'D2' } }, { id: 'e6', agentId: 'ann' }),
    ]);
    const matrix = hearingMatrix(index);
    expect(matrix.rows.map(({ saying, cells }) => [saying.id, Object.fromEntries(cells)])).toEqual([
      ['e3', { b7: ['said'] }],
      ['e4', { ann: ['said'], b7: ['sent'] }],
      ['e5', { ann: ['said'] }],
    ]);
    expect(renderHearing(index, matrix)).toContain('\nsent to Carl, which has no transcript here: 4');
    expect(renderDialog(index, dialogOf(index))).toContain('Ann: Hi Ben\n      sent to Ben');
  });

  it('says so if nothing was said', () => {
    const index = createLogIndex([created('e1', 'ben', 'Ben')]);
    expect(renderHearing(index, hearingMatrix(index))).toBe('(nothing was said)');
  });

  it('prints a table', () => {
    const index = createLogIndex([
      created('e1', 'ben', 'Ben'),
      created('e2', 'ann', 'Ann'),
      says('e3', 'ben', 'Rye with caraway,\nwith seeds, and with a long, long description'),
      heard('e4', 'ann', 'Is that all?'),
    ]);
    expect(renderHearing(index, hearingMatrix(index))).toBe(
      [
        'at  said by  text                                      Ben   Ann',
        ' 2  Ben      Rye with caraway,⏎with seeds, and with …  said  ?',
        ' 3  user     Is that all?                              ?     same',
      ].join('\n'),
    );
    const narrow = renderHearing(index, hearingMatrix(index), { width: 42 }).split('\n');
    expect(narrow[1]).toBe(' 2  Ben      Rye with caraway…  said  ?');
  });
});

describe('knownBy', () => {
  const index = createLogIndex(marketLog());

  it('gives the messages that an agent had received by then, with their paths', () => {
    const known = knownBy(index, 'ann', 'e20');
    expect(known.map(({ id }) => id)).toEqual(['e14', 'e17']);
    expect(known[1]?.paths).toEqual([
      [
        { id: 'e15', kind: 'agent', agentId: 'ben', how: 'said' },
        { id: 'e17', kind: 'agent', agentId: 'ann', how: 'altered' },
      ],
    ]);
  });

  it('gives all messages if no event is named', () => {
    expect(knownBy(index, 'ann').map(({ id }) => id)).toEqual(['e14', 'e17', 'e21', 'e26']);
  });

  it('has a path for each utterance that a result was compiled from', () => {
    const compiled = knownBy(index, 'olga').find(({ id }) => id === 'e29');
    expect(compiled?.paths.map((path) => path.map(({ id, how }) => [id, how]))).toEqual([
      [
        ['e15', 'said'],
        ['e29', 'wrapped'],
      ],
      [
        ['e27', 'said'],
        ['e29', 'wrapped'],
      ],
    ]);
  });

  it('has a step for each delivery of a content', () => {
    const passed = createLogIndex([
      created('e0', 'ben', 'Ben'),
      says('e1', 'ben', 'Sold out'),
      heard('e2', 'ann', '[Ben]: Sold out', { substance: 'e1' }),
      heard('e3', 'carl', 'Nothing left', { substance: 'e2' }),
    ]);
    expect(renderKnown(passed, knownBy(passed, 'carl'))).toBe(
      '3  heard: Nothing left\n     Ben said it (1) → ann heard it wrapped (2) → carl heard it altered (3)',
    );
  });

  it('starts the path of a prompt to several agents at its author, not at another receiver', () => {
    const given = createLogIndex([
      calls('e1', 'olga', 'c1', 'talk'),
      heard('e2', 'ben', 'Begin.', { from: 'olga', cause: 'e1' }),
      heard('e3', 'ann', 'Begin.', { from: 'olga', cause: 'e1' }),
    ]);
    expect(knownBy(given, 'ann')[0]?.paths[0]?.map(({ agentId }) => agentId)).toEqual(['olga', 'ann']);
    expect(knownBy(given, 'ben')[0]?.paths[0]?.map(({ agentId }) => agentId)).toEqual(['olga', 'ben']);
  });

  it('has paths of instructions from the system, and of results from their call', () => {
    const alone = createLogIndex([
      instructed('e1', 'ben', 'You sell bread.'),
      calls('e2', 'ben', 'c1', 'look'),
      receives('e3', 'ben', 'c1', 'Three loaves'),
    ]);
    expect(knownBy(alone, 'ben').map(({ paths }) => paths[0]?.[0])).toEqual([
      { id: 'e1', kind: 'system', agentId: null, how: 'said' },
      { id: 'e2', kind: 'tool', agentId: null, how: 'returned' },
    ]);
  });

  it('refuses an agent or an id that is not in the log', () => {
    expect(() => knownBy(index, 'zoe')).toThrow(/zoe/);
    expect(() => knownBy(index, 'ann', 'e99')).toThrow(/e99/);
  });
});

describe('neverHeard', () => {
  const index = createLogIndex(marketLog());

  it('names the agents that a saying never reached, and the decision that withheld it', () => {
    expect(neverHeard(index, 'e15').map(({ agent, withheldBy }) => [agent.agentId, withheldBy])).toEqual([
      ['carl', 'e18'],
      ['inner', null],
    ]);
    expect(renderNeverHeard(neverHeard(index, 'e15'))).toBe('Carl (withheld via e18)\nConscience');
  });

  it('takes the id of a delivery for the saying that it carries', () => {
    expect(neverHeard(index, 'e28')).toEqual(neverHeard(index, 'e27'));
  });

  it('refuses an event that is neither a saying nor a delivery', () => {
    expect(() => neverHeard(index, 'e11')).toThrow(TypeError);
  });
});
