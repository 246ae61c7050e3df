import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { withOpenCalls } from '@hansard/facts';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { importAll, LogFolder } from './logs.ts';

const corpus = process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../../../shared/fixtures');
const transcripts = join(corpus, 'claude-transcripts');
const isThere = existsSync(transcripts);
const skipped = isThere ? '' : ' (skipped: no corpus; HANSARD_CORPUS names its folder)';
const task = 'lab/tasks/growth';

const linesOf = (name: string) =>
  readFileSync(join(transcripts, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '');

function timeOf(line: string): number {
  const { timestamp } = JSON.parse(line) as { timestamp?: string };
  return timestamp === undefined ? 0 : Date.parse(timestamp);
}

/** Imports the first lines of a session, and those of its sub-agent up to the same time. */
async function importPart(
  store: DispatchStore,
  folder: LogFolder,
  main: readonly string[],
  subAgent: readonly string[],
) {
  const latest = Math.max(...main.map(timeOf));
  const beside = subAgent.filter((line) => timeOf(line) <= latest);
  const path = folder.put('s.jsonl', `${main.join('\n')}\n`);
  folder.put('s/subagents/agent-a2898e3.jsonl', beside.map((line) => `${line}\n`).join(''));
  const [item] = await importAll(store, [path], { task });
  if (item?.kind === 'failed') throw item.error;
  if (item?.kind !== 'imported') throw new Error('Nothing was imported.');
  const [envelope] = await store.getDispatchEnvelopes(task);
  return { item, envelope, events: await store.getDispatchEvents(task, item.dispatchId) };
}

describe('a recorded session that is imported while it grows', () => {
  it.skipIf(!isThere)(
    `has the same events and totals as one import of the whole, and never loses any${skipped}`,
    async () => {
      const main = linesOf('with-subagents/session.jsonl');
      const subAgent = linesOf('with-subagents/session/subagents/agent-a2898e3.jsonl');
      using folder = new LogFolder();
      await using fresh = openDispatchStore(createMemoryStore());
      const whole = await importPart(fresh, folder, main, subAgent);
      await using store = openDispatchStore(createMemoryStore());
      let input = 0;
      for (const count of [40, 44, 80, 60, 111, 112, 50, 113, 140, main.length, 100, 40]) {
        const { item, envelope } = await importPart(store, folder, main.slice(0, count), subAgent);
        expect(item.rewritten, `${count} lines`).toEqual([]);
        expect(envelope?.usage?.inputTokens ?? 0, `${count} lines`).toBeGreaterThanOrEqual(input);
        input = envelope?.usage?.inputTokens ?? 0;
      }
      const { envelope, events } = await importPart(store, folder, main, subAgent);
      expect({ ...envelope, source: null }).toEqual({ ...whole.envelope, source: null });
      const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
      expect(events.toSorted(byId)).toEqual(whole.events.toSorted(byId));
    },
  );

  it.skipIf(!isThere)(
    `has each message of a sub-agent once, whether its file was there before, comes later or never${skipped}`,
    async () => {
      const main = linesOf('with-subagents/session.jsonl');
      const file = linesOf('with-subagents/session/subagents/agent-a2898e3.jsonl');
      const orders = [[file], [[]], [[], file], [file, []], [[], file, []]];
      const found = [];
      for (const order of orders) {
        using folder = new LogFolder();
        await using store = openDispatchStore(createMemoryStore());
        let last: Awaited<ReturnType<typeof importPart>> | undefined;
        for (const subAgent of order) {
          last = await importPart(store, folder, main, subAgent);
          expect(last.item.rewritten).toEqual([]);
        }
        const { events = [], envelope } = last ?? {};
        const counts = new Map<string, number>();
        for (const { agentId, type } of events)
          if (agentId === 'a2898e3') counts.set(type, (counts.get(type) ?? 0) + 1);
        const usage = envelope == null ? null : withOpenCalls(envelope).usage;
        found.push([
          counts.get('user:message'),
          counts.get('agent:tool_call'),
          counts.get('agent:tool_result'),
          counts.get('agent:text') ?? 0,
          usage?.inputTokens,
        ]);
      }
      const [whole = []] = found;
      expect(whole.slice(0, 4)).toEqual([1, 33, 33, 7]);
      // Progress has no texts, and the usage of every message.
      const [, told, ...others] = found;
      expect(told).toEqual([...whole.slice(0, 3), 0, whole[4]]);
      expect(others).toEqual([whole, whole, whole]);
    },
  );
});
