import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeBranchedStore } from './branched-store.ts';
import { type CommandLine, commandLine } from './command-line.ts';

let cli: CommandLine;

beforeAll(async () => {
  cli = commandLine();
  await writeBranchedStore(cli.cwd);
});

afterAll(() => cli?.[Symbol.dispose]());

async function rowsOf(...args: readonly string[]) {
  const { code, err, out } = await cli.hansard('show', ...args);
  expect([code, err]).toEqual([0, '']);
  return out.split('\n').filter((line) => /^ *\d+ {2}\d\d:\d\d:\d\d/.test(line));
}

async function positionsOf(...args: readonly string[]) {
  const { code, err, json } = await cli.hansard('show', ...args, '--json');
  expect([code, err]).toEqual([0, '']);
  return (json() as { position?: number }[]).flatMap(({ position }) => position ?? []);
}

it('says in show, tree and reports that a rewind was requested and that nothing has followed it yet', async () => {
  using own = commandLine();
  const id = (number: number) => `aa00000${number}-0000-4000-8000-000000000000`;
  const row = (number: number, role: 'user' | 'assistant', content: unknown) => ({
    ...{ type: role, uuid: id(number), parentUuid: number === 1 ? null : id(number - 1), sessionId: id(9) },
    ...{ timestamp: `2026-03-01T09:30:0${number}.000Z`, cwd: '/bakery', message: { role, content } },
  });
  const asked = [
    row(1, 'user', 'Bake.'),
    row(2, 'assistant', [{ type: 'text', text: 'Rye?' }]),
    row(3, 'user', 'No.'),
  ];
  const importedWith = async (leafUuid: string | null) => {
    const marker = { type: 'last-prompt', leafUuid, rewound: true, sessionId: id(9) };
    const text = [...asked, marker].map((record) => `${JSON.stringify(record)}\n`).join('');
    writeFileSync(join(own.cwd, 'session.jsonl'), text);
    expect((await own.hansard('import', 'session.jsonl')).code).toBe(0);
    const show = await own.hansard('show', 'latest');
    const tree = await own.hansard('tree', 'latest');
    const report = await own.hansard('export', 'latest', '--as', 'markdown');
    return [show.out, tree.out, report.out];
  };
  for (const out of await importedWith(id(2)))
    expect(out).toContain(`a rewind to ${id(2)} was requested; nothing has followed it yet`);
});

describe('hansard show of a session with branches', () => {
  it('prints each branch that is not current as one row, with its size, why it was left and its address', async () => {
    const rows = await rowsOf('D1');
    expect(rows.filter((row) => row.includes('branch'))).toEqual([
      '   3  09:33:00  branch  ▸ 2 prompts, 7 events, abandoned by a rewind; it ends with 9',
      '  16  09:46:00  branch  ▸ 1 prompt, 2 events, a parallel branch (a second program); it ends with 17',
    ]);
    expect(rows.filter((row) => row.includes('retracted'))).toEqual([
      '  19  09:49:00  text  retracted  Twenty minutes.',
    ]);
    expect(await positionsOf('D1')).toEqual([0, 1, 3, 10, 11, 12, 14, 16, 18, 19, 20, 21]);
  });

  it('opens them all with --full, and the one in which an address is', async () => {
    expect(await positionsOf('D1', '--full')).toEqual([
      0, 1, 3, 4, 6, 8, 9, 10, 11, 12, 14, 16, 17, 18, 19, 20, 21,
    ]);
    expect(await positionsOf('D1', '6', '-n', '3')).toEqual([6, 8, 9]);
  });

  it('folds a branch that begins with the log, unless its first event is named', async () => {
    expect(await positionsOf('D3')).toEqual([0, 2, 3]);
    expect(await rowsOf('D3')).toHaveLength(3);
    expect(await positionsOf('D3', '0')).toEqual([0, 1, 2, 3]);
  });

  it('prints one branch from its beginning with --branch, as rows, events and JSON', async () => {
    const rows = await rowsOf('D1', '--branch', '9');
    expect(rows.map((row) => row.slice(0, 4).trim())).toEqual(['0', '1', '3', '4', '6', '8', '9']);
    expect(rows.at(-1)).toBe('   9  09:39:00  text  abandoned  Poppy seeds, then.');
    expect(await positionsOf('D1', '--branch', 't2')).toEqual([0, 1, 3, 4, 6]);
    const { out } = await cli.hansard('show', 'D1', '--branch', '17', '--raw');
    expect(out.match(/^ *\d+/gm)?.map(Number)).toEqual([0, 1, 2, 10, 11, 12, 13, 14, 15, 16, 17]);
    expect(await positionsOf('D1', '--branch', '17', '-n', '2')).toEqual([16, 17]);
  });

  it('shows what passes a filter wherever it is', async () => {
    expect(await rowsOf('D1', '--text', 'seeds')).toEqual([
      '   8  09:38:00  message  from user  abandoned  Add seeds.',
      '   9  09:39:00  text  abandoned  Poppy seeds, then.',
    ]);
    expect(await positionsOf('D1', '--branch', '17', '--tool', 'weigh')).toEqual([12]);
  });

  it('prints the head that a fork repeats as one row', async () => {
    const rows = await rowsOf('D2');
    expect(rows[1]).toBe('   1  09:30:00  copies  ▸ the first 3 events are those of D1');
    expect(rows).toHaveLength(4);
  });

  it('refuses --branch with a replay, and an address that is not there', async () => {
    expect((await cli.hansard('show', 'D1', '--branch', '9', '--speed', '2')).code).toBe(2);
    const { code, err, out } = await cli.hansard('show', 'D1', '--branch', '99');
    expect([code === 0, out]).toEqual([false, '']);
    expect(err).toContain('the position of its last event is 21');
  });
});

describe('beside hansard show', () => {
  it('tree prints the branches with their addresses, and forks beside the session, not as workers', async () => {
    const { code, out } = await cli.hansard('tree', 'D1');
    expect(code).toBe(0);
    expect(out).toContain('D2 was forked from D1\n');
    // The sizes are those of the rows that show prints for them.
    for (const line of [
      /branch 21 +current +3 prompts, \d+ events/,
      /branch 9 +abandoned +2 prompts, 7 events +from 1/,
      /branch 17 +parallel +1 prompt, 2 events/,
    ])
      expect(out).toMatch(line);
    const [{ sessions, agents }] = (await cli.hansard('tree', 'D2', '--json')).json() as [
      { sessions: { envelope: { dispatchId: string }; children: [] }[]; agents: object[] },
    ];
    expect(sessions.map(({ envelope }) => envelope.dispatchId).sort()).toEqual(['D1', 'D2']);
    expect(sessions.flatMap(({ children }) => children)).toEqual([]);
    expect(agents).toHaveLength(1);
  });

  it('usage counts a named session without its forks, and says so', async () => {
    const { out, err } = await cli.hansard('usage', 'D1', '--json');
    expect(err).toBe('hansard: Not counted here: D2 was forked from D1.\n');
    expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toMatchObject({ total: true, dispatches: 1 });
  });
});

const mapping = {
  turn: { events: ['game:*'] },
  gameEvents: { events: ['game:*'] },
  actions: { vote: { type: 'VOTE', payload: { target: 'target' } } },
};

it('judge pack leaves the head of a native fork to the packets of its origin', async () => {
  using own = commandLine();
  const store = openDispatchStore(openJsonFileStore({ root: join(own.cwd, '.projects') }));
  const votes = (id: string, target: string): NewEvent[] => {
    const call = { toolCallId: id, tool: 'vote', metadata: {} };
    return [
      { id, agentId: 'a1', ...newEvent('agent:tool_call', { ...call, input: { target } }) },
      { id: `${id}-r`, agentId: 'a1', ...newEvent('agent:tool_result', { ...call, status: 'completed' }) },
    ];
  };
  const head = [
    { id: 'c1', agentId: 'a1', ...newEvent('agent:created', { name: 'Ada' }) },
    ...votes('t1', 'wheat'),
  ];
  const from = { product: 'hansard', sessionId: 'S1', dispatchId: 'S1', recordId: 't1-r' };
  const forked = { id: 'f1', ...newEvent('session:fork', { from, kind: 'fork' }) };
  for (const [dispatchId, events] of [
    ['S1', [...head, ...votes('t2', 'rye')]],
    ['S2', [forked, ...head, ...votes('t3', 'spelt')]],
  ] as const) {
    const facts = { role: 'baker', fidelity: 'full' } as const;
    await using session = await store.beginDispatch('bakery/tasks/talk', { ...facts, dispatchId });
    await session.append(events);
    await session.end({ status: 'completed' });
  }
  await store.close();
  writeFileSync(join(own.cwd, 'talk.json'), JSON.stringify(mapping));
  const packed = async (session: string) => {
    const asked = ['--mapping', 'talk.json'];
    expect((await own.hansard('judge', 'pack', session, ...asked, '--out', session)).code).toBe(0);
    expect((await own.hansard('judge', 'check', session, session, ...asked)).code).toBe(0);
    const read = (name: string) => readFileSync(join(own.cwd, session, name), 'utf8');
    return [read('external.jsonl'), JSON.parse(read('external.manifest.json')).excluded.copied_events];
  };
  const [lines, copied] = await packed('S2');
  expect(lines).toContain('spelt');
  expect(lines).not.toContain('wheat');
  expect(copied).toBe(3);
  const [first, none] = await packed('S1');
  expect([first.includes('wheat'), none]).toEqual([true, 0]);
});

describe('hansard compare of two branches', () => {
  it('compares what lies on each, from the beginning, and says where they part', async () => {
    const { code, out } = await cli.hansard('compare', 'D1', '--branch', '9', '--branch', 't5');
    expect(code).toBe(0);
    const lines = out.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, '|'));
    expect(lines[0]).toBe('branch 9|branch 17|difference');
    for (const line of ['calls of models|2|2', 'calls of weigh|1|1', 'cost|$0.02|$0.02'])
      expect(lines).toContain(line);
    expect(out).toContain(
      'The first 2 things that they say and do are the same, then they differ in text:\n  branch 9: 3 ',
    );
    expect(out).toContain('  branch 17: 11 ');
  });

  it('has their addresses in its document, and no difference of a branch to itself', async () => {
    const { json } = await cli.hansard('compare', 'D1', '--branch', '17', '--branch', '17', '--json');
    expect(json()).toMatchObject([
      {
        one: { branch: { end: 17, address: 't5' }, events: 11 },
        other: { events: 11 },
        firstDifference: null,
      },
    ]);
  });

  it('takes two branches of one session, or two sessions', async () => {
    for (const words of [['D1'], ['D1', '--branch', '9'], ['D1', 'D2', '--branch', '9', '--branch', '17']])
      expect((await cli.hansard('compare', ...words)).code).toBe(2);
  });
});
