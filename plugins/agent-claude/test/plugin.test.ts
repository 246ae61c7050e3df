import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractVersion } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import plugin from '../src/index.ts';
import { fixtures, ofType, runAgent } from './run-agent.ts';

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../plugin.json'), 'utf8'));

describe('the plugin', () => {
  it('is what its manifest says', () => {
    expect(manifest).toMatchObject({
      id: plugin.id,
      provides: plugin.provides,
      apiVersion: contractVersion,
    });
  });

  it('replays a stream that is named relative to the configuration', async () => {
    const context = { baseDir: fixtures, signal: new AbortController().signal };
    const agent = await plugin.create({ replay: 'hook-deny.jsonl' }, context);
    expect(ofType((await runAgent(agent)).events, 'session:complete')).toHaveLength(1);
  });
});
