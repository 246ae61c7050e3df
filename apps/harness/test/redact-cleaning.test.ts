import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

const token = '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';
const key = Symbol.for('hansard: the store that cannot be cleaned');
const entry = `export default {
  id: 'unclean', provides: 'DispatchStoreProvider', apiVersion: 1,
  create: () => globalThis[Symbol.for('hansard: the store that cannot be cleaned')](),
};`;

/** A store with an ended dispatch that has a secret, in the files of the command line. */
async function withSecret({ cwd }: CommandLine): Promise<void> {
  await using store = openDispatchStore(openJsonFileStore({ root: join(cwd, '.projects') }));
  await using dispatch = await store.beginDispatch('b/tasks/two', { role: 'worker' });
  await dispatch.append(newEvent('agent:text', { text: token }));
  await dispatch.end({ status: 'completed' });
}

/** Runs a command on that store, whose `removeRemains` does what is given. */
function redact(line: CommandLine, removeRemains: () => readonly string[]) {
  const folder = join(line.cwd, 'unclean');
  const manifest = { id: 'unclean', provides: 'DispatchStoreProvider', entry: './index.mjs', apiVersion: 1 };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'plugin.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'index.mjs'), entry);
  writeFileSync(join(line.cwd, 'unclean.json'), JSON.stringify({ store: './unclean' }));
  const open = (): DispatchStoreProvider => {
    const provider = openJsonFileStore({ root: join(line.cwd, '.projects') });
    return Object.assign(provider, { removeRemains });
  };
  Object.assign(globalThis, { [key]: open });
  return line.hansard('secrets', 'redact', '--yes', '--config', 'unclean.json', '--json');
}

it('a store that cannot be cleaned is an error, after the secrets were replaced', async () => {
  using line = commandLine();
  await withSecret(line);
  const { code, err, json } = await redact(line, () => {
    throw storeErrors.error('STORE_UNAVAILABLE', 'The disk is full.');
  });
  expect(code).toBe(1);
  expect(err).toContain(
    'The secrets are replaced, but unused parts of the store could not be cleaned: The disk is full.',
  );
  expect(err).toContain('Run `hansard secrets redact` again');
  expect(json()).toMatchObject([
    { counts: { 'npm-token': 1 }, events: 1, error: null },
    {
      taskDir: null,
      dispatchId: null,
      remains: ['unused parts of the store, because they could not be cleaned.'],
    },
  ]);
  const events = await line.hansard('show', 'b/two/latest', '--raw', '--json');
  expect(events.out).toContain('[REDACTED:npm-token]');
  expect(events.out).not.toContain(token);
});

it('a store is cleaned once, including when there is nothing to replace, and what remains is named', async () => {
  using line = commandLine();
  await withSecret(line);
  let times = 0;
  const clean = () => {
    times += 1;
    return times === 1 ? ['the tape of March'] : [];
  };
  const first = await redact(line, clean);
  expect([first.code, first.json().at(-1)]).toEqual([
    0,
    { taskDir: null, dispatchId: null, remains: ['the tape of March'] },
  ]);
  expect(first.err).toContain('Not covered: the tape of March');
  const second = await redact(line, clean);
  expect([second.code, second.json(), times]).toEqual([0, [], 2]);
});
