import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@hansard/events';
import { expect, it } from 'vitest';
import { type CommandLine, commandLine } from '../command-line.ts';
import { lines, put, uuid } from '../import-files.ts';

const ids = {
  parent: 'aaaaaaaa-0000-4000-8000-000000000000',
  fork: 'bbbbbbbb-0000-4000-8000-000000000000',
};
const key = 'acme_0123456789abcdef';
const pattern = ['--pattern', 'acme-key=acme_[0-9a-f]{16}'];

const record = (number: number, sessionId: string, fields: JsonObject): JsonObject => ({
  ...{ parentUuid: number === 1 ? null : uuid(number - 1), isSidechain: false, cwd: '/srv/shop', sessionId },
  ...{ version: '2.1.260', uuid: uuid(number), timestamp: `2026-03-01T10:00:0${number}.000Z`, ...fields },
});

const asked = (number: number, session: string, content: string) =>
  record(number, session, { type: 'user', message: { role: 'user', content } });

const said = (number: number, session: string, text: string, input: number) => {
  const usage = { input_tokens: input, output_tokens: 1 };
  const content = [{ type: 'text', text }];
  const message = {
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-4-8',
    content,
  };
  return record(number, session, {
    type: 'assistant',
    message: { ...message, stop_reason: 'end_turn', usage },
  });
};

const head = (session: string, count: string) => [
  asked(1, session, 'Count the apples.'),
  said(2, session, count, 99),
  asked(3, session, `Publish with ${key}.`),
  said(4, session, 'Published.', 19),
];

/** A parent with 120 tokens of its own, and a fork of it with 10 more. */
class Family implements Disposable {
  readonly #line: CommandLine = commandLine();

  write(which: 'parent' | 'fork', { count = 'Seven apples.', isMarked = true } = {}): void {
    const { parent, fork } = ids;
    const copied = head(fork, count).map((row): JsonObject => {
      const forkedFrom = { sessionId: parent, messageUuid: row.uuid ?? '' };
      return { ...row, ...(isMarked && { forkedFrom }) };
    });
    const rows =
      which === 'parent'
        ? head(parent, count)
        : [...copied, asked(5, fork, 'And plums?'), said(6, fork, 'Two.', 9)];
    put(this.#line, `${ids[which]}.jsonl`, lines(...rows));
  }

  async hansard(...words: string[]) {
    const answer = await this.#line.hansard(...words);
    return { ...answer, all: answer.out + answer.err };
  }

  import(which: 'parent' | 'fork', ...options: string[]) {
    return this.hansard('import', join(this.#line.cwd, `${ids[which]}.jsonl`), ...options);
  }

  /** The tokens of all sessions or of one, and what is said about copies. */
  async tokens(...session: string[]): Promise<number> {
    const [row] = (await this.hansard('usage', ...session, '--json')).json() as {
      modelCalls: number;
      inputTokens: number;
      outputTokens: number;
    }[];
    return (row?.inputTokens ?? 0) + (row?.outputTokens ?? 0);
  }

  /** The sessions in which a word is found, with the positions. */
  async found(...words: string[]): Promise<string[]> {
    const { out } = await this.hansard('search', ...words);
    return out
      .split('\n')
      .flatMap((line) =>
        line.startsWith(' ') ? [line.trim()] : line === '' ? [] : [line.split(/[/ ]/)[1]?.slice(0, 4) ?? ''],
      );
  }

  [Symbol.dispose](): void {
    this.#line[Symbol.dispose]();
  }
}

const seven = ['0  10:00:01  user:message  Count the apples.', '2  10:00:02  agent:text  Seven apples.'];
const sevenInFork = [
  '1  10:00:01  user:message  Count the apples.',
  '3  10:00:02  agent:text  Seven apples.',
];

it('a fork is whole until its parent is imported, and then repeats what the parent has', async () => {
  for (const isMarked of [true, false]) {
    using family = new Family();
    family.write('parent');
    family.write('fork', { isMarked });
    await family.import('fork');
    expect([await family.tokens(), await family.found('apples')]).toEqual([
      130,
      ['bbbb', ...(isMarked ? sevenInFork : seven)],
    ]);
    await family.import('parent');
    expect([await family.tokens(), await family.found('apples')]).toEqual([130, ['aaaa', ...seven]]);
    expect((await family.hansard('usage')).err).toContain('Forks and continuations repeat 2 model calls');
    expect((await family.hansard('ls')).out).toContain('130 (120 copied)');
    expect(await family.import('fork')).toMatchObject({ code: 0, all: expect.stringContaining('unchanged') });
  }
});

it('a query of a fork alone counts and finds all of it, whatever else is in the store', async () => {
  using family = new Family();
  family.write('parent');
  family.write('fork');
  await family.import('parent');
  await family.import('fork');
  expect(await family.tokens(ids.fork)).toBe(130);
  expect(await family.tokens(ids.parent)).toBe(120);
  expect(await family.found('apples', ids.fork)).toEqual(['bbbb', ...sevenInFork]);
  const rows = await family.hansard('export', ids.fork, '--as', 'trl', '--out', 'data');
  expect(rows).toMatchObject({ code: 0 });
  expect(rows.all).not.toContain('copied');
});

it('a parent that is edited after its fork keeps both versions, and the fork repeats the first one', async () => {
  using family = new Family();
  family.write('parent');
  family.write('fork');
  await family.import('parent');
  await family.import('fork');
  family.write('parent', { count: 'Nine apples.' });
  expect((await family.import('parent')).all).toContain('has other content; the store keeps both');
  expect(await family.tokens()).toBe(130);
  expect(await family.found('apples')).toEqual(['aaaa', ...seven, '7  10:00:02  agent:text  Nine apples.']);
  expect((await family.import('fork')).all).toContain('unchanged');
});

it('an answer that was edited before the parent was imported is another one, and both count', async () => {
  for (const order of [['parent', 'fork'] as const, ['fork', 'parent'] as const]) {
    using family = new Family();
    family.write('parent', { count: 'Nine apples.' });
    family.write('fork');
    for (const which of order) await family.import(which);
    expect(await family.tokens()).toBe(230);
    const { err } = await family.hansard('usage');
    expect(err).toContain('Forks and continuations repeat 1 model call');
    expect(err).toContain('1 answer of unrelated sessions, or edited, has the message id of another answer');
  }
});

it('a redacted parent is still the origin of what its fork repeats, and the secret is offered in both', async () => {
  using family = new Family();
  family.write('parent');
  family.write('fork');
  await family.import('parent');
  const redact = ['secrets', 'redact', ...pattern, '--yes'];
  expect((await family.hansard(...redact)).all).toContain('1 acme-key replaced');
  await family.import('fork');
  expect(await family.tokens()).toBe(130);
  expect(await family.found('publish')).toHaveLength(2);
  const scan = await family.hansard('secrets', 'scan', ...pattern);
  expect(scan.code).toBe(4);
  expect(scan.all).toContain('bbbbbbbb');
  expect(scan.all).not.toContain('aaaaaaaa');
  expect((await family.hansard(...redact)).all).toContain('1 acme-key replaced');
  expect(await family.tokens()).toBe(130);
  for (const which of ['parent', 'fork'] as const)
    expect((await family.import(which, '--reread')).all).toContain(
      'redacted in the store stay as they are there: 1.',
    );
  expect((await family.hansard('secrets', 'scan', ...pattern)).code).toBe(0);
  expect([await family.tokens(), await family.found(key.slice(5))]).toEqual([130, []]);
});

it('a fork of a deleted parent is whole, and the parent does not come back', async () => {
  for (const isFirst of [true, false]) {
    using family = new Family();
    family.write('parent');
    family.write('fork');
    await family.import('parent');
    if (!isFirst) await family.import('fork');
    await family.hansard('store', 'delete', ids.parent, '--yes');
    await family.import('fork');
    expect((await family.import('parent')).all).toContain('they were deleted from this store');
    expect([await family.tokens(), await family.found('apples')]).toEqual([130, ['bbbb', ...sevenInFork]]);
    expect((await family.hansard('show', ids.fork)).out).toContain(`fork  of claude-code ${ids.parent}`);
    await family.import('parent', '--again');
    expect([await family.tokens(), await family.found('apples')]).toEqual([130, ['aaaa', ...seven]]);
  }
});

it.each(['parent', 'fork'] as const)(
  'a redacted %s names the copies of its secrets in the other session',
  async (which) => {
    using family = new Family();
    family.write('parent');
    family.write('fork');
    for (const one of ['parent', 'fork'] as const) await family.import(one);
    const other = which === 'parent' ? ids.fork : ids.parent;
    const redact = (id: string, ...more: string[]) =>
      family.hansard('secrets', 'redact', id, ...pattern, '--yes', ...more);
    const { code, err } = await redact(ids[which]);
    expect(code).toBe(0);
    expect(err).toMatch(
      new RegExp(`Not covered: srv-shop/${other}/\\S+ has 1 event with secrets that srv-shop/${ids[which]}`),
    );
    const json = (await redact(ids[which], '--json', '--pattern', 'apple=apples')).json();
    expect(json).toMatchObject([{ copies: [{ taskDir: expect.stringContaining(other), events: 3 }] }]);
    await redact(other);
    expect((await redact(ids[which])).err).not.toContain('that srv-shop');
  },
);

it('a deletion names the sessions that keep copies of the deleted events, whichever is deleted', async () => {
  using family = new Family();
  family.write('parent');
  family.write('fork');
  for (const one of ['parent', 'fork'] as const) await family.import(one);
  const remove = (...words: string[]) => family.hansard('store', 'delete', ...words);
  expect((await remove(ids.parent)).err).toMatch(
    new RegExp(`\\n\\d of its events are also in srv-shop/${ids.fork}/\\S+, and stay there\\.\\n`),
  );
  expect((await remove(ids.parent, ids.fork)).err).not.toContain('also in');
  const answer = await remove(ids.fork, '--yes', '--json');
  expect(answer.json()).toMatchObject([
    {
      deleted: true,
      copies: [{ taskDir: expect.stringContaining(ids.parent), events: 6 }],
    },
  ]);
  expect((await remove(ids.parent, '--yes', '--json')).json()).toMatchObject([{ copies: [] }]);
});

it('an import that is undone names the sessions that keep copies of its events', async () => {
  using family = new Family();
  family.write('parent');
  family.write('fork');
  for (const one of ['parent', 'fork'] as const) await family.import(one);
  const undone = await family.hansard('import', '--undo', '--yes', '--json');
  expect(undone.err).toMatch(
    new RegExp(`\\n6 of their events are also in srv-shop/${ids.parent} \\S+, and stay there\\.\\n`),
  );
  expect(undone.json()).toMatchObject([
    { deleted: true, copies: [{ taskDir: expect.stringContaining(ids.parent), events: 6 }] },
  ]);
  expect((await family.hansard('import', '--undo', '--yes', '--json')).err).not.toContain('also in');
});

it('an import that is undone names the native forks of its sessions', async () => {
  using line = commandLine();
  const records = [
    { event_type: 'agent_created', agent_id: 'a', name: 'Ann', language_model: 'm' },
    { event_type: 'transcript_entry', agent_id: 'a', role: 'user', content: 'Hi', source: 'external' },
    { event_type: 'transcript_entry', agent_id: 'a', role: 'assistant', content: 'Hello.' },
  ];
  const log = records.map((record, at) => JSON.stringify({ message_id: `m${at}`, ...record })).join('\n');
  writeFileSync(join(line.cwd, 'log.jsonl'), `${log}\n`);
  expect(await line.hansard('import', 'log.jsonl', '--task', 'lab/talk', '--yes')).toMatchObject({ code: 0 });
  expect(await line.hansard('fork', 'latest', 'latest')).toMatchObject({ code: 0 });
  const undone = await line.hansard('import', '--undo', '--yes');
  expect(undone.err).toMatch(/3 of their events are also in lab\/talk \w+, and stay there\./);
});
