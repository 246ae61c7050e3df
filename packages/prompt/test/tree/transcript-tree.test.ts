import type { CapturedEvent, EventLinks } from '@hansard/events';
import { event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { TranscriptTree } from '../../src/index.ts';

const asked = (id: string, links: EventLinks = {}) =>
  event('user:message', { text: id, source: { kind: 'user' } }, { id, ...links });
const said = (id: string, links: EventLinks = {}) => event('agent:text', { text: id }, { id, ...links });
const back = (keptThrough: string | null, more: { readonly left?: string } = {}, id = 'back') =>
  event('session:rewind', { keptThrough, ...more }, { id });
const begins = (agentId: string, of: string, through: string) =>
  event('agent:created', { inherits: { agentId: of, through } }, { id: `made-${agentId}`, agentId });

function treeOf(...events: readonly CapturedEvent[]): TranscriptTree<string> {
  const tree = new TranscriptTree<string>();
  for (const one of events) tree.add(one, one.id);
  return tree;
}

describe('a transcript as a tree', () => {
  it('says of each branch whether it was abandoned, and how much is on it', () => {
    const tree = treeOf(
      ...[asked('p1'), said('a1'), asked('p2'), said('a2')],
      ...[back('a1'), asked('p3'), asked('p4', { follows: 'p3' }), asked('p5', { follows: 'p3' })],
    );
    expect(tree.branches('')).toEqual([
      { agentId: '', state: 'abandoned', address: 'a2', from: null, events: 4, prompts: 2 },
      { agentId: '', state: 'parallel', address: 'p4', from: 'a1', events: 3, prompts: 2 },
      { agentId: '', state: 'current', address: 'p5', from: 'p3', events: 1, prompts: 1 },
    ]);
    expect(['a1', 'p2', 'p3', 'p4', 'p5'].filter((id) => tree.isCurrent(id))).toEqual(['a1', 'p3', 'p5']);
    expect(tree.branchPath('p2')?.values).toEqual(['p1', 'a1', 'p2', 'a2']);
    expect(tree.problems).toEqual([]);
  });

  it('gives a late record to the branch that it follows, and changes no other', () => {
    const log = [asked('p1'), said('a1'), asked('p2'), said('a2'), back('a1'), asked('p3')];
    const tree = treeOf(...log, said('late', { follows: 'p2' }));
    expect(tree.currentPath('').values).toEqual(['p1', 'a1', 'p3']);
    expect(tree.branches('')[0]).toMatchObject({ state: 'abandoned', address: 'late' });
    expect(
      treeOf(...log, said('late', { follows: 'p1' }))
        .currentPath('')
        .values.at(-1),
    ).toBe('late');
  });

  it('lets a second program go back on its own branch, and leaves the current one as it is', () => {
    const tree = treeOf(
      ...[
        asked('p0'),
        asked('one', { follows: 'p0' }),
        said('a1'),
        asked('two', { follows: 'p0' }),
        said('a2'),
      ],
      ...[back('one', { left: 'a1' }), said('b1')],
    );
    expect(tree.currentPath('').values).toEqual(['p0', 'one', 'b1']);
    expect(tree.branches('').map(({ state, address }) => [state, address])).toEqual([
      ['abandoned', 'a1'],
      ['parallel', 'a2'],
      ['current', 'b1'],
    ]);
  });

  it('begins with the transcript of another agent, also if that comes later in the log', () => {
    const parent = [asked('p1'), said('a1'), asked('p2')].map((one) => ({ ...one, agentId: 'ann' }));
    const child = [begins('ben', 'ann', 'a1'), { ...asked('b1'), agentId: 'ben' }];
    for (const log of [
      [...parent, ...child],
      [...child, ...parent],
    ]) {
      const tree = treeOf(...log);
      expect(tree.currentPath('ben')).toMatchObject({ values: ['p1', 'a1', 'b1'], isKnown: true });
      expect(tree.pathBefore('b1')?.values).toEqual(['p1', 'a1']);
      expect(tree.problems).toEqual([]);
    }
  });

  it('keeps the transcript of an agent that was created on a branch which was abandoned later', () => {
    const of = (agentId: string, one: CapturedEvent) => ({ ...one, agentId });
    const log = [of('ann', asked('p1')), of('ann', asked('p2')), begins('ben', 'ann', 'p2')];
    const tree = treeOf(...log, of('ann', back('p1')), of('ben', asked('b1')));
    expect(tree.currentPath('ann').values).toEqual(['p1']);
    expect(tree.currentPath('ben').values).toEqual(['p1', 'p2', 'b1']);
  });

  it('goes back behind the beginning of an agent, into what it inherited', () => {
    const of = (agentId: string, one: CapturedEvent) => ({ ...one, agentId });
    const log = [of('ann', asked('p1')), of('ann', asked('p2')), begins('ben', 'ann', 'p2')];
    const tree = treeOf(...log, of('ben', asked('b1')), of('ben', back('p1')), of('ben', asked('b2')));
    expect(tree.currentPath('ben').values).toEqual(['p1', 'b2']);
    expect(tree.currentPath('ann').values).toEqual(['p1', 'p2']);
  });
});

describe('links that lead nowhere', () => {
  const codes = (tree: TranscriptTree<string>) => tree.problems.map(({ code, eventId }) => [code, eventId]);

  it('leave the current branch as it is, and what lies between is not known', () => {
    const tree = treeOf(asked('p1'), said('a1', { follows: 'gone' }), asked('p2'));
    expect(tree.currentPath('')).toMatchObject({ values: ['p1', 'a1', 'p2'], isKnown: false });
    expect(tree.pathThrough('p1')?.isKnown).toBe(true);
    expect(codes(tree)).toEqual([['branch_unknown', 'a1']]);
  });

  it('are reported for a rewind to an event that is not there, which cuts nothing', () => {
    const tree = treeOf(asked('p1'), said('a1'), back('gone'), asked('p2'));
    expect(tree.currentPath('')).toMatchObject({ values: ['p1', 'a1', 'p2'], isKnown: false });
    expect(codes(tree)).toEqual([['branch_unknown', 'back']]);
    expect(tree.problems[0]?.message).toBe('The keptThrough of back is gone, which is not in this log.');
  });

  it('are reported for events that follow each other in a circle, or themselves', () => {
    const tree = treeOf(
      asked('p1', { follows: 'p2' }),
      asked('p2', { follows: 'p1' }),
      said('a1', { follows: 'a1' }),
    );
    expect(tree.currentPath('').values).toEqual(['p1', 'p2', 'a1']);
    expect(codes(tree)).toEqual([
      ['branch_ahead', 'p1'],
      ['branch_ahead', 'a1'],
    ]);
  });

  it('are reported for an event of another agent', () => {
    const tree = treeOf(
      { ...asked('p1'), agentId: 'ann' },
      { ...asked('b1', { follows: 'p1' }), agentId: 'ben' },
      { ...asked('b2', { retracts: ['p1'] }), agentId: 'ben' },
    );
    expect(tree.currentPath('ben').values).toEqual(['b1', 'b2']);
    expect(tree.currentPath('ann').values).toEqual(['p1']);
    expect(codes(tree)).toEqual([
      ['branch_other_agent', 'b1'],
      ['branch_other_agent', 'b2'],
    ]);
  });

  it('are reported for agents that inherit from each other, whose own events stay', () => {
    const tree = treeOf(
      begins('ann', 'ben', 'b1'),
      begins('ben', 'ann', 'a1'),
      { ...asked('a1'), agentId: 'ann' },
      { ...asked('b1'), agentId: 'ben' },
    );
    expect(tree.currentPath('ann').values).toContain('a1');
    expect(tree.currentPath('ann').isKnown).toBe(false);
    expect(codes(tree)).toContainEqual(['branch_cycle', 'made-ann']);
  });

  it('take the first of two events with one id', () => {
    const tree = treeOf(asked('p1'), said('twice'), asked('p2'), said('twice'), back('twice'), asked('p3'));
    expect(tree.currentPath('').values).toEqual(['p1', 'twice', 'p3']);
  });
});
