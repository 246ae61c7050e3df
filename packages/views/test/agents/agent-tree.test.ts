import { describe, expect, it } from 'vitest';
import { type AgentTreeNode, agentTree, createLogIndex, renderAgentTree } from '../../src/index.ts';
import { calls, created, marketLog, says } from '../market-log.ts';

function shape(nodes: readonly AgentTreeNode[]): unknown[] {
  return nodes.map(({ agent, children }) => [agent.agentId, shape(children)]);
}

describe('agentTree', () => {
  it('puts each agent below the agent whose call created it', () => {
    expect(shape(agentTree(createLogIndex(marketLog())))).toEqual([
      [
        'olga',
        [
          ['ben', []],
          ['ann', [['inner', []]]],
          ['carl', []],
        ],
      ],
    ]);
  });

  it('has every agent once, including when bad data has agents that created each other', () => {
    const index = createLogIndex([
      created('e1', 'ann', 'Ann', { cause: 'e4' }),
      created('e2', 'ben', 'Ben', { cause: 'e3' }),
      calls('e3', 'ann', 'c1', 'task'),
      calls('e4', 'ben', 'c2', 'task'),
      created('e5', 'carl', 'Carl', { cause: 'gone' }),
    ]);
    const tree = agentTree(index);
    expect(shape(tree)).toEqual([
      ['ann', [['ben', []]]],
      ['carl', []],
    ]);
    expect(tree.map(({ orphan }) => orphan)).toEqual([true, true]);
  });

  it('puts an agent below one that was never created itself', () => {
    const index = createLogIndex([
      calls('e1', 'owl', 'c1', 'task'),
      created('e2', 'chick', 'Chick', { cause: 'e1' }),
      says('e3', 'chick', 'Peep'),
    ]);
    expect(renderAgentTree(agentTree(index))).toBe(
      ['owl              –  1 message  (never created)', '└─ Chick  chick  –  1 message'].join('\n'),
    );
  });

  it('marks an agent that was ended, until it is revived', () => {
    const index = createLogIndex([
      created('e1', 'ann', 'Ann'),
      { id: 'e2', type: 'agent:terminated', timestamp: '2026-03-01T09:30:00.000Z', agentId: 'ann', data: {} },
    ]);
    expect(renderAgentTree(agentTree(index))).toBe('Ann  ann  –  0 messages  (ended)');
    const revived = { type: 'agent:revived', timestamp: '2026-03-01T09:31:00.000Z', agentId: 'ann' } as const;
    const again = createLogIndex([...index.events, { ...revived, id: 'e3', data: { missed: [] } }]);
    expect(renderAgentTree(agentTree(again))).toBe('Ann  ann  –  0 messages');
  });

  it('says so if there are no agents', () => {
    expect(renderAgentTree([])).toBe('(no agents)');
  });

  it('shows the id of each agent that shares its name once', () => {
    const index = createLogIndex([created('e1', 'a1', 'Ann'), created('e2', 'a2', 'Ann')]);
    expect(renderAgentTree(agentTree(index)).split('\n')).toEqual([
      'Ann  a1  –  0 messages',
      'Ann  a2  –  0 messages',
    ]);
  });

  it('shows the dispatched agent if events name no agent', () => {
    const index = createLogIndex([says('e1', '', 'Hi')].map(({ agentId: _, ...event }) => event));
    expect(renderAgentTree(agentTree(index))).toBe('dispatched agent    –  1 message');
  });
});
