import { readFileSync } from 'node:fs';
import { contractVersion } from '@hansard/provider';
import { expect, it } from 'vitest';
import plugin from '../src/index.ts';

const manifest = JSON.parse(readFileSync(new URL('../plugin.json', import.meta.url), 'utf8'));
const context = { baseDir: '/', signal: new AbortController().signal };
const systemPrompt = 'You watch.';

it('is the plugin that its manifest describes', () => {
  expect(manifest).toMatchObject({
    id: plugin.id,
    provides: plugin.provides,
    entry: './dist/index.js',
    apiVersion: contractVersion,
    configSchema: { additionalProperties: false, required: ['systemPrompt'] },
  });
});

it('is named in the log after the plugin, or as the configuration says', async () => {
  expect(await plugin.create({ systemPrompt }, context)).toMatchObject({ name: plugin.id });
  expect(await plugin.create({ systemPrompt, name: 'Memory' }, context)).toMatchObject({ name: 'Memory' });
});

it('observes and decides only what it is configured for', async () => {
  const methods = async (config: object) =>
    Object.entries(await plugin.create({ systemPrompt, ...config }, context)).flatMap(([name, value]) =>
      typeof value === 'function' ? [name] : [],
    );
  expect(await methods({ observe: ['message'] })).toEqual(['observe']);
  expect(await methods({ decide: ['delivery'] })).toEqual(['decide']);
});
