import { symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import { importLogs, surveyProducts, type UnreadFiles } from '../src/index.ts';
import { LogFolder, lines, prompts } from './logs.ts';

type Import = typeof importLogs;

const home = join(import.meta.dirname, '..');
const sessionId = (number: number) => `${String(number).repeat(8)}-1111-4111-8111-111111111111`;

async function unreadOf(
  paths: readonly string[],
  by: Import,
  exclude: readonly string[] = [],
): Promise<UnreadFiles[]> {
  await using store = openDispatchStore(createMemoryStore());
  const found: UnreadFiles[] = [];
  for await (const item of by(store, paths, { exclude, now: () => Date.parse('2026-04-01T00:00:00Z') }))
    if (item.kind === 'not-read') found.push(item);
  return found;
}

/** What a random folder of Claude Code has: by kind, each file with its size and its session. */
type Truth = Map<
  string,
  { readonly path: string; readonly bytes: number; readonly session: string | null | undefined }[]
>;

/** A folder of Claude Code with random files. The session of a file is null if it has no transcript, and undefined if its path names none. */
function writeRandom(folder: LogFolder, seed: number): Truth {
  const random = randomFrom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const truth: Truth = new Map();
  const ids = [1, 2, 3].map(sessionId);
  for (const [at, id] of ids.entries())
    folder.put(
      `.claude/projects/-house-${at}/${id}.jsonl`,
      lines(
        ...prompts(2).map((record) => ({ ...record, sessionId: id, uuid: `${id.slice(0, -1)}${below(9)}` })),
      ),
    );
  const put = (what: string, name: string, session: string | null | undefined) => {
    const text = 'x'.repeat(1 + below(90));
    const path = folder.put(`.claude/${name}`, text);
    const list = truth.get(what) ?? [];
    truth.set(what, [...list.filter((file) => file.path !== path), { path, bytes: text.length, session }]);
  };
  for (let number = below(24); number >= 0; number -= 1) {
    const id = random() < 0.7 ? ids[below(3)] : sessionId(7 + below(2));
    const owner = ids.includes(id ?? '') ? id : null;
    const project = `projects/-house-${below(3)}`;
    const choices = [
      () => put('file-history', `file-history/${id}/${number}@v1`, owner),
      () => put('todos', `todos/${id}-agent-${id}.json`, owner),
      () =>
        put(
          'tasks',
          `tasks/${number % 2 === 0 ? id : 'team'}/${number}.json`,
          number % 2 === 0 ? owner : null,
        ),
      () => put('image-cache', `image-cache/${id}/${number}.png`, owner),
      () => put('session-env', `session-env/${id}/hook.sh`, owner),
      () => put('plans', `plans/green-${number}.md`, undefined),
      () => put('paste-cache', `paste-cache/${number}.txt`, undefined),
      () => put('history.jsonl', 'history.jsonl', undefined),
      () => put('shell-snapshots', `shell-snapshots/snapshot-${number}.sh`, undefined),
      () => put('teams', `teams/t/inboxes/${number}.txt`, undefined),
      () => put('no-session', `${project}/sessions-index.txt`, null),
      () => put('no-session', `${project}/${sessionId(9)}/tool-results/${number}.txt`, null),
      // These are of a session, or of the user's settings, and are not named.
      () => folder.put(`.claude/projects/-house-0/${ids[0]}/session-memory/${number}.md`, 'notes'),
      () => folder.put('.claude/settings.toml', 'settings'),
    ];
    choices[below(choices.length)]?.();
  }
  return truth;
}

async function wrongSeed(by: Import, seeds: number): Promise<string | null> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    using folder = new LogFolder();
    const truth = writeRandom(folder, seed);
    const found = await unreadOf([join(folder.path, '.claude/projects')], by);
    const said = found.map(({ what, files, bytes, sessions, ofNoSession }) => [
      what,
      files,
      bytes,
      sessions,
      ofNoSession === null ? null : [ofNoSession.files, ofNoSession.bytes, ofNoSession.paths.toSorted()],
    ]);
    const sum = (files: readonly { bytes: number }[]) => files.reduce((all, { bytes }) => all + bytes, 0);
    const right = [...truth].map(([what, files]) => {
      const others = files.filter(({ session }) => session === null);
      const isNameless = files.every(({ session }) => session === undefined);
      return [
        what,
        files.length,
        sum(files),
        isNameless ? null : new Set(files.flatMap(({ session }) => session ?? [])).size,
        isNameless ? null : [others.length, sum(others), others.map(({ path }) => path).sort()],
      ];
    });
    const [one, other] = [said, right].map((rows) =>
      rows
        .map((row) => JSON.stringify(row))
        .sort()
        .join('\n'),
    );
    if (one !== other) return `seed ${seed}:\n${one}\nis not\n${other}`;
  }
  return null;
}

const file = 'find/unread-files.ts';

describe('what lies beside the sessions of Claude Code and is not read', () => {
  const seeds = 10;

  it(`is named by kind, with files, bytes and sessions, in ${seeds} random folders`, async () => {
    expect(await wrongSeed(importLogs, seeds)).toBeNull();
  });

  it.each([
    ['leaves out files of no session', [file, 'select(found.others(projects))', '[]']],
    [
      'takes each session for a known one',
      [file, 'id !== undefined && found.ids.has(id)', 'id !== undefined'],
    ],
    ['counts files as sessions', [file, 'isOf(id) ? [id] : []', 'isOf(id) ? [{ id }] : []']],
    [
      'forgets pasted images',
      [file, "  { what: 'image-cache', title: 'pasted images', session: inFolder },\n", ''],
    ],
    ['names what is read with its session', [file, 'if (this.#folders.has(above)) return true;', '']],
    [
      'looks at the first level only',
      [file, 'names.flatMap((name) => filesAt(join(path, name)))', 'names.map((name) => join(path, name))'],
    ],
    [
      'says nothing',
      ['import-logs.ts', 'yield* findUnreadFiles(', 'if (paths.length > 9) yield* findUnreadFiles('],
    ],
  ] as const)('would be wrong if an import %s', async (_, fault) => {
    const made = await importMutated(home, fault, 'index.ts');
    expect(await wrongSeed((made as { importLogs: Import }).importLogs, seeds)).not.toBeNull();
  });

  it('is in the survey of a home folder, also for the folder of Claude Code itself, and never for other folders', async () => {
    using folder = new LogFolder();
    const put = (name: string, text: string) => folder.put(name, text);
    put('.claude/projects/-house/session-1.jsonl', lines(...prompts(2)));
    put('.claude/plans/green.md', 'plan');
    put('.claude/settings.toml', '12345');
    put('projects/-house/session-1.jsonl', lines(...prompts(2)));
    put('projects/readme.md', 'mine');
    put('plans/mine.md', 'mine');
    symlinkSync(folder.path, join(folder.path, '.claude/plans/loop'));
    const [survey] = surveyProducts({ home: folder.path, environment: {} });
    expect(survey?.notRead.map(({ what, files }) => [what, files])).toEqual([['plans', 2]]);
    const named = await unreadOf([join(folder.path, '.claude')], importLogs);
    expect(named.map(({ what, path, files }) => [what, relative(folder.path, path), files])).toEqual([
      ['plans', join('.claude', 'plans'), 2],
      ['other', '.claude', 1],
    ]);
    expect(await unreadOf([join(folder.path, 'projects')], importLogs)).toEqual([]);
    expect(await unreadOf([join(folder.path, '.claude/projects')], importLogs, ['plans'])).toEqual([]);
  });
});
