import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type ListDispatchesOptions, systemClock } from '@hansard/provider';
import { randomFrom } from '@hansard/testing';
import { expect, it } from 'vitest';
import { thisSystem } from '../src/store-system.ts';
import { makeEnvelope } from './envelope.ts';
import { failingFiles } from './failing-files.ts';
import { makeEvent, makeRoot, openStore, taskDir } from './sample.ts';

const seed = Number(process.env.HANSARD_SEED ?? 20_261_126);
/** `HANSARD_STEPS=1000` for a campaign. */
const steps = Number(process.env.HANSARD_STEPS ?? 100);
/** By this clock, what was just written is older than what a listing distrusts. `afterwards` keeps the times of changes apart. */
const clock = { ...systemClock, now: () => systemClock.now() + 1_000 };
const listingOf = (root: string) => join(root, taskDir, '.listing');
const openLate = (root: string) => openStore(root, {}, { clock });

/** Runs a change, and waits until a further one would get a later time of the file system. */
function afterwards(root: string, change: () => void): void {
  change();
  const probe = join(root, 'probe');
  writeFileSync(probe, '');
  const { ctimeMs } = statSync(probe);
  while (statSync(probe).ctimeMs === ctimeMs) utimesSync(probe, 0, 0);
}

/** The dispatches as their files have them, by a reader of its own. */
function inFiles(root: string): string[] {
  const folder = join(root, taskDir, 'dispatches');
  return readdirSync(folder)
    .filter((name) => /^[^.].*\.json$/.test(name))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
    .map(({ envelope, copy, revision, events }) => {
      const { dispatchId, startedAt, status, title } = copy.revision > revision ? copy.envelope : envelope;
      return [startedAt, dispatchId, status, title, events.at(-1)?.timestamp ?? startedAt].join(' ');
    })
    .sort();
}

function inListing(root: string, options: ListDispatchesOptions): string[] {
  const store = openLate(root);
  try {
    const found = [];
    for (let after: string | undefined; ; ) {
      const page = store.listDispatches({ taskDir, ...options, ...(after === undefined ? {} : { after }) });
      found.push(...page.dispatches);
      if (page.next === null) break;
      after = page.next;
    }
    return found.map(({ envelope, dispatchId, lastActiveAt }) =>
      [envelope?.startedAt, dispatchId, envelope?.status, envelope?.title, lastActiveAt].join(' '),
    );
  } finally {
    store.close();
  }
}

/** The content of a listing file with these lines, and the right checksum. */
function signed(lines: readonly string[]): string {
  const body = lines.map((line) => `${line}\n`).join('');
  const crc = crc32(body).toString(16).padStart(8, '0');
  return `${JSON.stringify({ format: 1, crc })}\n${body}`;
}

const start = (at: number) => new Date(Date.UTC(2026, 2, 1) + at * 1_000).toISOString();

/** Damages, swaps, replaces or removes a listing file, or leaves it; `old` has its earlier contents. */
function damage(path: string, old: string[], random: () => number): void {
  const below = (count: number) => Math.floor(random() * count);
  const text = lstatSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, 'utf8') : '';
  if (text !== '') old.push(text);
  const lines = text.split('\n').slice(1, -1);
  const swapped = lines.map((line, at) => {
    const facts = JSON.parse(line);
    return JSON.stringify([facts[0], ...JSON.parse(lines[(at + 1) % lines.length] ?? line).slice(1)]);
  });
  const contents = [
    () => text.slice(0, below(text.length + 1)),
    () => text.replace(/[0-9]/g, (digit) => (random() < 0.05 ? String(below(10)) : digit)),
    () => String.fromCharCode(...Array.from({ length: 200 }, () => below(256))),
    () => signed(swapped),
    () => signed([...lines, JSON.stringify(['foreign', 1, 2, 3, start(1), 'completed', start(2)])]),
    () => signed(lines.filter(() => random() < 0.5)),
    () => signed([...lines, '{', 'null']),
    () => old[below(old.length)] ?? '',
    () => text,
    () => text,
  ];
  rmSync(path, { recursive: true, force: true });
  const kind = below(contents.length + 3);
  if (kind < contents.length) writeFileSync(path, contents[kind]?.() ?? '');
  else if (kind === contents.length) mkdirSync(path);
  else if (kind === contents.length + 1) symlinkSync('/dev/zero', path);
}

it(`${steps} random damages of the listing file, beside writers, change no listing (seed ${seed})`, () => {
  const random = randomFrom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const root = makeRoot();
  const path = listingOf(root);
  const writers = [openStore(root), openStore(root)];
  const ids: string[] = [];
  let made = 0;
  let events = 0;
  const create = () => {
    const dispatchId = `d${made}`;
    made += 1;
    ids.push(dispatchId);
    writers[below(2)]?.createDispatch(taskDir, makeEnvelope(dispatchId, { startedAt: start(below(100)) }));
  };
  const change = () => {
    const id = ids[below(ids.length)] ?? '';
    const writer = writers[below(2)];
    const kind = ids.length < 12 ? 0 : below(6);
    if (kind === 0) create();
    else if (writer?.findClaim(taskDir, id)?.isOwn === false) return;
    else if (kind === 1) {
      writer?.deleteDispatch(taskDir, id);
      ids.splice(ids.indexOf(id), 1);
    } else {
      writer?.claimDispatch(taskDir, id);
      if (kind === 2) writer?.updateDispatch(taskDir, id, { status: 'completed' });
      else if (kind === 3) writer?.updateDispatch(taskDir, id, { title: `title ${10 + below(90)}` });
      else if (kind === 4) writer?.updateDispatch(taskDir, id, { startedAt: start(below(100)) });
      else {
        events += 1;
        writer?.appendEvent(taskDir, id, { ...makeEvent(events), timestamp: start(1_000 + events) });
      }
      if (random() < 0.7) writer?.releaseDispatch(taskDir, id);
    }
  };
  const old: string[] = [];
  let kept = 0;
  for (let at = 0; at < 20; at += 1) create();
  for (let step = 0; step < steps; step += 1) {
    for (let count = below(4); count > 0; count -= 1) afterwards(root, change);
    damage(path, old, random);
    const options = [{}, { limit: 7 }, { limit: 5, order: 'newest' } as const][below(3)] ?? {};
    const expected = inFiles(root);
    const listed = inListing(root, options);
    expect([step, options.order === 'newest' ? listed.reverse() : listed]).toEqual([step, expected]);
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile()) kept += 1;
    const status = ['completed'] as const;
    expect(inListing(root, { status })).toEqual(expected.filter((line) => line.includes(' completed ')));
  }
  // The file is there as a rule, or the steps above prove nothing.
  expect(kept).toBeGreaterThan(steps / 2);
});

it('a later opening opens only what its page shows, and what has changed', () => {
  const root = makeRoot();
  const writer = openStore(root);
  for (let at = 10; at < 40; at += 1) {
    const startedAt = `2026-03-01T09:${at}:00.000Z`;
    afterwards(root, () => writer.createDispatch(taskDir, makeEnvelope(`d${at}`, { startedAt })));
  }
  const openedBy = (options: ListDispatchesOptions) => {
    const opened = new Set<string>();
    const files = {
      ...thisSystem.files,
      open(path: string, flags: number) {
        opened.add(path.slice(path.lastIndexOf('/') + 1));
        return thisSystem.files.open(path, flags);
      },
    };
    const reader = openStore(root, {}, { files, clock });
    reader.listDispatches({ taskDir, ...options });
    return opened;
  };
  expect(openedBy({}).size).toBe(32);
  expect(openedBy({ order: 'newest', limit: 2 })).toEqual(new Set(['.listing', 'd39.json', 'd38.json']));
  afterwards(root, () => writer.updateDispatch(taskDir, 'd12', { title: 'changed' }));
  expect(openedBy({ limit: 1 })).toEqual(new Set(['.listing', 'd10.json', 'd12.json']));
});

it('a listing that cannot be kept is a listing', () => {
  const root = makeRoot();
  const writer = openStore(root);
  for (let at = 10; at < 30; at += 1) writer.createDispatch(taskDir, makeEnvelope(`d${at}`));
  const { files } = failingFiles(thisSystem.files);
  const refusing = {
    ...files,
    open(path: string, flags: number) {
      if (path.endsWith('.listing.tmp'))
        throw Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'open', errno: -13, path });
      return files.open(path, flags);
    },
  };
  const reader = openStore(root, {}, { files: refusing, clock });
  expect(reader.listDispatches({ taskDir }).dispatches).toHaveLength(20);
  expect(lstatSync(listingOf(root), { throwIfNoEntry: false })).toBeUndefined();
});

it('a listing file holds no text of a dispatch', () => {
  const root = makeRoot();
  const writer = openStore(root);
  for (let at = 10; at < 30; at += 1)
    writer.createDispatch(
      taskDir,
      makeEnvelope(`d${at}`, { title: 'SECRET', cwd: '/SECRET', role: 'SECRET' }),
    );
  openLate(root).listDispatches({ taskDir });
  const text = readFileSync(listingOf(root), 'utf8');
  expect(text.split('\n')).toHaveLength(22);
  expect(text).not.toContain('SECRET');
});
