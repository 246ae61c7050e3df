import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderCalls } from '@hansard/prompt';
import { corpus } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { openClaudeTranscript } from '../../src/index.ts';
import { abandonedRows, rowOf, rowsBefore, treeOf } from './conversation-difference.ts';
import {
  answer,
  call,
  lines,
  outcome,
  prompt,
  readToEnd,
  readTranscript,
  record,
  text,
  uuid,
} from './transcripts.ts';

interface Truth {
  readonly lastAnswer: string;
  readonly path: readonly string[];
  readonly abandoned: readonly string[];
}

const folder = join(corpus, 'claude-tree');
const isThere = existsSync(folder);
const skipped = isThere ? '' : ' (skipped: no corpus; HANSARD_CORPUS names its folder)';
const right: Record<string, { name: string; sessions: Record<string, Truth> }> = isThere
  ? JSON.parse(readFileSync(join(folder, 'right.json'), 'utf8'))
  : {};
const cases = Object.entries(right).flatMap(([input, { name, sessions = {} }]) =>
  /^k(0\d|1[0-6]|2[0-35])$/.test(input)
    ? Object.entries(sessions).map(([session, truth]) => ({ input, name, session, truth }))
    : [],
);

async function read(input: string, session: string) {
  const [file = ''] = globSync(join(folder, input, 'p/*', `${session}.jsonl`));
  const log = await readToEnd(await openClaudeTranscript(file, { subAgents: [] }));
  return { ...log, bytes: readFileSync(file) };
}

/** The rewind that a marker at the end announces, as an event. */
function withOpen({ events, summary }: Awaited<ReturnType<typeof read>>) {
  const { openRewind } = summary;
  if (openRewind === null) return events;
  const { id, ...data } = openRewind;
  return [...events, { id, type: 'session:rewind' as const, timestamp: null, data }];
}

/** In `right.json` a result that stands before its call comes after it, and kept messages come after the summary. */
const sorted = new Set(['k06']);
const rendered = new Set(['k07']);

describe('recorded shapes of rewinds, copies and parallel programs', () => {
  it.skipIf(!isThere).each(cases)(`$input, $session: $name${skipped}`, async ({ input, session, truth }) => {
    const log = await read(input, session);
    const events = withOpen(log);
    const tree = treeOf(events);
    expect(tree.problems).toEqual([]);
    const isIn = (list: readonly string[]) => (sorted.has(input) ? list.toSorted() : list);
    if (!rendered.has(input)) expect(isIn(rowsBefore(tree, truth.lastAnswer))).toEqual(isIn(truth.path));
    expect(abandonedRows(events)).toEqual(truth.abandoned);
  });

  it.skipIf(!isThere)(`k07: the kept messages stand behind the summary${skipped}`, async () => {
    const { events } = await read('k07', 'bb070000-1111-4111-8111-111111111111');
    const compaction = events.find(({ type }) => type === 'session:compaction');
    expect(compaction?.data.keptFrom).toBe('bb070003-0000-4000-8000-000000000003');
    const call = [...renderCalls(events)].at(-1);
    expect(call?.messages.map((message) => ('text' in message ? message.text : ''))).toEqual([
      expect.stringContaining('The apples are seven.'),
      'Count the plums.',
      'Nine.',
      'Which are more?',
    ]);
  });

  it.skipIf(!isThere)(`k09: the other program's branch is parallel, not abandoned${skipped}`, async () => {
    const { events } = await read('k09', 'bb090000-1111-4111-8111-111111111111');
    const states = treeOf(events)
      .branches('')
      .map(({ state }) => state);
    expect(states.toSorted()).toEqual(['current', 'parallel']);
  });

  it.skipIf(!isThere)(`c08: the abandoned branch is not in the last prompt${skipped}`, async () => {
    const [file = ''] = globSync(join(corpus, 'field-reports/c08/p/*/*.jsonl'));
    const { events } = await readToEnd(await openClaudeTranscript(file));
    const call = [...renderCalls(events)].at(-1);
    expect(call?.messages.map((message) => ('text' in message ? message.text : ''))).toEqual([
      'Name the capital of Peru.',
      'Lima.',
      'Use spaces everywhere.',
    ]);
  });

  it.skipIf(!isThere).each(['k01', 'k02', 'k03', 'k08', 'k09'])(
    `%s, cut at every byte, gives a prefix of the events of the whole${skipped}`,
    async (input) => {
      const [session = ''] = Object.keys(right[input]?.sessions ?? {});
      const { events, bytes } = await read(input, session);
      let longest = events.length;
      for (let end = bytes.length; end > 700; end -= 1) {
        // A cut within a record changes nothing, except at its last bytes.
        if (bytes[end] !== 0x0a && bytes[end - 1] !== 0x0a && bytes[end + 1] !== 0x0a) continue;
        const part = await readTranscript(bytes.subarray(0, end));
        expect(part.events, `${end} bytes`).toEqual(events.slice(0, part.events.length));
        expect(part.events.length).toBeLessThanOrEqual(longest);
        longest = part.events.length;
      }
    },
  );
});

const rewindsOf = ({ events }: Awaited<ReturnType<typeof readTranscript>>) =>
  events.filter(({ type }) => type === 'session:rewind');

describe('a row of a transcript', () => {
  const begun = [prompt(1, 'one'), answer(2, text('a')), prompt(3, 'two'), answer(4, text('b'))];

  it('rewinds to the part of an answer that a marker names', async () => {
    const marker = { type: 'last-prompt', leafUuid: uuid(2), rewound: true, sessionId: 'session-1' };
    const log = await readTranscript(lines(...begun, marker, prompt(6, 'again', { parentUuid: uuid(2) })));
    expect(rewindsOf(log)).toMatchObject([{ id: 'line-5:rewind', data: { keptThrough: uuid(2) } }]);
    expect(log.summary.openRewind).toBeNull();
  });

  it('keeps a marker as state of the log until a row continues there', async () => {
    const marker = { type: 'last-prompt', leafUuid: null, rewound: true, sessionId: 'session-1' };
    const log = await readTranscript(lines(...begun, marker));
    expect(rewindsOf(log)).toEqual([]);
    expect(log.summary.openRewind).toEqual({ id: 'line-5:rewind', keptThrough: null });
  });

  it.each([
    ['a parent that is not in the file', prompt(6, 'x', { parentUuid: uuid(99) })],
    ['an answer below an earlier row', answer(6, text('x'), {}, { parentUuid: uuid(2) })],
    ['a message of the engine below an earlier row', prompt(6, 'x', { parentUuid: uuid(2), isMeta: true })],
    [
      'a repetition at the time of the first cut prompt',
      { ...prompt(6, 'x'), parentUuid: uuid(2), timestamp: prompt(3, '').timestamp ?? null },
    ],
    [
      'a prompt without a parent of another session',
      prompt(6, 'x', { parentUuid: null, sessionId: 'session-2' }),
    ],
    ['a row of a sub-agent', prompt(6, 'x', { parentUuid: uuid(2), isSidechain: true, agentId: 'a1' })],
  ])('does not go back for %s', async (_, row) => {
    expect(rewindsOf(await readTranscript(lines(...begun, row)))).toEqual([]);
  });

  it('does not go back behind a prompt that names no parent', async () => {
    const { parentUuid: _, ...loose } = prompt(6, 'beside');
    const log = await readTranscript(lines(...begun, loose, prompt(7, 'three', { parentUuid: uuid(4) })));
    expect(rewindsOf(log)).toEqual([]);
  });

  it('keeps a marker as state only if it leaves something', async () => {
    const marker = (leafUuid: string) => ({ type: 'last-prompt', leafUuid, rewound: true, sessionId: 's' });
    const open = async (leaf: string) =>
      (await readTranscript(lines(...begun, marker(leaf)))).summary.openRewind;
    expect(await open(uuid(2))).toEqual({ id: 'line-5:rewind', keptThrough: uuid(2) });
    expect(await open(uuid(4))).toBeNull();
  });

  it('leaves what an earlier marker left, also if the row that it cuts is on a live branch', async () => {
    const marker = (leafUuid: string, cutUuid: string, lastPrompt: string) => ({
      ...{ type: 'last-prompt', leafUuid, cutUuid, lastPrompt, rewound: true, sessionId: 'session-1' },
    });
    const rows = [
      prompt(6, 'of the second program', { parentUuid: uuid(2) }),
      answer(7, text('c')),
      answer(8, text('late'), {}, { parentUuid: uuid(4) }),
      prompt(9, 'of the first program'),
      answer(10, text('d')),
      marker(uuid(7), uuid(9), 'one'),
      marker(uuid(6), uuid(7), 'two'),
      prompt(13, 'anew', { parentUuid: uuid(6) }),
    ];
    const { events } = await readTranscript(lines(...begun, ...rows));
    expect(abandonedRows(events)).toEqual([3, 4, 8, 9, 10].map(uuid));
  });

  it('goes back to the last part of a record that has several', async () => {
    const parts = answer(2, text('a'), { content: [text('a'), text('b')] });
    const rows = [prompt(1, 'one'), parts, prompt(3, 'two'), prompt(4, 'again', { parentUuid: uuid(2) })];
    expect(rewindsOf(await readTranscript(lines(...rows)))).toMatchObject([
      { data: { keptThrough: `${uuid(2)}.1` } },
    ]);
  });

  it('does not go back to nothing where another session begins with a row of the engine', async () => {
    const other = { sessionId: 'session-2', parentUuid: null };
    const first = record(6, { type: 'attachment', attachment: { type: 'x' }, ...other });
    const rows = [first, prompt(7, 'x', { ...other, parentUuid: uuid(6) })];
    expect(rewindsOf(await readTranscript(lines(...begun, ...rows)))).toEqual([]);
    const same = rows.map((row) => ({ ...row, sessionId: 'session-1' }));
    expect(rewindsOf(await readTranscript(lines(...begun, ...same)))).toHaveLength(1);
  });

  it('does not go back to nothing where no answer names its parent', async () => {
    const rows = begun.map((row) => ({ ...row, parentUuid: null }));
    expect(rewindsOf(await readTranscript(lines(...rows)))).toEqual([]);
  });

  it('rewinds from where a marker went that no row has followed, and leaves what that one left', async () => {
    const marker = (leaf: string, cut: string, lastPrompt: string) => ({
      ...{
        type: 'last-prompt',
        leafUuid: leaf,
        cutUuid: cut,
        lastPrompt,
        rewound: true,
        sessionId: 'session-1',
      },
    });
    const rows = [
      marker(uuid(2), uuid(3), 'one'),
      prompt(5, 'again', { parentUuid: uuid(2) }),
      answer(6, text('c')),
      marker(uuid(4), uuid(5), 'two'),
      marker(uuid(3), uuid(4), 'three'),
      prompt(9, 'on', { parentUuid: uuid(3) }),
    ];
    const { events } = await readTranscript(lines(...begun, ...rows));
    expect(abandonedRows(events)).toEqual([uuid(4), uuid(5), uuid(6)]);
  });

  it('leaves the current branch if the first row that a marker cuts is on a branch that was left before', async () => {
    const kept = { anchorUuid: uuid(8), uuids: [1, 2, 3, 4].map(uuid) };
    const marker = { type: 'last-prompt', leafUuid: uuid(4), cutUuid: uuid(5), rewound: true };
    const rows = [
      record(5, { type: 'attachment', attachment: { type: 'hook_success' } }),
      prompt(6, 'three'),
      answer(7, text('c')),
      record(8, {
        ...{ type: 'system', subtype: 'compact_boundary', parentUuid: null },
        compactMetadata: { trigger: 'manual', durationMs: 0, preservedMessages: kept },
      }),
      prompt(9, 'four'),
      answer(10, text('d')),
      { ...marker, sessionId: 'session-1' },
      prompt(12, 'again', { parentUuid: uuid(4) }),
    ];
    const { events } = await readTranscript(lines(...begun, ...rows));
    expect(abandonedRows(events)).toEqual([6, 7, 9, 10].map(uuid));
  });

  it('goes back to a result that a rewind into its turn has left', async () => {
    const calls = [2, 3].map((number) =>
      answer(number, call(`call-${number}`, 'Read', {}), { id: 'msg_calls' }),
    );
    const results = [2, 3].map((number) =>
      outcome(number + 2, `call-${number}`, 'x', { parentUuid: uuid(number) }),
    );
    const rows = [
      answer(6, text('a')),
      { type: 'last-prompt', leafUuid: uuid(3), cutUuid: uuid(4), rewound: true, sessionId: 'session-1' },
      prompt(8, 'again', { parentUuid: uuid(3) }),
      answer(9, text('b')),
      prompt(10, 'once more', { parentUuid: uuid(4) }),
      answer(11, text('c')),
    ];
    const { events } = await readTranscript(lines(prompt(1, 'one'), ...calls, ...results, ...rows));
    expect(rowsBefore(treeOf(events), uuid(11))).toEqual([1, 2, 3, 4, 10].map(uuid));
  });

  it('goes back to a part of an answer on a branch that was left, though no prompt came after that answer', async () => {
    const rows = [
      answer(3, text('b'), { id: 'msg_2' }),
      prompt(4, 'anew', { parentUuid: null }),
      answer(5, text('c')),
      prompt(6, 'back', { parentUuid: uuid(2) }),
      answer(7, text('d')),
    ];
    const { events } = await readTranscript(lines(...begun.slice(0, 2), ...rows));
    expect(rowsBefore(treeOf(events), uuid(7))).toEqual([1, 2, 6].map(uuid));
  });

  it('goes back to nothing where a prompt has named its parent, and none was answered', async () => {
    const log = await readTranscript(
      lines(prompt(1, 'one'), prompt(2, 'two'), prompt(3, 'anew', { parentUuid: null })),
    );
    expect(rewindsOf(log)).toMatchObject([{ data: { keptThrough: null } }]);
  });

  it('of a background task follows the branch of its parent', async () => {
    const rows = [
      prompt(6, 'again', { parentUuid: uuid(2) }),
      prompt(7, 'late', { parentUuid: uuid(4), isMeta: true }),
    ];
    const { events } = await readTranscript(lines(...begun, ...rows));
    expect(events.find(({ id }) => id === uuid(7))?.follows).toBe(uuid(4));
    expect(abandonedRows(events)).toEqual([uuid(3), uuid(4), uuid(7)]);
  });

  it.each([true, false])('goes back to the summary of a compaction (with a marker: %s)', async (isMarked) => {
    const marker = { type: 'last-prompt', leafUuid: uuid(6), cutUuid: uuid(7), rewound: true };
    const rows = [
      record(5, {
        ...{ type: 'system', subtype: 'compact_boundary', parentUuid: null, logicalParentUuid: uuid(4) },
        compactMetadata: { trigger: 'manual', preTokens: 9 },
      }),
      prompt(6, 'All before, in short.', { isCompactSummary: true }),
      prompt(7, 'three'),
      answer(8, text('c')),
      ...(isMarked ? [{ ...marker, sessionId: 'session-1' }] : []),
      prompt(10, 'again', { parentUuid: uuid(6) }),
      answer(11, text('d'), { stop_reason: 'end_turn' }),
    ];
    const { events } = await readTranscript(lines(...begun, ...rows));
    expect(abandonedRows(events)).toEqual([uuid(7), uuid(8)]);
    const call = [...renderCalls(events)].at(-1);
    expect(call?.messages.map((message) => ('text' in message ? message.text : ''))).toEqual([
      expect.stringContaining('All before, in short.'),
      'again',
    ]);
  });

  it('goes back to the summary of a compaction from a row that the compaction kept', async () => {
    const preservedMessages = { anchorUuid: uuid(6), uuids: [3, 4].map(uuid) };
    const rows = [
      record(5, {
        ...{ type: 'system', subtype: 'compact_boundary', parentUuid: null, logicalParentUuid: uuid(4) },
        compactMetadata: { trigger: 'auto', preTokens: 9, durationMs: 5, preservedMessages },
      }),
      prompt(6, 'All before, in short.', { isCompactSummary: true }),
      prompt(7, 'three'),
      answer(8, text('c')),
      prompt(9, 'again', { parentUuid: uuid(4) }),
    ];
    const log = await readTranscript(lines(...begun, ...rows));
    expect(rewindsOf(log)).toMatchObject([{ data: { keptThrough: uuid(6) } }]);
  });

  it('does not follow a marker if it is the boundary of a compaction', async () => {
    const marker = { type: 'last-prompt', leafUuid: null, rewound: true, sessionId: 'session-1' };
    const boundary = record(6, {
      ...{ type: 'system', subtype: 'compact_boundary', parentUuid: null, logicalParentUuid: uuid(4) },
      compactMetadata: { trigger: 'auto', preTokens: 9 },
    });
    const log = await readTranscript(lines(...begun, marker, boundary));
    expect([rewindsOf(log), log.summary.openRewind?.keptThrough]).toEqual([[], null]);
  });

  it('takes a marker back if it goes back elsewhere, also if the marker is written again', async () => {
    const marker = { type: 'last-prompt', leafUuid: uuid(2), rewound: true, sessionId: 'session-1' };
    const log = await readTranscript(
      lines(...begun, marker, prompt(6, 'anew', { parentUuid: null }), answer(7, text('c')), marker),
    );
    expect([rewindsOf(log), log.summary.openRewind]).toMatchObject([[{ data: { keptThrough: null } }], null]);
  });

  it('goes back below a record whose parent is not in the file', async () => {
    const rows = [
      record(6, { type: 'attachment', attachment: { type: 'x' }, parentUuid: uuid(99) }),
      prompt(7, 'on', { parentUuid: uuid(6) }),
      prompt(8, 'again', { parentUuid: uuid(6) }),
    ];
    const { events } = await readTranscript(lines(...begun, ...rows));
    expect(abandonedRows(events)).toEqual([uuid(7)]);
  });

  it('reports each of two rows that name each other as their parents, and does not go back', async () => {
    const rows = [prompt(6, 'one', { parentUuid: uuid(7) }), prompt(7, 'other', { parentUuid: uuid(6) })];
    const log = await readTranscript(lines(...begun, ...rows, answer(8, text('c'))));
    expect([rewindsOf(log), log.summary.counts]).toEqual([[], { reference_cycle: 1 }]);
    expect(rowsBefore(treeOf(log.events), uuid(8))).toEqual([1, 2, 3, 4, 6, 7].map(uuid));
  });

  it('can rewind a conversation whose parents form a cycle or repeat', async () => {
    const rows = [
      prompt(6, 'self', { parentUuid: uuid(6) }),
      record(7, { type: 'system', subtype: 'x', parentUuid: uuid(6) }),
    ];
    const log = await readTranscript(lines(...begun, ...rows, prompt(8, 'on', { parentUuid: uuid(2) })));
    expect(rewindsOf(log)).toMatchObject([{ data: { keptThrough: uuid(2) } }]);
    expect(log.summary.counts).toEqual({ reference_cycle: 1 });
  });
});

/** A second counter: prompts with a later sibling below the same prompt or answer, and what hangs below them and came earlier. */
function abandonedIn(source: string): string[] {
  type Row = { uuid: string; parentUuid?: string | null; type: string; at: number; [key: string]: unknown };
  const rows = new Map<string, Row>();
  for (const line of source.split('\n')) {
    try {
      const row = JSON.parse(line) as Row;
      if (row.isSidechain === false && typeof row.uuid === 'string' && !rows.has(row.uuid))
        rows.set(row.uuid, { ...row, at: rows.size });
    } catch {}
  }
  const contentOf = (row: Row) => (row.message as { content?: unknown } | undefined)?.content;
  const isPrompt = (row: Row) => {
    const words = JSON.stringify(contentOf(row) ?? '');
    if (row.type !== 'user' || row.isMeta === true || row.isCompactSummary === true) return false;
    return !/"tool_result"|^"?(\[\{"type":"text","text":)?"?(<(local-|bash-|task-|command-)|\[Request)/.test(
      words,
    );
  };
  const saidAbove = (row: Row): string | null => {
    for (let up = rows.get(row.parentUuid ?? ''); up !== undefined; up = rows.get(up.parentUuid ?? ''))
      if (up.type === 'assistant' || isPrompt(up) || up.isCompactSummary === true) return up.uuid;
    return null;
  };
  const prompts = [...rows.values()].filter(isPrompt);
  const bySaid = Map.groupBy(
    prompts.filter((row) => rows.has(row.parentUuid ?? '')),
    saidAbove,
  );
  const cut = new Map<string, number>();
  for (const siblings of bySaid.values())
    for (const [n, row] of siblings.entries()) {
      const next = siblings[n + 1];
      if (next !== undefined && next.timestamp !== row.timestamp) cut.set(row.uuid, next.at);
    }
  return prompts
    .filter((row) => {
      for (let up: Row | undefined = row; up !== undefined; up = rows.get(up.parentUuid ?? ''))
        if ((cut.get(up.uuid) ?? -1) > row.at) return true;
      return false;
    })
    .map(({ uuid }) => uuid);
}

describe('the corpus', () => {
  const transcripts = isThere
    ? globSync('{claude-transcripts,field-reports,claude-tree/k0[1256]}/**/*.jsonl', { cwd: corpus }).filter(
        (file) => !/c41|subagents|journal/.test(file),
      )
    : [];

  it.skipIf(!isThere)(
    `has the abandoned prompts of a second counter, and no abandoned compaction${skipped}`,
    async () => {
      const found: Record<string, number> = {};
      for (const file of transcripts) {
        const { events } = await readToEnd(await openClaudeTranscript(join(corpus, file), { subAgents: [] }));
        const abandoned = new Set(abandonedRows(events));
        const prompts = events.filter(
          (event) => event.type === 'user:message' && abandoned.has(rowOf(event)),
        );
        const counted = abandonedIn(readFileSync(join(corpus, file), 'utf8'));
        expect(
          prompts.map(({ id }) => id),
          file,
        ).toEqual(counted);
        if (counted.length > 0) found[file] = counted.length;
        if (file.startsWith('claude-transcripts'))
          expect(events.filter(({ id, type }) => type === 'session:compaction' && abandoned.has(id))).toEqual(
            [],
          );
      }
      expect(transcripts.length).toBeGreaterThan(25);
      expect(found).toEqual(
        Object.fromEntries(transcripts.filter((file) => /k01|k02|c08/.test(file)).map((file) => [file, 1])),
      );
    },
  );
});
