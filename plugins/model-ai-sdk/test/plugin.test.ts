import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contractVersion, pluginErrors, requiredMethods } from '@hansard/provider';
import { afterAll, expect, it } from 'vitest';
import plugin from '../src/index.ts';
import { request } from './reply.ts';

const manifest = JSON.parse(readFileSync(new URL('../plugin.json', import.meta.url), 'utf8'));
const baseDir = mkdtempSync(join(tmpdir(), 'hansard-ai-sdk-'));
afterAll(() => rmSync(baseDir, { recursive: true }));

function open(source: string) {
  const module = `models-${source.length}.mjs`;
  writeFileSync(join(baseDir, module), source);
  return Promise.resolve(plugin.create({ module }, { baseDir, signal: new AbortController().signal }));
}

it('is the plugin that its manifest describes', () => {
  expect(manifest).toMatchObject({
    id: plugin.id,
    provides: plugin.provides,
    entry: './dist/index.js',
    apiVersion: contractVersion,
    configSchema: { required: ['module'], additionalProperties: false },
  });
});

it('asks the module of its configuration for the model', async () => {
  const provider = await open('export default (name) => { throw new Error("asked for " + name); };');
  expect(requiredMethods.LanguageModelProvider.filter((name) => !(name in provider))).toEqual([]);
  await expect(Promise.resolve(provider.generate(request({ model: 'small' })))).rejects.toThrow(
    'asked for small',
  );
});

it('says so when the module exports no function by default', async () => {
  const error: unknown = await open('export const model = 1;').catch((caught) => caught);
  expect(pluginErrors.is(error, 'PLUGIN_CONFIG_INVALID')).toBe(true);
  expect((error as Error).message).toContain('has no function as its default export');
});
