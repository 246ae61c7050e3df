import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore, usageOf } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { corpus, isCorpusThere, skipped } from '@hansard/testing';
import { dispatchTree } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { importAll } from './logs.ts';

const folder = join(corpus, 'claude-transcripts/continued');

interface Source {
  readonly type: string;
  readonly message?: {
    readonly id?: string;
    readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
  };
}

const recordsOf = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Source);

describe('a recorded session and its continuation', () => {
  it.skipIf(!isCorpusThere)(
    `count each model message once, in the totals and by model${skipped}`,
    async () => {
      const files = globSync('*.jsonl', { cwd: folder }).map((name) => recordsOf(join(folder, name)));
      const usages = new Map(
        files.flat().flatMap(({ type, message }) => {
          const { id, usage } = message ?? {};
          return type === 'assistant' && id !== undefined && usage !== undefined
            ? [[id, usage] as const]
            : [];
        }),
      );
      expect(usages.size).toBe(3);
      const inputTokens = [...usages.values()].reduce((sum, { input_tokens }) => sum + input_tokens, 0);
      const outputTokens = [...usages.values()].reduce((sum, { output_tokens }) => sum + output_tokens, 0);

      await using store = openDispatchStore(createMemoryStore());
      const [first] = await importAll(store, [folder]);
      if (first?.kind !== 'imported') throw new Error('Nothing was imported.');
      const envelopes = await store.getDispatchEnvelopes(first.taskDir);
      expect(envelopes).toHaveLength(2);
      // The continuation is not a worker of the session before.
      expect(dispatchTree(envelopes)).toHaveLength(2);
      const { total, rows, copiedCalls } = await usageOf(store, { by: ['model'] });
      expect(total).toMatchObject({ modelCalls: usages.size, inputTokens, outputTokens });
      expect(rows).toMatchObject([{ modelCalls: usages.size, inputTokens, outputTokens }]);
      expect(copiedCalls).toBe(1);
    },
  );
});
