import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { columnsOf } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';
import { durableStores, recordedIn } from './durable-stores.ts';

interface Hit {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly position: number;
}

const placeOf = ({ dispatchId, position }: Hit) => `${dispatchId} ${position}`;
const hitsOf = async (line: CommandLine, ...args: string[]) =>
  ((await line.hansard('search', ...args, '--json')).json() as Hit[]).map(placeOf);

/** A session of Claude Code in four scripts, with calls, a model and a record of the harness. */
const session = [
  ['user', { role: 'user', content: '明天下午三点开项目评审会议讨论排期' }],
  ['assistant', '修改youer服务端的计划。重跑gen-itgc后清零'],
  ['user', { role: 'user', content: 'データベースの接続エラーを直して claude' }],
  ['assistant', 'ดำเนินการเสร็จสิ้นแล้ว src/lib/zip.ts'],
] as const;

function transcriptOf(): string {
  const base = { isSidechain: false, userType: 'external', cwd: '/srv/shop', version: '2.1.260' };
  const lines = session.map(([type, content], at) => {
    const uuid = `c4000000-0000-4000-8000-00000000000${at}`;
    const usage = { input_tokens: 10, output_tokens: 5 };
    const parts = [
      { type: 'text', text: content },
      ...(at === 3 ? [{ type: 'tool_use', id: 'toolu_01Ibis', name: 'Bash', input: { command: 'ls' } }] : []),
    ];
    const model = 'claude-sonnet-4-5-20250929';
    const answer = {
      id: `msg_${at}`,
      role: 'assistant',
      model,
      content: parts,
      stop_reason: 'end_turn',
      usage,
    };
    const timestamp = `2026-11-20T10:00:0${at}.000Z`;
    const message = typeof content === 'string' ? answer : content;
    return { ...base, type, uuid, sessionId: 'c4000000-1111-4111-8111-111111111111', timestamp, message };
  });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

async function importedIn(store: (typeof durableStores)[number]): Promise<CommandLine> {
  const line = await recordedIn(store);
  const folder = join(line.cwd, 'p/-srv-shop');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'c4000000-1111-4111-8111-111111111111.jsonl'), transcriptOf());
  expect(await line.hansard('import', 'p')).toMatchObject({ code: 0 });
  return line;
}

describe.each(durableStores)('a search of an import in a $name store', (store) => {
  it('finds words of scripts without spaces, ids of calls, and a text that begins with a dash', async () => {
    using line = await importedIn(store);
    for (const query of ['项目', '接続エラー', 'เสร็จ', 'youer', '清零', '- 项目'])
      expect(await hitsOf(line, query), query).toHaveLength(1);
    expect(await hitsOf(line, 'toolu_01Ibis')).toHaveLength(1);
    const { out } = await line.hansard('search', '项目评审');
    expect(out).toContain('项目评审会议');
  });

  it('prints names of models and records of the harness only when they are asked for', async () => {
    using line = await importedIn(store);
    const talk = await line.hansard('search', 'claude', '--json');
    expect((talk.json() as { event: { type: string } }[]).map(({ event }) => event.type)).toEqual([
      'user:message',
    ]);
    expect(talk.err).toMatch(/more hits in records of the harness and names of models: --records/);
    expect((await hitsOf(line, 'claude', '--records')).length).toBeGreaterThan(2);
    expect((await hitsOf(line, 'claude', '--type', 'agent:inference')).length).toBeGreaterThan(0);
    expect(await line.hansard('search', 'sonnet')).toMatchObject({ code: 1, out: '' });
  });
});

describe.each(durableStores)('a search of a $name store', (store) => {
  it('finds the events with every word, everywhere, in a task and in a dispatch', async () => {
    using line = await recordedIn(store);
    expect((await hitsOf(line, 'ITEM two')).toSorted()).toEqual(['D1FIRST 1', 'D2SECOND 1', 'D3OTHER 1']);
    expect((await hitsOf(line, 'two', 'a/one')).toSorted()).toEqual(['D1FIRST 1', 'D2SECOND 1']);
    expect(await hitsOf(line, 'item', 'a/one/FIRST')).toEqual(['D1FIRST 0', 'D1FIRST 1', 'D1FIRST 2']);
    expect(await hitsOf(line, 'item', 'a/one/latest', '--limit', '2')).toEqual(['D2SECOND 1', 'D2SECOND 2']);
  });

  it('takes the filters of other listings', async () => {
    using line = await recordedIn(store);
    expect(await hitsOf(line, 'item', 'a/one/latest', '--type', 'agent:*', '--text', 'two')).toEqual([
      'D2SECOND 1',
    ]);
    expect(await hitsOf(line, 'item', '--since', '2000-01-01', '--limit', '4')).toHaveLength(4);
    expect(await line.hansard('search', 'item', 'one', '--failed')).toMatchObject({
      code: 1,
      err: expect.stringContaining('contains "item" and passes --failed'),
    });
  });

  it('exits with 1 if nothing was found, and with 2 for a text without a word', async () => {
    using line = await recordedIn(store);
    expect(await line.hansard('search', 'walrus', 'a/one')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('No event of a/one contains "walrus".'),
    });
    expect(await line.hansard('search', '— !')).toMatchObject({
      code: 2,
      err: expect.stringContaining('has no word'),
    });
  });

  it('reports a damaged dispatch, which hides no other one', async () => {
    using line = await recordedIn(store);
    store.replaceInEvent(line.cwd, { dispatchId: 'D1FIRST', from: 'item two', to: 'item ten' });
    const { code, err, out } = await line.hansard('search', 'two', '--json');
    expect([code, err]).toEqual([3, expect.stringContaining('D1FIRST')]);
    // An index looks into no other events than its hits.
    if (store.name === 'JSON-file') expect(out.trim().split('\n')).toHaveLength(2);
  });
});

/** A JSON-file store with one dispatch of these texts. */
async function recorded(...texts: readonly string[]): Promise<CommandLine> {
  const line = commandLine();
  writeFileSync(join(line.cwd, 'hansard.config.json'), '{}');
  await using store = openDispatchStore(durableStores[0].open(line.cwd));
  const dispatch = await store.beginDispatch('a/tasks/one', { role: 'worker', title: 'Look for it' });
  await dispatch.append(texts.map((text) => newEvent('agent:text', { text })));
  await dispatch.end({ status: 'completed' });
  return line;
}

const esc = String.fromCharCode(27);

describe('the hits of a search', () => {
  it('have the position, and the words in colours on a terminal of any width, and nothing else that is not text', async () => {
    const long = 'word '.repeat(400);
    using line = await recorded(
      `${long}the Fóx ${long}`,
      `a ${esc}[31m fox ${esc}[0m\nin 狐狐狐 ${long}`,
      'nothing',
    );
    for (const columns of [60, 80, 140]) {
      const { out } = await line.start(['search', 'fox'], { signal: new AbortController().signal, columns });
      expect(out).toMatch(new RegExp(`${esc}\\[33m(?:Fóx|fox)${esc}\\[39m`));
      // The escapes of the text are made visible.
      expect(out).not.toContain(`${esc}[31m`);
      const plain = out.replaceAll(new RegExp(`${esc}\\[\\d+m`, 'g'), '');
      const lines = plain.trimEnd().split('\n');
      expect(lines[0]).toMatch(/^a\/one {2}\S+ {2}worker {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}"Look for it"$/);
      expect(lines.slice(1).map((text) => text.trim().split(' ')[0])).toEqual(['0', '1']);
      for (const text of lines) expect(columnsOf(text)).toBeLessThanOrEqual(columns);
    }
    const { out } = await line.hansard('search', 'fox');
    expect(out).not.toContain(esc);
    // Other commands take the position with which a hit begins.
    const place = /^ {2}(\d+) {2}.*Fóx/m.exec(out)?.[1] ?? '';
    expect((await line.hansard('show', 'a/one', place, '-n', '1', '--raw', '--json')).json()).toMatchObject([
      { data: { text: expect.stringContaining('Fóx') } },
    ]);
  });

  it('say that there can be more than the limit', async () => {
    using line = await recorded('fox one', 'fox two', 'fox three');
    const { err, out, code } = await line.hansard('search', 'fox', '--limit', '2');
    expect([code, err]).toEqual([0, expect.stringContaining('--limit 20')]);
    expect(out).toMatch(/fox two\n.*fox three/);
  });
});
