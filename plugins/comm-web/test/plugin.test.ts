import { readFileSync } from 'node:fs';
import { contractVersion, requiredMethods } from '@hansard/provider';
import { expect, it } from 'vitest';
import plugin from '../src/index.ts';

const manifest = JSON.parse(readFileSync(new URL('../plugin.json', import.meta.url), 'utf8'));

it('is the plugin that its manifest describes', () => {
  expect(manifest).toMatchObject({
    id: plugin.id,
    provides: plugin.provides,
    entry: './dist/index.js',
    apiVersion: contractVersion,
    configSchema: { additionalProperties: false },
  });
});

it('makes a provider with the methods of its type, which listens nowhere before it is started', async () => {
  const provider = await plugin.create({}, { baseDir: '/', signal: new AbortController().signal });
  expect(requiredMethods.CommunicationProvider?.filter((name) => !(name in provider))).toEqual([]);
  await provider.close?.();
});
