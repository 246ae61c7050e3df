import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareContexts, renderCalls } from '@hansard/prompt';
import type { DispatchStoreProvider } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { openSqliteStore } from '@hansard/store-sqlite';
import { describe, expect, it } from 'vitest';
import { prepare } from './prepare.ts';
import { model, says } from './scripted.ts';

const stores: Readonly<Record<string, (root: string) => DispatchStoreProvider>> = {
  memory: () => createMemoryStore(),
  'memory that answers later': () => answeringLater(createMemoryStore()),
  jsonfile: (root) => openJsonFileStore({ root }),
  sqlite: (root) => openSqliteStore({ path: join(root, 'log.db') }),
};

/** Each call of the store takes several turns of the microtask queue, and its work is done in the middle of them. */
function answeringLater(provider: DispatchStoreProvider): DispatchStoreProvider {
  return new Proxy(provider, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as (...given: unknown[]) => unknown;
      if (!/^(?:append|read|get)/.test(String(key))) return call;
      return async (...given: unknown[]) => {
        await turns(3);
        const answer = await call(...given);
        await turns(3);
        return answer;
      };
    },
  });
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await null;
}

const timings = Array.from({ length: 40 }, (_, turn) => turn);

type Use = 'response' | 'transcript';

/** A loaded session whose agent receives a message some turns after its log began to be read for it. */
async function play(provider: DispatchStoreProvider, use: Use, timing: number) {
  const prepared = prepare(provider);
  const given: string[][] = [];
  const options = {
    model: model(({ messages }) => {
      given.push(messages.map(({ text }) => text));
      return says(`Answer ${given.length}.`);
    }),
  };
  const first = await prepared.create({ ...options, systemPrompt: 'Help.' });
  await first.root.harken('Begin.');
  await first.session.close();

  const { root, session } = await prepared.load(options);
  const used = use === 'response' ? root.response() : root.transcript();
  await turns(timing);
  await Promise.all([root.harken('URGENT'), used]);
  await root.response();
  await root.harken('And now?');
  await root.response();
  const transcript = await root.transcript();
  await session.evictAgent(root.agentId);
  const rebuilt = await root.transcript();
  await session.close();
  const events = await prepared.events();
  await prepared.store.close();
  return { given, transcript, rebuilt, events };
}

describe('a message that arrives while the log is read for an agent', () => {
  for (const [store, open] of Object.entries(stores))
    for (const use of ['response', 'transcript'] as const)
      it(`is in each prompt and in the transcript once, with a store of ${store} that is read for a ${use}`, async () => {
        const wrong: string[] = [];
        for (const timing of timings) {
          const root = mkdtempSync(join(tmpdir(), 'hansard-session-'));
          try {
            const { given, transcript, rebuilt, events } = await play(open(root), use, timing);
            const contents = transcript.map(({ content }) => content);
            for (const prompt of [...given, contents])
              if (new Set(prompt).size < prompt.length) wrong.push(`after ${timing}: ${prompt.join(' | ')}`);
            if (!contents.includes('URGENT') || !given.at(-1)?.includes('URGENT'))
              wrong.push(`after ${timing}: lost`);
            expect(transcript).toEqual(rebuilt);
            for (const { recorded, manifest } of renderCalls(events))
              if (recorded === null || compareContexts(recorded, manifest).length > 0)
                wrong.push(`after ${timing}: the log renders another context`);
          } finally {
            rmSync(root, { recursive: true });
          }
        }
        expect(wrong).toEqual([]);
      });
});
