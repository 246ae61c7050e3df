import type { CapturedEvent, JsonObject } from '@hansard/events';
import { anyEvent, event, randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  type AgentTreeNode,
  agentTree,
  createLogIndex,
  readAgentTree,
  renderAgentTree,
} from '../../src/index.ts';
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

describe('the model and the depth of an agent', () => {
  const infers = (id: string, agentId: string, model: string) =>
    event('agent:inference', { model, usage: { inputTokens: 1, outputTokens: 1 } }, { id, agentId });
  const meta = (agent: string, metadata: JsonObject) =>
    anyEvent('system:agent_metadata', { agent, file: 'f', metadata });
  const events = [
    event('agent:created', { name: 'Ann', languageModel: 'given' }, { id: 'e1', agentId: 'ann' }),
    created('e2', 'ben', 'Ben'),
    infers('e3', 'ann', 'other'),
    infers('e4', 'ben', 'opus'),
    infers('e5', 'ben', 'haiku'),
    infers('e6', 'ben', 'opus'),
    meta('ben', { spawnDepth: 1 }),
    meta('ben', { spawnDepth: 2, name: 'Ben' }),
    meta('ann', { spawnDepth: 'deep' }),
  ];

  it('are those that it was created with, of its calls, and that its product states', () => {
    const tree = agentTree(createLogIndex(events));
    expect(tree.map(({ models, depth }) => [models, depth])).toEqual([
      [['other'], null],
      [['opus', 'haiku'], 2],
    ]);
    expect(
      renderAgentTree(tree)
        .split('\n')
        .map((line) => line.replaceAll(/ {2,}/g, '|')),
    ).toEqual(['Ann|ann|given|0 messages', 'Ben|ben|opus, haiku|0 messages|depth 2']);
  });

  it('are known of a call that only the envelope has', async () => {
    const call = { model: 'sonnet', calls: 1, inputTokens: 1, outputTokens: 1 };
    const openCalls = [{ id: 'c1', agentId: 'cleo', timestamp: null, usage: call, prices: null }];
    const log = {
      envelope: { openCalls },
      async *pages() {
        yield { events: [...events, created('e9', 'cleo', 'Cleo')] };
      },
    };
    const { agents } = await readAgentTree(log);
    expect(agents.map(({ models }) => models)).toEqual([['other'], ['opus', 'haiku'], ['sonnet']]);
  });
});

describe('branches of an agent', () => {
  const asked = (id: string, text: string, follows?: string) => ({
    ...event('user:message', { text, source: { kind: 'user' } }, { id }),
    ...(follows === undefined ? {} : { follows }),
  });
  const events = [
    asked('p1', 'Bake'),
    asked('p2', 'Wheat'),
    event('session:rewind', { keptThrough: 'p1' }, { id: 'r1' }),
    asked('p3', 'Rye'),
    asked('p4', 'How long?', 'p1'),
  ];

  it('are below it, each with the position of its last event, and what it has beside the current one', () => {
    const [root] = agentTree(createLogIndex(events));
    expect(root?.branches.map(({ state, address, end, from }) => [state, address, end, from])).toEqual([
      ['current', 'p4', 4, null],
      ['abandoned', 'p2', 1, 0],
      ['parallel', 'p3', 3, 0],
    ]);
    expect(renderAgentTree(agentTree(createLogIndex(events))).split('\n')).toEqual([
      'dispatched agent    –          4 messages',
      '├─ branch 4         current    2 prompts, 3 events',
      '├─ branch 1         abandoned  1 prompt, 1 event    from 0',
      '└─ branch 3         parallel   1 prompt, 1 event    from 0',
    ]);
    expect(agentTree(createLogIndex(events.slice(0, 2)))[0]?.branches).toEqual([]);
  });
});

describe('many agents', () => {
  const events = [
    created('e0', 'lead', 'Lead'),
    ...Array.from({ length: 200 }, (_, at) => [
      calls(`c${at}`, 'lead', `t${at}`, 'task'),
      created(`a${at}`, `agent-${at}`, at % 3 === 0 ? `Agent ${at}` : 'Explore', { cause: `c${at}` }),
    ]).flat(),
  ];
  const nodes = agentTree(createLogIndex(events));

  it('share lines with equal ones, as many as are needed, and have their own where their name is open', () => {
    const lines = renderAgentTree(nodes, { width: 80, most: 50 }).split('\n');
    expect(lines.map((line) => line.replaceAll(/ {2,}/g, '|'))).toEqual([
      'Lead|lead|–|200 messages',
      '├─ 67 agents|–|0 messages',
      '└─ 133 × Explore|–|0 messages',
    ]);
    expect(renderAgentTree(nodes).split('\n')).toHaveLength(201);
    const open = renderAgentTree(nodes, { width: 80, most: 50, open: ['Explore'] }).split('\n');
    expect(open.filter((line) => line.includes('Explore'))).toHaveLength(133);
  });

  it('with branches share lines too if there are many of them, and an open name has its branches', () => {
    const branched = [
      ...events,
      ...Array.from({ length: 40 }, (_, at) => [
        event('user:message', { text: 'Bake', source: { kind: 'user' } }, { agentId: `agent-${at}` }),
        event('session:rewind', { keptThrough: null }, { agentId: `agent-${at}` }),
        event('user:message', { text: 'Rest', source: { kind: 'user' } }, { agentId: `agent-${at}` }),
      ]).flat(),
    ];
    const tree = agentTree(createLogIndex(branched));
    const lines = renderAgentTree(tree, { most: 50 }).split('\n');
    expect(lines.map((line) => line.replaceAll(/ {2,}/g, '|'))).toEqual([
      'Lead|lead|–|200 messages',
      '├─ 14 agents|–|28 messages|(28 branches)',
      '├─ 26 × Explore|–|52 messages|(52 branches)',
      '├─ 107 × Explore|–|0 messages',
      '└─ 53 agents|–|0 messages',
    ]);
    const open = renderAgentTree(tree, { most: 50, open: ['agent-1'] }).split('\n');
    expect(open).toHaveLength(lines.length + 3);
    expect(open.join('\n')).toContain('branch 404');
  });

  it('are at most as many lines as asked, in chains, too', () => {
    const chain = Array.from({ length: 300 }, (_, at) => [
      created(`a${at}`, `agent-${at}`, `Agent ${at}`, at === 0 ? {} : { cause: `c${at}` }),
      calls(`c${at + 1}`, `agent-${at}`, `t${at}`, 'task'),
    ]).flat();
    const lines = renderAgentTree(agentTree(createLogIndex(chain)), { most: 50 }).split('\n');
    expect(lines).toHaveLength(50);
    expect(lines.at(-1)).toBe('… 251 more agents and branches; --full prints all');
  });
});

/** A log in which nearly everything is wrong: repeated and shared ids, references to anything, agents without an end, unreadable data. */
function wrongLog(random: () => number, count: number): CapturedEvent[] {
  const pick = <T>(...of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const id = () => `e${Math.floor(random() * count * 1.5)}`;
  const agent = () => (random() < 0.2 ? {} : { agentId: `a${Math.floor(random() * 8)}` });
  const perhaps = <T extends object>(chance: number, links: T) => (random() < chance ? links : {});
  return Array.from({ length: count }, () => {
    const own = id();
    const links = {
      ...{ id: own, ...agent() },
      ...perhaps(0.4, { messageId: pick(own, id(), 'm1', 'm2') }),
      ...perhaps(0.4, { cause: pick<string | string[]>(id(), [id(), id()], 'm1', 'nowhere') }),
      ...perhaps(0.1, { follows: id() }),
      ...perhaps(0.1, { substance: id() }),
    };
    const { data, type } = pick<Pick<CapturedEvent, 'type' | 'data'>>(
      { type: 'agent:created', data: { name: pick('Ann', 'Ben'), ...perhaps(0.1, { hook: 'x' }) } },
      { type: 'agent:terminated', data: {} },
      { type: 'agent:revived', data: {} },
      { type: 'agent:text', data: { text: 'Bread' } },
      { type: 'agent:thinking', data: { text: 'Bread?' } },
      { type: 'agent:tool_call', data: { tool: 'bake', toolCallId: id(), metadata: {} } },
      { type: 'agent:tool_call', data: { tool: 7 } },
      { type: 'agent:given', data: { role: 'assistant', text: 'Rye' } },
      { type: 'user:message', data: { text: 'Bake', source: { kind: 'user' } } },
      { type: 'session:rewind', data: { keptThrough: pick(null, id()) } },
      { type: 'system:note', data: {} },
    );
    return anyEvent(type, data, links);
  });
}

it('reads the same trees and diagnostics page by page as from a whole index', async () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = randomFrom(seed);
  const reads = { once: 0, twice: 0 };
  for (let round = 0; round < 300; round += 1) {
    let read = 0;
    const branched = random() < 0.5;
    const isStraight = random() < 0.3;
    const events = wrongLog(random, 5 + Math.floor(random() * 60)).map((one) => {
      const { follows: _, ...straight } = one;
      return isStraight && one.type !== 'session:rewind' ? straight : one;
    });
    async function* pages() {
      read += 1;
      for (let at = 0; at < events.length; ) {
        const end = at + 1 + Math.floor(random() * 20);
        yield { events: events.slice(at, end) };
        at = end;
      }
    }
    const index = createLogIndex(events);
    const source = branched ? { pages, envelope: { openCalls: null, branched } } : { pages };
    expect(await readAgentTree(source), `seed ${seed}, round ${round}`).toEqual({
      agents: agentTree(index),
      diagnostics: index.diagnostics,
    });
    if (branched) reads[read === 1 ? 'once' : 'twice'] += 1;
  }
  expect(reads.once).toBeGreaterThan(30);
});
