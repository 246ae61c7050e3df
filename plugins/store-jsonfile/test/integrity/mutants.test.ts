import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJsonFileStore } from '../../src/index.ts';
import { makeRoot } from '../sample.ts';
import { findSilentDamage } from './damage-battery.ts';

const plugin = join(import.meta.dirname, '../..');

/** Faults in the checks: a text of a source file, and its replacement. */
const mutants: Readonly<Record<string, readonly [file: string, text: string, replacement: string]>> = {
  'a checksum does not begin with the one before it': [
    'lines/append-bytes.ts',
    'crc = checksumOf(new Uint8Array(all.buffer, checkedTo, length - checkedTo), crc);',
    'crc = checksumOf(new Uint8Array(all.buffer, checkedTo, length - checkedTo));',
  ],
  'lines are not checked': [
    'lines/scan-lines.ts',
    'const areWhole = areAllWhole(lines);',
    'const areWhole = true;',
  ],
  'a page does not check the record before it': [
    'lines/scan-lines.ts',
    'checksumOf(bytes.subarray(0, digits), crc) === readChecksum(bytes, digits)',
    'crc !== -1',
  ],
  'the acknowledged length is ignored': [
    'dispatch/file-tail.ts',
    'assertAcknowledged(file, head);',
    'head = { ...head, record: { ...head.record, acknowledged: { bytes: 0, events: 0, crc: 0 } } };',
  ],
  'only the place of the last acknowledged event is checked, and not which one it is': [
    'dispatch/file-tail.ts',
    'readChecksum(last, 0) !== crc || ',
    '',
  ],
  'damage at the end counts as a torn tail': [
    'dispatch/file-tail.ts',
    'const isTorn = (complete === null && !isFollowed) || isPartOfAppend(file, end, size);',
    'const isTorn = true;',
  ],
  'the checksum of a head is not compared': [
    'head/head-codec.ts',
    'readChecksum(bytes, checksumAt) === checksumOf(bytes.subarray(from + 1, textEnd))',
    'checksumAt > 0',
  ],
  'the older head counts': [
    'head/head-codec.ts',
    'first.revision >= second.revision',
    'first.revision < second.revision',
  ],
};

describe('the damage that the tests try', () => {
  it('is never read without an error', () => {
    expect([...findSilentDamage((root) => openJsonFileStore({ root }), makeRoot)]).toEqual([]);
  });

  it.each(Object.entries(mutants))('finds the fault that %s', (_, [file, text, replacement]) => {
    const folder = makeRoot();
    cpSync(join(plugin, 'src'), join(folder, 'src'), { recursive: true });
    cpSync(join(plugin, 'package.json'), join(folder, 'package.json'));
    symlinkSync(join(plugin, 'node_modules'), join(folder, 'node_modules'));
    const path = join(folder, 'src', file);
    const source = readFileSync(path, 'utf8');
    expect(source.split(text)).toHaveLength(2);
    writeFileSync(
      path,
      source.replace(text, () => replacement),
    );
    const script = join(import.meta.dirname, 'try-mutant.ts');
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--conditions=@hansard/source', script, join(folder, 'src')],
      { encoding: 'utf8', timeout: 60_000, env: { ...process.env, TMPDIR: folder } },
    );
    // A fault that makes the store fail is found, too.
    const found = stdout === '' ? [stderr] : JSON.parse(stdout);
    expect(found).not.toEqual([]);
    rmSync(folder, { recursive: true, force: true });
  });
});
