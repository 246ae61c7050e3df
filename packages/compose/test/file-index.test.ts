import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blameFile } from '@hansard/compose/reading';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import type { NewEvent } from '@hansard/events';
import type { DispatchStoreProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { afterAll, expect, it } from 'vitest';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const seeds = Number(process.env.HANSARD_SEEDS ?? 4);
const folder = mkdtempSync(join(tmpdir(), 'hansard-file-index-'));
afterAll(() => rmSync(folder, { recursive: true }));

const paths = ['/w/src/app.ts', '/w/lib/app.ts', '/w/src/cart.ts', '/w/src/old.ts', '/w/---'];
type Below = (count: number) => number;
type Blame = typeof blameFile;

/** A store that counts the events that are read of its logs. */
function counted(): { readonly store: DispatchStore; reads(): number } {
  let read = 0;
  const provider = createMemoryStore();
  const counting = new Proxy(provider, {
    get(target, key) {
      const value = Reflect.get(target, key) as unknown;
      if (typeof value !== 'function') return value;
      if (key !== 'readEvents') return value.bind(target);
      return async (...args: Parameters<DispatchStoreProvider['readEvents']>) => {
        const page = await target.readEvents(...args);
        read += page.events.length;
        return page;
      };
    },
  });
  // The memory store has an index of words, which would answer instead.
  const capabilities = { ...provider.capabilities, search: false as const };
  const plain = new Proxy(counting, {
    get: (target, key) => (key === 'capabilities' ? capabilities : Reflect.get(target, key)),
  });
  return { store: openDispatchStore(plain), reads: () => read };
}

function edit(below: Below, number: number): NewEvent {
  const path = paths[below(paths.length)] as string;
  const isRenamed = below(5) === 0;
  const change = {
    path: below(3) === 0 ? path.slice('/w/'.length) : path,
    ...(isRenamed ? { from: paths[below(paths.length)] } : {}),
    before: `a line ${number - 1}\n`,
    after: `a line ${number}\n`,
  };
  const call = { tool: 'Edit', toolCallId: `c${number}`, target: path, metadata: { path, sizeAfter: 9 } };
  return {
    type: 'agent:tool_result',
    data: { ...call, status: 'completed', output: 'done', changes: [change] } as never,
  };
}

const said = (text: string): NewEvent => ({ type: 'agent:text', data: { text } });

/** A store whose sessions grow, go, are rewritten, and lose their last event. */
class Sessions {
  readonly #below: Below;
  readonly #store: DispatchStore;
  #made = 0;
  readonly #ids: string[] = [];

  constructor(store: DispatchStore, below: Below) {
    this.#store = store;
    this.#below = below;
  }

  #events(): NewEvent[] {
    return Array.from({ length: 1 + this.#below(9) }, () => {
      this.#made += 1;
      return this.#below(3) === 0 ? edit(this.#below, this.#made) : said(`words ${this.#made}`);
    });
  }

  async begin(): Promise<void> {
    const fidelity = this.#below(4) === 0 ? 'narrative' : 'full';
    const dispatch = await this.#store.beginDispatch('p/tasks/t', { role: 'worker', fidelity, cwd: '/w' });
    this.#ids.push(dispatch.dispatchId);
    await dispatch.append(this.#events());
    await dispatch.end({ status: 'completed' });
  }

  async change(): Promise<void> {
    const at = this.#below(this.#ids.length);
    const ref = { taskDir: 'p/tasks/t', dispatchId: this.#ids[at] ?? '' };
    const kind = this.#below(4);
    if (kind === 0 || at < 0 || this.#ids.length < 3) return this.begin();
    if (kind === 1) {
      await this.#store.deleteDispatch(ref);
      this.#ids.splice(at, 1);
      return;
    }
    await using dispatch = await this.#store.openDispatch(ref, { write: true });
    await dispatch.append(this.#events());
    await dispatch.release();
  }
}

/** Damages the file of the index, or puts an older one back. */
function damage(path: string, older: readonly Buffer[], below: Below): void {
  const bytes = readFileSync(path);
  const lines = bytes.toString('latin1').split('\n');
  const kind = below(7);
  if (kind === 0 && bytes.length > 0)
    for (let left = 1 + below(4); left > 0; left -= 1) bytes[below(bytes.length)] = below(256);
  if (kind === 1) lines.splice(below(lines.length), 1);
  if (kind === 2) lines.splice(below(lines.length), 0, lines[below(lines.length)] ?? '');
  if (kind === 3) lines.reverse();
  if (kind === 4) writeFileSync(path, older[below(older.length)] ?? '');
  else if (kind === 5) writeFileSync(path, bytes.subarray(0, below(bytes.length + 1)));
  else if (kind === 6) {
    // The row of one session under the name of another.
    const [one = '', two = ''] = [1 + below(3), 1 + below(3)].map((at) => lines[at]);
    writeFileSync(path, [lines[0], one.slice(0, 31) + two.slice(31), ...lines.slice(1)].join('\n'), 'latin1');
  } else writeFileSync(path, kind === 0 ? bytes : Buffer.from(lines.join('\n'), 'latin1'));
}

/** The first question whose answer an index changed, in a run of random changes; null: none. */
async function firstDifference(blame: Blame, run: number): Promise<string | null> {
  const random = randomFrom(run);
  const below: Below = (count) => Math.floor(random() * count);
  const { store } = counted();
  const sessions = new Sessions(store, below);
  const index = join(folder, `index-${run}-${blame === blameFile ? 'real' : 'mutant'}`);
  const older: Buffer[] = [];
  for (let at = 0; at < 4; at += 1) await sessions.begin();
  for (let step = 0; step < 25; step += 1) {
    if (below(2) === 0) await sessions.change();
    if (older.length > 0 && below(3) > 0) damage(index, older, below);
    const path = paths[below(paths.length)] as string;
    const question = { paths: [path], content: `a line ${below(40)}\n`, onSession: async () => {} };
    const without = JSON.stringify(await blameFile(store, question));
    const withIndex = JSON.stringify(await blame(store, { ...question, index }));
    if (withIndex !== without) return `seed ${run}, step ${step}, ${path}`;
    older.push(readFileSync(index));
  }
  await store.close();
  return null;
}

/** A damaged row that was believed. */
function notJson(error: unknown): string {
  if (error instanceof SyntaxError) return error.message;
  throw error;
}

it(`an index that is damaged, stale or another's changes no answer (HANSARD_SEED=${seed})`, async () => {
  for (let run = seed; run < seed + seeds; run += 1) expect(await firstDifference(blameFile, run)).toBeNull();
});

it.each([
  [
    'the state of the log is not compared',
    'if (row?.slice(digits + 1, 2 * digits + 1) !== stamp) return null;',
    'if (row === undefined) return null;',
  ],
  ['a row is believed without its checksum', '=== `$'.concat('{checksumOf(row)} `)'), '!== null)'],
  [
    'the last event of a log is not read',
    'JSON.stringify([first, events, envelope])',
    'JSON.stringify([envelope.dispatchId])',
  ],
])('the comparison notices that %s', async (_, piece, instead) => {
  const { blameFile: mutated } = (await importMutated(
    join(import.meta.dirname, '..'),
    ['reading/file-index.ts', piece, instead],
    'reading/blame-file.ts',
  )) as { blameFile: Blame };
  let found: string | null = null;
  for (let run = 0; run < 12 && found === null; run += 1)
    found = await firstDifference(mutated, run).catch(notJson);
  expect(found).not.toBeNull();
});

it('reads no log again whose state the index knows, and keeps no name of a file', async () => {
  const { store, reads } = counted();
  const random = randomFrom(1);
  const sessions = new Sessions(store, (count) => Math.floor(random() * count));
  for (let at = 0; at < 20; at += 1) await sessions.begin();
  const index = join(folder, 'counts');
  const question = { paths: ['/w/none.ts'], content: '', onSession: async () => {}, index };
  await blameFile(store, question);
  const first = reads();
  const written = statSync(index);
  await blameFile(store, question);
  // One of each log, which says its state.
  expect(reads() - first).toBe(20);
  expect(statSync(index)).toMatchObject({ ino: written.ino, mtimeMs: written.mtimeMs });
  expect(written.mode & 0o777).toBe(0o600);
  expect(readFileSync(index, 'utf8')).not.toMatch(/[./]/);
  await store.close();
});
