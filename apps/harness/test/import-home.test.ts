import { mkdirSync, renameSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { excludedTask, openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { type Answer, type CommandLine, commandLine } from './command-line.ts';
import { lines, put, uuid } from './import-files.ts';

interface Session {
  readonly id: string;
  readonly cwd: string;
  readonly day: number;
  readonly prompts: number;
}

/** A transcript of Claude Code, in the project folder that it would have. */
function putSession(line: CommandLine, { id, cwd, day, prompts }: Session, home = 'home'): string {
  const at = Date.UTC(2026, 2, day, 9);
  const records = Array.from({ length: prompts }, (_, number) => ({
    type: number % 2 === 0 ? 'user' : 'assistant',
    uuid: uuid(1_000 * day + number),
    parentUuid: number === 0 ? null : uuid(1_000 * day + number - 1),
    isSidechain: false,
    cwd,
    sessionId: id,
    timestamp: new Date(at + number * 1_000).toISOString(),
    message:
      number % 2 === 0
        ? { role: 'user', content: `prompt ${number}` }
        : {
            id: `msg_${id}_${number}`,
            role: 'assistant',
            model: 'claude-opus-4-6',
            content: [{ type: 'text', text: `answer ${number}` }],
            usage: { input_tokens: 1_000 * number, output_tokens: 10 },
          },
  }));
  const folder = cwd.replaceAll('/', '-');
  const path = put(line, `${home}/.claude/projects/${folder}/${id}.jsonl`, lines(...records));
  utimesSync(path, at / 1_000, at / 1_000);
  return path;
}

function inHome(
  line: CommandLine,
  args: readonly string[],
  env: Record<string, string> = {},
  answer?: string,
) {
  const stdin = Object.assign(new PassThrough(), { isTTY: answer !== undefined });
  if (answer !== undefined) stdin.end(`${answer}\n`);
  const home = join(line.cwd, 'home');
  return line.start(args, {
    signal: new AbortController().signal,
    env: { HOME: home, ...env },
    stdin,
  });
}

const sessions: readonly Session[] = [
  { id: 'one', cwd: '/work/shop', day: 1, prompts: 4 },
  { id: 'two', cwd: '/work/shop/web', day: 5, prompts: 2 },
  { id: 'three', cwd: '/work/shoe', day: 9, prompts: 6 },
];

async function listed(line: CommandLine): Promise<{ dispatchId: string; cost: number | null }[]> {
  return (await inHome(line, ['ls', '--json'])).json() as { dispatchId: string; cost: number | null }[];
}

describe('importing from the home folder', () => {
  it('lists what each product has there, reads no other folder, and imports nothing unasked', async () => {
    using line = commandLine();
    for (const session of sessions) putSession(line, session);
    put(
      line,
      'home/.codex/sessions/2026/03/02/rollout-2026-03-02T09-00-00-x.jsonl',
      '{"timestamp":"2026-03-02T09:00:00Z"}\n',
    );
    put(line, 'home/.local/share/opencode/opencode.db', 'SQLite format 3\0');
    put(line, 'home/documents/letters.jsonl', '{}\n');
    mkdirSync(join(line.cwd, 'home/.pi/agent/sessions'), { recursive: true });
    const answer = await inHome(line, ['import', '~', '--json']);
    expect(answer.code).toBe(0);
    expect(answer.json()).toMatchObject([
      {
        id: 'claude-code',
        core: 'append-only',
        sessions: 3,
        first: '2026-03-01T09:00:00.000Z',
        last: '2026-03-09T09:00:05.000Z',
        isReadable: true,
      },
      { id: 'codex', sessions: 1, first: '2026-03-02T09:00:00.000Z', isReadable: false },
      { id: 'opencode', core: 'mutable', sessions: null, first: null, isReadable: false },
      { id: 'pi', sessions: 0, bytes: 0, isReadable: false },
    ]);
    expect(answer.out).not.toContain('documents');
    expect(answer.err).toBe('hansard: nothing was imported. Add --yes to import 3 sessions.\n');
    expect(await listed(line)).toEqual([]);
  });

  it('names what lies beside the sessions and is not read, in the list, in an import and in JSON', async () => {
    using line = commandLine();
    const [session] = sessions;
    if (session !== undefined) putSession(line, session);
    put(line, 'home/.claude/file-history/one/a@v1', 'four');
    put(line, 'home/.claude/file-history/gone/b@v1', 'sixsix');
    put(line, 'home/.claude/plans/green.md', 'plan');
    const [history, plans] = [
      'hansard: not read: ~/.claude/file-history (contents of files before they were changed): 2 files, 10 bytes, of 1 session; of no session that was found: gone/b@v1.',
      'hansard: not read: ~/.claude/plans (plans): 1 file, 4 bytes; their names do not name a session.',
    ];
    const list = await inHome(line, ['import', '~']);
    expect(list.err).toBe(
      `${history}\n${plans}\nhansard: nothing was imported. Add --yes to import 1 session.\n`,
    );
    const [product] = (await inHome(line, ['import', '~', '--json'])).json() as { notRead: object[] }[];
    expect(product?.notRead).toMatchObject([{ notRead: 'file-history' }, { notRead: 'plans' }]);
    const named = await inHome(line, ['import', join(line.cwd, 'home/.claude/projects')]);
    expect(named.err).toBe(`${history}\n${plans}\n`);
    const rows = (await inHome(line, ['import', '~', '--yes', '--json'])).json() as object[];
    expect(rows.slice(1)).toMatchObject([
      { notRead: 'file-history', files: 2, bytes: 10, sessions: 1, ofNoSession: { files: 1, bytes: 6 } },
      { notRead: 'plans', files: 1, bytes: 4, sessions: null, ofNoSession: null },
    ]);
  });

  it('asks on a terminal, and imports what it listed', async () => {
    using line = commandLine();
    for (const session of sessions) putSession(line, session);
    const no = await inHome(line, ['import', join(line.cwd, 'home')], {}, 'no');
    expect(no.err).toContain('Import 3 sessions of Claude Code? [y/N]');
    expect(await listed(line)).toEqual([]);
    const yes = await inHome(line, ['import', '~'], {}, 'yes');
    expect(yes.out).toMatch(/^product +sessions +size +days \(UTC\) +import +folder\nClaude Code +3 /);
    expect(await listed(line)).toHaveLength(3);
  });

  it('finds the folders that variables name, each once, and follows no link out of them', async () => {
    using line = commandLine();
    putSession(line, sessions[0] as Session, 'elsewhere');
    const outside = putSession(line, sessions[1] as Session, 'outside');
    const projects = join(line.cwd, 'elsewhere/.claude/projects');
    symlinkSync(outside, join(projects, '-work-shop/linked.jsonl'));
    const folder = join(line.cwd, 'elsewhere/.claude');
    const answer = await inHome(line, ['import', '~', '--json'], {
      CLAUDE_CONFIG_DIR: `${folder},${folder}`,
    });
    expect(answer.json()).toMatchObject([
      { folder: projects, sessions: 1, problems: [expect.stringContaining('The link was not followed')] },
    ]);
  });

  it('says so where there is nothing, and what to name instead', async () => {
    using line = commandLine();
    const answer = await inHome(line, ['import', '~']);
    expect(answer).toMatchObject({ code: 0, out: expect.stringContaining('No known product has a folder') });
    expect(await inHome(line, ['import'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('hansard import ~'),
    });
  });
});

describe('a dry run', () => {
  it('records nothing, and says what the import then does: events, sessions and cost', async () => {
    using line = commandLine();
    for (const session of sessions) putSession(line, session);
    const trial = (await inHome(line, ['import', '~', '--yes', '--dry-run', '--json'])).json() as Row[];
    expect(await listed(line)).toEqual([]);
    const done = (await inHome(line, ['import', '~', '--yes', '--json'])).json() as Row[];
    expect(trial.map(({ added, dispatchId }) => ({ added, dispatchId }))).toEqual(
      done.map(({ added, dispatchId }) => ({ added, dispatchId })),
    );
    const [usage] = (await inHome(line, ['usage', '--json'])).json() as [{ estimatedUsd: number }];
    expect(trial.reduce((sum, { estimatedUsd }) => sum + estimatedUsd, 0)).toBeCloseTo(
      usage.estimatedUsd,
      10,
    );
    putSession(line, { ...(sessions[0] as Session), prompts: 7 });
    const again = await inHome(line, ['import', '~', '--yes', '--dry-run', '--json']);
    const states = (again.json() as { state: string; added: number }[]).map(({ state, added }) => [
      state,
      added,
    ]);
    expect(states.sort()).toEqual([
      ['grown', expect.any(Number)],
      ['unchanged', 0],
      ['unchanged', 0],
    ]);
    expect(again.err).toContain('0 new sessions, 1 grown, 2 unchanged');
  });

  it('counts what several files of one session would add once', async () => {
    using line = commandLine();
    const one = sessions[2] as Session;
    const copy = putSession(line, { ...one, prompts: 4 });
    renameSync(copy, copy.replace('three', 'older-copy'));
    putSession(line, one);
    const trial = (await inHome(line, ['import', '~', '--yes', '--dry-run', '--json'])).json() as Row[];
    const done = (await inHome(line, ['import', '~', '--yes', '--json'])).json() as Row[];
    const added = (rows: readonly Row[]) => rows.reduce((sum, row) => sum + row.added, 0);
    expect(added(trial)).toBe(added(done));
    expect(await listed(line)).toHaveLength(1);
    const again = await inHome(line, ['import', '~', '--yes', '--dry-run', '--json']);
    expect(added(again.json() as Row[])).toBe(0);
    expect(again.err).toContain('0 new sessions, 1 unchanged');
  });
});

interface Row {
  readonly dispatchId: string;
  readonly taskDir: string;
  readonly added: number;
  readonly estimatedUsd: number;
  readonly leftOut?: string;
  readonly files?: readonly string[];
}

describe('a filter of sessions', () => {
  it.each([1, 2, 3, 4, 5, 6])('imports each session or says why not (seed %i)', async (seed) => {
    using line = commandLine();
    const random = randomFrom(seed);
    const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
    const all = Array.from({ length: 12 }, (_, number) => ({
      id: `s${number}`,
      cwd: pick(['/work/shop', '/work/shop/web', '/work/shopping', '/home/ann/shop', '/work/shoe']),
      day: 1 + number,
      prompts: 2,
    }));
    for (const session of all) putSession(line, session);
    const since = 1 + Math.floor(random() * 14);
    const project = pick(['shop', '/work/shop', '/nowhere']);
    const exclude = pick(['-work-shoe', 's3.jsonl', 'home/.claude/projects/-home-ann-shop']);
    const answer = await inHome(line, [
      ...['import', '~', '--yes', '--json', '--utc', '--since', `2026-03-${String(since).padStart(2, '0')}`],
      ...['--project', project, '--exclude', exclude],
    ]);
    const expected = all.map(({ id, cwd, day }) => {
      const folder = cwd.replaceAll('/', '-');
      if (exclude === folder || exclude === `${id}.jsonl` || exclude.endsWith(`/${folder}`))
        return [id, 'exclude'];
      if (day < since) return [id, 'since'];
      const isOf =
        project === 'shop'
          ? cwd.split('/').at(-1) === 'shop'
          : cwd === project || cwd.startsWith(`${project}/`);
      return [id, isOf ? 'imported' : 'project'];
    });
    const nameOf = (file = '') => /([^/]*)\.jsonl$/.exec(file)?.[1];
    const got = (answer.json() as (Row & { file: string })[]).flatMap((row) =>
      row.leftOut === undefined
        ? [[nameOf(row.file), 'imported']]
        : (row.files ?? []).map((file) => [nameOf(file), row.leftOut]),
    );
    expect(got.sort()).toEqual(expected.sort());
    for (const reason of ['since', 'project', 'exclude']) {
      const count = expected.filter(([, why]) => why === reason).length;
      expect(answer.err.includes(`(--${reason})`)).toBe(
        reason === 'exclude' ? count > 0 && answer.err.includes('excluded (--exclude)') : count > 0,
      );
    }
  });
});

describe('undoing an import', () => {
  const stored = (line: CommandLine) =>
    openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
  const idsOf = async (line: CommandLine) => (await listed(line)).map(({ dispatchId }) => dispatchId).sort();
  const imported = (answer: Answer) => (answer.json() as Row[]).map(({ dispatchId }) => dispatchId).sort();

  it('deletes what the last run created, and nothing that another run created or that was continued', async () => {
    using line = commandLine();
    const [one, two, three] = sessions as [Session, Session, Session];
    const first = putSession(line, one);
    const before = imported(await inHome(line, ['import', first, '--json']));
    putSession(line, two);
    putSession(line, three);
    putSession(line, { ...one, prompts: 9 });
    const second = (await inHome(line, ['import', '~', '--yes', '--json'])).json() as Row[];
    expect(second).toHaveLength(3);
    const [continued] = second.filter(({ dispatchId }) => !before.includes(dispatchId)) as [Row];
    {
      await using store = stored(line);
      await using dispatch = await store.openDispatch(continued, { write: true });
      await dispatch.append(newEvent('system:notice', { problem: 'ours' }));
      await dispatch.release();
    }
    const asked = await inHome(line, ['import', '--undo'], {}, 'no');
    expect(asked.err).toMatch(
      /The import 01\w{24} \(.*\) created 2 sessions in 2 tasks, which the store still has/,
    );
    expect(await idsOf(line)).toHaveLength(3);
    for (const other of [['--dry-run'], ['--project', 'shop'], ['--since', '7d'], ['home']])
      expect(await inHome(line, ['import', ...other, '--yes', '--undo'])).toMatchObject({
        code: 2,
        err: expect.stringContaining('Nothing was deleted.'),
      });
    expect(await idsOf(line)).toHaveLength(3);
    const undone = await inHome(line, ['import', '--undo', '--yes']);
    expect(undone).toMatchObject({ code: 0, out: '1 session deleted.\n' });
    expect(undone.err).toContain('stays: it has events that no import wrote.');
    expect(await idsOf(line)).toEqual([...before, continued.dispatchId].sort());
    // It excludes nothing.
    const again = await inHome(line, ['import', '~', '--yes', '--json']);
    expect(again.json()).toHaveLength(3);
    expect(await idsOf(line)).toEqual(second.map(({ dispatchId }) => dispatchId).sort());
    expect(await inHome(line, ['import', '--undo', 'RUN', '--yes'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('no session that the import RUN created'),
    });
  });

  it('leaves out what was deleted, from any file, until --again asks for it', async () => {
    using line = commandLine();
    for (const session of sessions) putSession(line, session);
    const rows = (await inHome(line, ['import', '~', '--yes', '--json'])).json() as Row[];
    const [gone] = rows as [Row];
    {
      await using store = stored(line);
      await store.deleteDispatch(gone);
      expect(await store.findDispatch({ taskDir: excludedTask, dispatchId: gone.dispatchId })).not.toBeNull();
      for await (const letter of store.readLetters()) expect(letter).toBeUndefined();
    }
    const left = await inHome(line, ['import', '~', '--yes', '--json']);
    expect(left.json()).toContainEqual({ leftOut: 'excluded', files: [expect.stringContaining('.jsonl')] });
    expect(left.err).toContain(
      '1 session left out: they were deleted from this store; --again imports them.',
    );
    expect(await inHome(line, ['import', '~', '--yes', '--dry-run'])).toMatchObject({
      err: expect.stringContaining('0 new sessions, 2 unchanged, 1 deleted before and left out'),
    });
    expect(await idsOf(line)).toHaveLength(2);
    expect((await inHome(line, ['store', 'verify'])).code).toBe(0);
    await inHome(line, ['import', '~', '--yes', '--again']);
    expect(await idsOf(line)).toEqual(rows.map(({ dispatchId }) => dispatchId).sort());
    // Not excluded any more.
    await inHome(line, ['import', '--undo', '--yes']);
    await inHome(line, ['import', '~', '--yes']);
    expect(await idsOf(line)).toHaveLength(3);
  });

  it('imports each session once when two imports of one source run at once, and both succeed', async () => {
    using line = commandLine();
    for (let day = 1; day <= 28; day += 1)
      putSession(line, { id: `s${day}`, cwd: '/work/shop', day, prompts: 200 });
    const both = await Promise.all(
      [1, 2].map(() => line.process('import', 'home/.claude/projects', '--json')),
    );
    expect(
      both.map(({ code, err }) => [
        code,
        err.replaceAll(/hansard: \d+ sessions? left out: another process.*\n/g, ''),
      ]),
    ).toEqual([
      [0, ''],
      [0, ''],
    ]);
    const rows = (await line.hansard('ls', '--json')).json() as { dispatchId: string; events: number }[];
    expect(rows).toHaveLength(28);
    const again = (
      await line.hansard('import', 'home/.claude/projects', '--json', '--reread')
    ).json() as Row[];
    expect(again.map(({ added }) => added)).toEqual(Array(28).fill(0));
  });
});

it('import --from-git takes one folder, and refuses one without a repository', async () => {
  using line = commandLine();
  mkdirSync(join(line.cwd, 'shop'));
  expect(await line.hansard('import', '--from-git', 'shop', 'other')).toMatchObject({ code: 2 });
  expect(await inHome(line, ['import', '--from-git', 'shop'])).toMatchObject({
    code: 1,
    err: expect.stringContaining("git can't read"),
  });
});
