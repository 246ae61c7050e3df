import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createReplayAgent } from '@hansard/agent-claude';
import { openDispatchStore, runDispatch } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { parseEnvelope, parseEvent } from '@hansard/events';
import type { AgentProvider, Clock, DispatchStoreProvider } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { openSqliteStore } from '@hansard/store-sqlite';
import { renderSessionView } from '@hansard/views';
import { afterAll, describe, expect, it } from 'vitest';

const taskDir = 'research/tasks/streams';
const temporary = mkdtempSync(join(tmpdir(), 'hansard-streams-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

const corpus = join(
  process.env.HANSARD_CORPUS ?? fileURLToPath(new URL('../../../../shared/fixtures', import.meta.url)),
  'claude-stream',
);
const own = globSync('*.jsonl', { cwd: fileURLToPath(new URL('../demo', import.meta.url)) }).map((file) =>
  fileURLToPath(new URL(`../demo/${file}`, import.meta.url)),
);

const freshFolder = () => mkdtempSync(join(temporary, 'store-'));

/** A stopped clock, so that two recordings of one stream have the same times. */
const clock: Clock = { now: () => Date.UTC(2026, 10, 21), monotonic: () => 0, after: () => () => {} };

interface Recording {
  readonly events: CapturedEvent[];
  readonly envelope: DispatchEnvelope | null;
  readonly view: string;
}

async function record(
  provider: DispatchStoreProvider,
  path: string,
  onEvent?: () => void,
): Promise<Recording> {
  let minted = 0;
  const createId = () => `01M80000000000000000000${String(minted++).padStart(3, '0')}`;
  await using store = openDispatchStore(provider, { clock, createId });
  const replay = createReplayAgent({ path, now: clock.now });
  const agent: AgentProvider = {
    contract: 1,
    async *run(request) {
      for await (const activity of replay.run(request)) {
        yield activity;
        onEvent?.();
      }
    },
  };
  const { dispatchId } = await runDispatch({
    store,
    taskDir,
    agent,
    role: 'analyst',
    clock,
    dispatchId: 'the-dispatch',
  });
  return {
    events: await store.getDispatchEvents(taskDir, dispatchId),
    envelope: await store.getDispatchEnvelope(taskDir, dispatchId),
    view: await renderSessionView(store, taskDir, dispatchId),
  };
}

function defineStreamTests(streams: readonly string[]): void {
  it.each(streams.map((path) => [basename(path), path]))(
    '%s gives the same events, envelope and view in every store',
    async (_name, path) => {
      const memory = await record(createMemoryStore(), path);
      const file = await record(openJsonFileStore({ root: freshFolder() }), path);
      const sqlite = await record(openSqliteStore({ path: join(freshFolder(), 'hansard.sqlite') }), path);
      expect(file).toEqual(memory);
      expect(sqlite).toEqual(memory);
      expect(memory.events.length).toBeGreaterThan(4);
      for (const event of memory.events) parseEvent(event);
      expect(parseEnvelope(memory.envelope)).toMatchObject({
        status: expect.stringMatching(/completed|crashed/),
        completedAt: expect.any(String),
      });
    },
  );

  it.each(streams.map((path) => [basename(path), path]))(
    '%s leaves a valid JSON document after each event',
    async (_name, path) => {
      const root = freshFolder();
      const file = join(root, taskDir, 'dispatches/the-dispatch.json');
      const sizes: number[] = [];
      const { events } = await record(openJsonFileStore({ root }), path, () => {
        sizes.push(JSON.parse(readFileSync(file, 'utf8')).events.length);
      });
      expect(sizes.at(-1)).toBe(events.length);
      expect(sizes).toEqual([...sizes].sort((left, right) => left - right));
      const stored: { readonly crc: string }[] = JSON.parse(readFileSync(file, 'utf8')).events;
      expect(stored.map(({ crc: _, ...event }) => event)).toEqual(events);
    },
  );
}

describe('a recorded stream of our own', () => {
  defineStreamTests(own);
});

describe.skipIf(!existsSync(corpus))(
  `a recorded stream of the corpus (skipped where ${corpus} is absent)`,
  () => {
    defineStreamTests(globSync('*.jsonl', { cwd: corpus }).map((file) => join(corpus, file)));
  },
);
