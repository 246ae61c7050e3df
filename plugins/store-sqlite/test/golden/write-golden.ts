/**
 * Writes the golden database with a store, and prints its bytes, compressed. Arguments: the module of the
 * store, the file. It is written once, when a format is released, and then only read.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { goldenDispatches, goldenTasks } from './golden-content.ts';

const [module = '', file = ''] = process.argv.slice(2);
const { openSqliteStore } = await import(pathToFileURL(resolve(module)).href);
const folder = mkdtempSync(join(tmpdir(), 'hansard-golden-'));
const path = join(folder, 'hansard.sqlite');
const store = openSqliteStore({ path });
for (const [taskDir, task] of goldenTasks) store.putTask(taskDir, task);
for (const { taskDir, envelope, batches } of goldenDispatches) {
  store.createDispatch(taskDir, { ...envelope, status: 'running' });
  for (const batch of batches) store.appendEvents(taskDir, envelope.dispatchId, batch);
  store.updateDispatch(taskDir, envelope.dispatchId, { status: envelope.status });
  store.searchEvents('words', { taskDir });
}
store.close();
writeFileSync(file, gzipSync(readFileSync(path), { level: 9 }));
rmSync(folder, { recursive: true });
