import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import plugin, { jsonFileStoreCapabilities } from '../src/index.ts';
import { makeEnvelope } from './envelope.ts';
import { makeRoot, readDocument, taskDir } from './sample.ts';

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../plugin.json'), 'utf8'));

it('the plugin has the id and the type of its manifest', () => {
  expect(plugin).toMatchObject({ id: manifest.id, provides: manifest.provides });
});

it('the plugin opens its store below the folder of the configuration, with the configured options', async () => {
  const baseDir = makeRoot();
  const root = manifest.configSchema.properties.root.default;
  const store = await plugin.create(
    { root, durability: 'disk' },
    { baseDir, signal: new AbortController().signal },
  );
  expect(store.capabilities).toEqual({ ...jsonFileStoreCapabilities, durability: 'disk' });
  await store.createDispatch(taskDir, makeEnvelope('d1'));
  expect(readDocument(join(baseDir, root, taskDir, 'dispatches/d1.json')).events).toEqual([]);
  await store.close();
});
