import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  batchMark,
  closings,
  diskFormatVersion,
  dispatchPaths,
  eventsLine,
  names,
  smallestSlot,
} from '../src/disk-format.ts';
import { makeEnvelope } from './envelope.ts';
import { makeEvent, makeEvents, makeRoot, openStore, taskDir } from './sample.ts';

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
const [, section = ''] = /## On the disk\n([\s\S]*?)\n## /.exec(readme) ?? [];
const [, code = ''] =
  /\/\*\*\n([\s\S]*?)\*\//.exec(readFileSync(join(import.meta.dirname, '../src/disk-format.ts'), 'utf8')) ??
  [];

/** Every name of a file in the format, as both descriptions write it. */
const { damaged, dispatch, lock, temporary, writers, dispatches, task, taskLock, taskTemporary } = names;
const documented = [
  `${writers}/TOKEN.json`,
  task,
  `${taskLock}.1`,
  taskTemporary,
  `${dispatches}/`,
  `ID${dispatch}`,
  `ID${lock}.N`,
  `.ID.N${temporary}`,
  `ID${dispatch}${damaged}N`,
];

describe.each([
  ['the README', section],
  ['the head of disk-format.ts', code],
])('the disk format in %s', (_, text) => {
  it.each(documented)('names %s', (name) => {
    expect(text).toContain(name);
  });

  it('has the version, the size of slots, the line of events and both closing brackets', () => {
    expect(text).toMatch(new RegExp(`version ${diskFormatVersion}\\b`));
    expect(text.replaceAll(',', '')).toContain(`${smallestSlot}`);
    expect(text).toContain(`${eventsLine}\n`);
    expect(text).toContain(`${batchMark.replace(' ', '·')}{"id":"2"`);
    for (const closing of Object.values(closings)) expect(text).toContain(closing.trim());
  });
});

describe('the files of a store', () => {
  it('have the documented names, and the documented lines', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    store.appendEvent(taskDir, 'd1', makeEvent(1));
    store.appendEvents(taskDir, 'd1', makeEvents(2, 3));
    const paths = dispatchPaths(join(root, taskDir), 'd1');
    expect(readdirSync(paths.folder).sort()).toEqual([`d1${dispatch}`, `d1${lock}.1`]);
    expect(readdirSync(join(root, taskDir))).toEqual([dispatches]);
    const [token = ''] = readdirSync(join(root, writers));
    expect(readFileSync(`${paths.lock}.1`, 'utf8')).toBe(readFileSync(join(root, writers, token), 'utf8'));

    const [head = '', copy = '', opening, ...lines] = readFileSync(paths.file, 'utf8').split('\n');
    for (const line of [head, copy]) expect(Buffer.byteLength(`${line}\n`)).toBe(smallestSlot);
    const content = JSON.parse(`${head.trimEnd().slice(0, -1)}}`);
    expect(content).toMatchObject({ format: diskFormatVersion, epoch: 1, envelope: makeEnvelope('d1') });
    expect(JSON.parse(`{${copy.trimEnd().slice(0, -1)}}`)).toEqual({ copy: content });
    expect(opening).toBe(eventsLine);
    const [first, second, third, fourth] = makeEvents(1, 4).map((event) =>
      JSON.stringify(event).slice(0, -1),
    );
    const withoutChecksums = lines.map((line) => line.replace(/,"crc":"[0-9a-f]{8}"\}/, ''));
    expect(lines.join().match(/"crc":"[0-9a-f]{8}"\}/g)).toHaveLength(4);
    expect(withoutChecksums).toEqual([
      `${first},`,
      `${batchMark}${second},`,
      `${batchMark}${third},`,
      fourth,
      ...closings.growing.trimStart().split('\n'),
    ]);
  });
});
