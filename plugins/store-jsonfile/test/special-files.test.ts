import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openJsonFileStore } from '../src/index.ts';
import { makeEnvelope } from './envelope.ts';
import { makeRoot, openStore, taskDir } from './sample.ts';

/** Things in the place of a file, by their name in the error. */
const kinds = {
  'a named pipe (FIFO)': (path: string) => spawnSync('mkfifo', [path]),
  'a folder': (path: string) => mkdirSync(path),
  'a link to nothing': (path: string) => symlinkSync('nothing', path),
  'a link to itself': (path: string) => symlinkSync(path, path),
} as const;
type Kind = keyof typeof kinds;
const allKinds = Object.keys(kinds) as Kind[];
const places = {
  dispatch: 'dispatches/bad.json',
  'lock of a dispatch': 'dispatches/bad.lock.2',
  'file of a new dispatch, while it is created': 'dispatches/.new.1.tmp',
  'record of the task': 'task.json',
  'lock of the task': '.task.lock.1',
  'record of the task, while it is written': '.task.tmp',
} as const;
type Place = keyof typeof places;

type Outcomes = Readonly<Record<string, string>> & { readonly listed: string[]; readonly tasks: string[] };

const folder = mkdtempSync(join(tmpdir(), 'hansard-special-'));
const rootOf = (place: Place, kind: Kind) =>
  join(folder, `${Object.keys(places).indexOf(place)}-${allKinds.indexOf(kind)}`);
const fileOf = (place: Place, kind: Kind) => join(rootOf(place, kind), taskDir, places[place]);
let outcomes: Map<string, Outcomes>;

/** A separate process does the work, because a process that hangs can only be killed. */
beforeAll(() => {
  const roots: string[] = [];
  for (const place of Object.keys(places) as Place[])
    for (const kind of allKinds) {
      const root = rootOf(place, kind);
      const store = openJsonFileStore({ root });
      for (const id of ['bad', 'good'])
        store.createDispatch(taskDir, makeEnvelope(id, { status: 'completed' }));
      store.close();
      rmSync(fileOf(place, kind), { force: true });
      kinds[kind](fileOf(place, kind));
      roots.push(root);
    }
  const script = join(import.meta.dirname, 'processes/use-stores.ts');
  const { stdout } = spawnSync(
    process.execPath,
    ['--conditions=@hansard/source', script, taskDir, ...roots],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 20_000,
      killSignal: 'SIGKILL',
    },
  );
  const lines = String(stdout).split('\n').filter(Boolean);
  outcomes = new Map(lines.map((line, at) => [roots[at] ?? '', JSON.parse(line)]));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function outcomesOf(place: Place, kind: Kind): Outcomes {
  const found = outcomes.get(rootOf(place, kind));
  if (found === undefined)
    throw new Error(`The process ended, or hung, before it came to ${rootOf(place, kind)}.`);
  return found;
}

function expectRefused(outcome: string | undefined, place: Place, kind: Kind): void {
  const name = kind.startsWith('a link') ? 'a symbolic link' : kind;
  expect(outcome).toMatch(/^STORE_CORRUPT /);
  expect(outcome).toContain(`${fileOf(place, kind)} is ${name}, and not a regular file`);
}

describe.skipIf(process.platform === 'win32').each(allKinds)('%s in the place of a', (kind) => {
  it('dispatch is an error that names it, and hides neither the other dispatch nor the task', () => {
    const { close, create, listed, tasks, ...found } = outcomesOf('dispatch', kind);
    for (const refused of ['envelope', 'events', 'claim', 'append', 'update', 'envelopes'])
      expectRefused(found[refused], 'dispatch', kind);
    for (const done of ['appendToSibling', 'readSibling', 'findTask', 'putTask'])
      expect(found[done]).toBe('done');
    expect([create, close]).toEqual(['done', 'done']);
    expect(listed).toEqual(['good ', 'new ', 'bad STORE_CORRUPT']);
    expect(tasks).toEqual([`${taskDir} `]);
  });

  it('lock of a dispatch is an error that names it, and prevents only writes to that dispatch', () => {
    const { claim, append, update, listed, tasks, ...found } = outcomesOf('lock of a dispatch', kind);
    for (const refused of [claim, append, update]) expectRefused(refused, 'lock of a dispatch', kind);
    for (const outcome of Object.values(found)) expect(outcome).toBe('done');
    expect(listed).toEqual(['bad ', 'good ', 'new ']);
    expect(tasks).toEqual([`${taskDir} `]);
  });

  it('file of a new dispatch, while it is created, is an error that names it', () => {
    const place = 'file of a new dispatch, while it is created';
    const { create, listed, tasks, ...found } = outcomesOf(place, kind);
    expectRefused(create, place, kind);
    for (const outcome of Object.values(found)) expect(outcome).toBe('done');
    expect(listed).toEqual(['bad ', 'good ']);
  });

  it('record of a task does not prevent writes to dispatches', () => {
    const { findTask, putTask, listed, tasks, ...found } = outcomesOf('record of the task', kind);
    // A dangling link is not a record; a write replaces it.
    if (kind === 'a link to nothing') expect(findTask).toBe('done');
    else expectRefused(findTask, 'record of the task', kind);
    if (kind === 'a folder') expect(putTask).toMatch(/^STORE_UNAVAILABLE .*task\.json/);
    else expect(putTask).toBe('done');
    for (const outcome of Object.values(found)) expect(outcome).toBe('done');
    expect(listed).toEqual(['bad ', 'good ', 'new ']);
    expect(tasks).toEqual([`${taskDir} ${kind === 'a folder' ? 'STORE_CORRUPT' : ''}`]);
  });

  it.each(['lock of the task', 'record of the task, while it is written'] as const)(
    '%s is an error that names it, and does not prevent writes to dispatches',
    (place) => {
      const { putTask, listed, tasks, ...found } = outcomesOf(place, kind);
      expectRefused(putTask, place, kind);
      for (const outcome of Object.values(found)) expect(outcome).toBe('done');
      expect(listed).toEqual(['bad ', 'good ', 'new ']);
      expect(tasks).toEqual([`${taskDir} `]);
    },
  );
});

describe('a link to a device in the place of the record of a task', () => {
  it.skipIf(process.platform === 'win32')('is an error that names the device', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
    const file = join(root, taskDir, 'task.json');
    symlinkSync('/dev/null', file);
    expect(() => store.findTask(taskDir)).toThrow(`${file} is a device, and not a regular file`);
  });
});

/** Root can read everything. */
describe.skipIf(process.platform === 'win32' || process.getuid?.() === 0)('what may not be read', () => {
  it('hides no other dispatch and no other task', () => {
    const root = makeRoot();
    const store = openStore(root);
    for (const id of ['d1', 'd2']) store.createDispatch(taskDir, makeEnvelope(id, { status: 'completed' }));
    store.createDispatch('lab/tasks/shut', makeEnvelope('d1', { status: 'completed' }));
    chmodSync(join(root, taskDir, 'dispatches/d1.json'), 0);
    const shut = join(root, 'lab/tasks/shut');
    chmodSync(shut, 0);
    try {
      expect(store.listDispatches({ taskDir }).dispatches).toMatchObject([
        { dispatchId: 'd2', envelope: { dispatchId: 'd2' } },
        { dispatchId: 'd1', envelope: null, error: { code: 'STORE_UNAVAILABLE' } },
      ]);
      expect(store.listTasks()).toMatchObject([
        { taskDir },
        { taskDir: 'lab/tasks/shut', error: { code: 'STORE_UNAVAILABLE' } },
      ]);
    } finally {
      chmodSync(shut, 0o755);
    }
  });
});
