import { expect, it } from 'vitest';
import { importPlugin } from '../src/index.ts';
import { createWorkspace, creating } from './plugin-workspace.ts';

it('imports a plugin with its configuration, and creates nothing', async () => {
  const { baseDir, plugin } = createWorkspace();
  plugin('one');
  const config = creating(() => {
    throw new Error('It was created.');
  });
  const configurations = [{ plugin: './one', config }];
  const imported = await importPlugin({ plugin: './one' }, { baseDir, configurations });
  expect(imported).toMatchObject({ plugin: { id: 'tool' }, config });
});

it.each([
  ['a plugin that is missing', './two', {}, 'PLUGIN_NOT_FOUND'],
  ['a denied plugin', './one', { deny: ['tool'] }, 'PLUGIN_NOT_TRUSTED'],
])('refuses %s', async (_, name, options, code) => {
  const { baseDir, plugin } = createWorkspace();
  plugin('one');
  await expect(importPlugin({ plugin: name }, { baseDir, ...options })).rejects.toMatchObject({ code });
});
