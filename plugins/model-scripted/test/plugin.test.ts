import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
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
    configSchema: { required: ['scenario'], additionalProperties: false },
  });
});

it('opens the scenario of its configuration, relative to the folder of that', async () => {
  const baseDir = fileURLToPath(new URL('../../../examples', import.meta.url));
  const context = { baseDir, signal: new AbortController().signal };
  const provider = await plugin.create({ scenario: 'scenarios/cafe.yaml' }, context);
  expect(requiredMethods.LanguageModelProvider.filter((name) => !(name in provider))).toEqual([]);
  await expect(plugin.create({ scenario: 'cafe.yaml' }, context)).rejects.toMatchObject({
    code: 'SCENARIO_UNREADABLE',
  });
});
