import { copyFileSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { isEventOf } from '@hansard/events';
import { importLogs } from '@hansard/import';
import { createMemoryStore } from '@hansard/store-memory';
import { expect, it } from 'vitest';
import { countCodexWithCcusage, findCcusage } from '../../../../scripts/engines/ccusage.ts';

const corpus = process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../../../../shared/fixtures');
const cli = findCcusage() ?? '';
const isThere = cli !== '' && existsSync(corpus);
const skipped = isThere ? '' : ' (skipped: no ccusage in scripts/engines, or no corpus)';

/** `ccusage` 20.0.24 leaves out the sub-agent of Codex 0.169, which used 17,170 tokens in two responses of its own. */
const notCounted = '01a21402-d8c6-7001-a48b-8136e5d120d7';

type Tokens = Record<'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens', number>;

function add(
  sums: Map<string, Tokens>,
  key: string,
  tokens: { readonly [Name in keyof Tokens]?: number | undefined },
): void {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = sums.get(key) ?? {
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
  sums.set(key, {
    inputTokens: inputTokens + (tokens.inputTokens ?? 0),
    outputTokens: outputTokens + (tokens.outputTokens ?? 0),
    cacheReadTokens: cacheReadTokens + (tokens.cacheReadTokens ?? 0),
    cacheWriteTokens: cacheWriteTokens + (tokens.cacheWriteTokens ?? 0),
  });
}

/** By day and model, each answer once: a copied head has the answers of its origin. */
async function countWithHansard(folder: string): Promise<Map<string, Tokens>> {
  await using store = openDispatchStore(createMemoryStore());
  const task = 'lab/codex';
  for await (const item of importLogs(store, [folder], { task })) expect(item.kind).toBe('imported');
  const answers = new Set<string>();
  const sums = new Map<string, Tokens>();
  for (const { dispatchId } of await store.getDispatchEnvelopes(task))
    for (const event of await store.getDispatchEvents(task, dispatchId)) {
      if (!isEventOf(event, 'agent:inference')) continue;
      const { messageId = event.id, timestamp, data } = event;
      if (answers.has(messageId)) continue;
      answers.add(messageId);
      add(sums, `${timestamp?.slice(0, 10)} ${data.model}`, data.usage);
    }
  return sums;
}

it.skipIf(!isThere)(
  `ccusage counts the same tokens of Codex, by day and model${skipped}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hansard-ccusage-codex-'));
    try {
      const sessions = join(folder, 'codex/sessions/2026/04/01');
      mkdirSync(sessions, { recursive: true });
      const files = globSync(['codex/*.jsonl', 'agents/codex-*/**/*.jsonl'], { cwd: corpus });
      for (const file of files) {
        const [first = ''] = readFileSync(join(corpus, file), 'utf8').split('\n', 1);
        const { id = basename(file) } = JSON.parse(first).payload;
        if (id !== notCounted)
          copyFileSync(join(corpus, file), join(sessions, `rollout-2026-04-01T00-00-00-${id}.jsonl`));
      }
      const theirs = new Map<string, Tokens>();
      for (const { day, model, ...tokens } of await countCodexWithCcusage(
        cli,
        join(folder, 'codex'),
        join(folder, 'home'),
      ))
        add(theirs, `${day} ${model}`, tokens);
      const ours = await countWithHansard(join(folder, 'codex'));
      expect(Object.fromEntries(ours)).toEqual(Object.fromEntries(theirs));
      expect(ours.size).toBeGreaterThan(6);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  60_000,
);
