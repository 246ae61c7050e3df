import { envelope } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { type DispatchTreeNode, dispatchTree, renderDispatchTree } from '../../src/index.ts';

const analyst = envelope({ dispatchId: 'A' });
const developer = envelope({
  dispatchId: 'B',
  role: 'ts-dev',
  parentDispatchId: 'A',
  startedAt: '2026-03-01T09:30:20.000Z',
  cost: 0.02,
  usage: { inputTokens: 1_000, outputTokens: 40, turns: 2, durationMs: 500 },
});
const tester = envelope({
  dispatchId: 'C',
  role: 'tester',
  parentDispatchId: 'A',
  startedAt: '2026-03-01T09:30:10.000Z',
  completedAt: null,
  status: 'running',
  model: null,
  cost: null,
  usage: null,
});

describe('dispatchTree', () => {
  it('nests dispatches below their parents in the order of start, whatever the order of the list', () => {
    expect(shape(dispatchTree([developer, tester, analyst]))).toEqual({ A: { C: {}, B: {} } });
  });

  it('adds up the known figures of a subtree, and leaves unknown figures unknown', () => {
    const [root] = dispatchTree([analyst, developer, tester]);
    expect(root?.own).toEqual({
      costUsd: 0.15,
      estimatedUsd: null,
      unpriced: [],
      inputTokens: 300,
      outputTokens: 60,
      turns: 3,
      durationMs: 70_000,
    });
    expect(root?.subtree).toEqual({
      costUsd: 0.16999999999999998,
      estimatedUsd: null,
      unpriced: [],
      inputTokens: 1_300,
      outputTokens: 100,
      turns: 5,
      durationMs: 70_500,
    });
    expect(root?.children[0]?.subtree).toEqual({
      costUsd: null,
      estimatedUsd: null,
      unpriced: [],
      inputTokens: null,
      outputTokens: null,
      turns: null,
      durationMs: null,
    });
  });

  it('keeps a dispatch with a missing parent as a root with a note', () => {
    const [root] = dispatchTree([developer]);
    expect(root).toMatchObject({ orphan: true, envelope: { dispatchId: 'B' } });
    expect(dispatchTree([analyst])[0]?.orphan).toBe(false);
  });

  it('shows every dispatch once if the parents in bad data are cyclic', () => {
    const ring = [
      envelope({ dispatchId: 'A', parentDispatchId: 'C' }),
      envelope({ dispatchId: 'B', parentDispatchId: 'A' }),
      envelope({ dispatchId: 'C', parentDispatchId: 'B' }),
      envelope({ dispatchId: 'self', parentDispatchId: 'self' }),
    ];
    const tree = dispatchTree(ring);
    expect(shape(tree)).toEqual({ C: { A: { B: {} } }, self: {} });
    expect(tree.map(({ orphan }) => orphan)).toEqual([true, true]);
  });

  it('supports a chain of a thousand dispatches', () => {
    const chain = Array.from({ length: 1_000 }, (_, index) =>
      envelope({
        dispatchId: `d${index}`,
        parentDispatchId: index === 0 ? null : `d${index - 1}`,
        startedAt: new Date(Date.UTC(2026, 2, 1) + index).toISOString(),
        cost: 1,
      }),
    );
    const [root] = dispatchTree(chain);
    expect(root?.subtree.costUsd).toBe(1_000);
    expect(renderDispatchTree(dispatchTree(chain)).split('\n')).toHaveLength(1_001);
  });

  it('is empty for no envelopes', () => {
    expect(dispatchTree([])).toEqual([]);
    expect(renderDispatchTree([])).toBe('');
  });
});

describe('renderDispatchTree', () => {
  it('draws branches and aligned columns', () => {
    const below = envelope({
      dispatchId: 'D',
      role: 'helper',
      parentDispatchId: 'C',
      model: 'haiku',
      cost: 0.0018,
    });
    const lost = envelope({
      dispatchId: 'E',
      role: 'lost',
      parentDispatchId: 'Z',
      startedAt: '2026-03-02T00:00:00.000Z',
      completedAt: null,
    });
    expect(`\n${renderDispatchTree(dispatchTree([analyst, developer, tester, below, lost]))}\n`).toBe(`
role                       session  status     model              turns   in  out     cost  subtree  duration
product-analyst            A        completed  claude-sonnet-4-5      3  300   60    $0.15  $0.1718    1m 10s
├─ tester                  C        running    –                      –    –    –        –  $0.0018         –
│  └─ helper               D        completed  haiku                  3  300   60  $0.0018  $0.0018    1m 10s
└─ ts-dev                  B        completed  claude-sonnet-4-5      2   1K   40    $0.02    $0.02     500ms
lost (parent Z not found)  E        completed  claude-sonnet-4-5      3  300   60    $0.15    $0.15         –
`);
  });

  it('neutralises the texts of envelopes', () => {
    const hostile = envelope({ role: '\x1b[31mroot\n', model: 'a\x07' });
    expect(renderDispatchTree(dispatchTree([hostile]))).toMatch(/␛\[31mroot⏎ .* a␇ /);
  });
});

function shape(nodes: readonly DispatchTreeNode[]): Record<string, unknown> {
  return Object.fromEntries(
    nodes.map(({ envelope: { dispatchId }, children }) => [dispatchId, shape(children)]),
  );
}

describe('renderDispatchTree of many workers', () => {
  const workers = Array.from({ length: 200 }, (_, at) =>
    envelope({
      ...{ dispatchId: `W${at}`, parentDispatchId: 'A', role: at % 2 === 0 ? 'worker' : 'tester' },
      ...{ cost: 0.01, status: at === 3 ? 'crashed' : 'completed' },
    }),
  );
  const nodes = dispatchTree([analyst, ...workers]);

  it('lets equal ones share a line with their sums, and opens them by role', () => {
    const lines = renderDispatchTree(nodes, { width: 80, most: 24 }).split('\n');
    expect(lines.slice(2).map((line) => line.trim().split(/ {2,}/).slice(0, 2))).toEqual([
      ['├─ 100 × work…', 'completed'],
      ['├─ 99 × tester', 'completed'],
      ['└─ tester', 'W3'],
    ]);
    expect(lines[2]).toContain('$1.00');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    const open = renderDispatchTree(nodes, { most: 24, open: ['tester'] }).split('\n');
    expect(open.filter((line) => line.includes('tester'))).toHaveLength(100);
    expect(renderDispatchTree(nodes).split('\n')).toHaveLength(202);
  });

  it('says below the tree which dispatches are forks of others', () => {
    const from = { product: 'hansard', sessionId: 'A', dispatchId: 'A' };
    const fork = envelope({ dispatchId: 'F', forkedFrom: { from, kind: 'fork' } });
    const next = envelope({
      ...{
        dispatchId: 'N',
        forkedFrom: { from: { product: 'claude-code', sessionId: 's0' }, kind: 'resume' },
      },
    });
    const tree = dispatchTree([analyst, fork, next]);
    expect(tree).toHaveLength(3);
    expect(renderDispatchTree(tree).split('\n').slice(-2)).toEqual([
      'F was forked from A',
      'N continues claude-code s0',
    ]);
  });
});
