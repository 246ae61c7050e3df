import { readFileSync } from 'node:fs';
import { contractVersion, requiredMethods } from '@hansard/provider';
import { expect, it } from 'vitest';
import plugin from '../src/index.ts';

const manifest = JSON.parse(readFileSync(new URL('../plugin.json', import.meta.url), 'utf8'));
const context = { baseDir: '/', signal: new AbortController().signal };

it('is the plugin that its manifest describes', async () => {
  expect(manifest).toMatchObject({
    id: plugin.id,
    provides: plugin.provides,
    entry: './dist/index.js',
    apiVersion: contractVersion,
    configSchema: { additionalProperties: false },
  });
  const provider = await plugin.create({}, context);
  expect(requiredMethods.HookProvider.filter((name) => !(name in provider))).toEqual([]);
});

it('is named in the log after the plugin, or as the configuration says', async () => {
  expect(await plugin.create({}, context)).toMatchObject({ name: plugin.id });
  expect(await plugin.create({ name: 'ResourceMonitor' }, context)).toMatchObject({
    name: 'ResourceMonitor',
  });
});
