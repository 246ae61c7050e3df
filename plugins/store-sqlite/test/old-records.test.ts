import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSqliteStore } from '../src/index.ts';

it('overwrites what the record of a task was before', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'hansard.sqlite');
  const record = { slug: 'two', project: 'b', status: 'open', created: '2026-03-01T10:00:00.000Z' };
  const write = (name: string) => {
    const store = openSqliteStore({ path });
    store.putTask('b/tasks/two', { ...record, name });
    store.close();
  };
  const filler = 'x'.repeat(300);
  write(`${filler} a word that was secret ${filler}`);
  expect(readFileSync(path).includes('a word that was secret')).toBe(true);
  write('short');
  const bytes = readFileSync(path);
  expect([bytes.includes('short'), bytes.includes('a word that was secret')]).toEqual([true, false]);
});
