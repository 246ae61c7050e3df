import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandFromSource } from '../command-line.ts';
import { type CommandCall, commandCalls } from './command-calls.ts';
import { type Outcome, outcomesOf } from './outcomes.ts';
import { recordStore } from './recorded-store.ts';
import { kinds, type Place, places, unreadable } from './special-places.ts';

/** Those that hang a program are put everywhere, the others where a store reads first. */
const everywhere = ['a named pipe (FIFO)', 'a device without an end'];
const firstPlaces = ['the latest dispatch', 'task.json', 'the database'];
const combinations = Object.keys(places).flatMap((place) =>
  Object.keys(kinds)
    .filter((kind) => everywhere.includes(kind) || firstPlaces.includes(place))
    .map((kind) => ({ place, kind, name: `${kind} in the place of ${place}` })),
);

/** Of the calls that read, each combination makes every third one, from another one on. `HANSARD_EVERY_CALL=1` makes all. */
const share = process.env.HANSARD_EVERY_CALL === '1' ? 1 : 3;

/** Root may read everything, so root lets another user look at a file that may not be read. */
const other = process.getuid?.() === 0 ? 65_534 : null;
const canBeOther =
  other === null ||
  spawnSync(process.execPath, [...commandFromSource, '--version'], { uid: other, cwd: tmpdir() }).status ===
    0;

interface Answers {
  readonly file: string;
  readonly calls: readonly CommandCall[];
  readonly outcomes: readonly Outcome[];
  /** The outputs of the calls, by their words, with the file that belongs there. */
  readonly whole: ReadonlyMap<string, string>;
}

const root = mkdtempSync(join(tmpdir(), 'hansard-every-command-'));
/** By the name of the combination; absent where this machine cannot create it. */
const answers = new Map<string, Answers>();

beforeAll(async () => {
  const prepared: {
    name: string;
    kind: string;
    cwd: string;
    file: string;
    calls: CommandCall[];
    whole: string;
  }[] = [];
  for (const store of ['JSON-file', 'SQLite']) {
    const recorded = await recordStore(store === 'SQLite' ? { store: '@hansard/store-sqlite' } : {});
    using line = recorded.line;
    const calls = await commandCalls(recorded);
    const whole = join(root, store);
    cpSync(line.cwd, whole, { recursive: true });
    prepared.push({ name: store, kind: '', cwd: whole, file: '', calls, whole });
    for (const [at, { place, kind, name }] of combinations.entries()) {
      const { store: kindOfStore, path } = places[place] as Place;
      if (kindOfStore !== store || (kind === unreadable && !canBeOther)) continue;
      const cwd = join(root, String(at));
      const file = join(cwd, '.projects', await path(recorded));
      cpSync(line.cwd, cwd, { recursive: true });
      if (kind === unreadable && other !== null) spawnSync('chown', ['-R', String(other), cwd]);
      if (kind !== unreadable) rmSync(file, { force: true });
      const some = calls.filter(({ isWriting }, number) => isWriting || (number + at) % share === 0);
      if (await kinds[kind]?.(file)) prepared.push({ name, kind, cwd, file, calls: some, whole });
    }
  }
  if (other !== null) spawnSync('chmod', ['755', root]);
  const run = (uid: number | null, ofUser: typeof prepared) => {
    const folders = ofUser.map(({ cwd, calls }) => ({ cwd, calls: calls.map(({ args }) => args) }));
    return outcomesOf(folders, uid);
  };
  const ofOther = prepared.filter(({ kind }) => kind === unreadable);
  const outcomes = new Map([
    ...(await run(
      null,
      prepared.filter(({ kind }) => kind !== unreadable),
    )),
    ...(await run(other, ofOther)),
  ]);
  const wholes = new Map(
    prepared
      .filter(({ kind }) => kind === '')
      .map(({ cwd, calls }) => [
        cwd,
        new Map(calls.map(({ args }, at) => [args.join(' '), outcomes.get(cwd)?.[at]?.out ?? ''])),
      ]),
  );
  for (const { name, cwd, file, calls, whole } of prepared)
    answers.set(name, {
      file,
      calls,
      outcomes: outcomes.get(cwd) ?? [],
      whole: wholes.get(whole) ?? new Map(),
    });
}, 400_000);

afterAll(() => rmSync(root, { recursive: true, force: true }));

it.for(['JSON-file', 'SQLite'])('every call succeeds in a whole %s store', (store) => {
  const { calls, outcomes } = answers.get(store) as Answers;
  expect(calls.length).toBeGreaterThan(0);
  expect(calls.map(({ args }, at) => [args, outcomes[at]?.code, outcomes[at]?.err])).toEqual(
    calls.map(({ args }) => [args, 0, expect.any(String)]),
  );
});

describe.skipIf(process.platform === 'win32')('every command ends', () => {
  it.for(combinations)('with $name', ({ place, name }, { skip }) => {
    const found = answers.get(name);
    if (found === undefined) return skip(`This machine cannot put ${name}.`);
    const { mayFail, mayDiffer, isUnneeded } = places[place] as Place;
    const { file, calls, outcomes, whole } = found;
    expect(
      calls
        .slice(outcomes.length)
        .map(({ args }) => `did not end: ${args.join(' ')}`)
        .slice(0, 1),
    ).toEqual([]);
    for (const [at, call] of calls.entries()) {
      const { code, out, err } = outcomes[at] as Outcome;
      const words = call.args.join(' ');
      expect([words, err]).toEqual([words, expect.not.stringMatching(/unexpected:/)]);
      if (mayFail(call)) {
        const reported = `${out}${err}`.includes(nameOf(file)) || hasCode.test(`${out}${err}`);
        if (code !== 0)
          expect([words, code, err, reported]).toEqual([words, expect.toBeOneOf([1, 3]), err, true]);
        continue;
      }
      expect([words, code, err]).toEqual([words, 0, expect.any(String)]);
      // The times of `plugins` differ each time.
      const isSame = !call.isWriting && words !== 'plugins' && mayDiffer?.(call) !== true;
      if (isSame) expect([words, out]).toEqual([words, whole.get(words)]);
    }
    if (isUnneeded !== true)
      expect(outcomes.filter(({ err }) => err.includes(nameOf(file))).length).toBeGreaterThan(0);
  });
});

const hasCode = /\b(?:STORE|PLUGIN)_[A-Z_]+\b/;

/** The path as the outcomes have it. */
function nameOf(file: string): string {
  return `CWD${file.slice(file.indexOf('/.projects'))}`;
}
