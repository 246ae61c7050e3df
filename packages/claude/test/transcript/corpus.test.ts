import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { factsOf } from '@hansard/facts';
import { causesOf, createLogIndex, neverHeard } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { openClaudeStream, openClaudeTranscript } from '../../src/index.ts';
import { linksOf, readToEnd } from './transcripts.ts';

const corpus = process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../../../../shared/fixtures');
const isThere = existsSync(join(corpus, 'claude-transcripts'));
const skipped = isThere ? '' : ' (skipped: no corpus; HANSARD_CORPUS names its folder)';
const named = (folder: string) =>
  isThere ? globSync('**/*.jsonl', { cwd: join(corpus, folder) }).sort() : ['none'];

interface Source {
  readonly uuid?: string;
  readonly type?: string;
  readonly message?: { readonly content?: unknown };
}

function recordsOf(path: string): { lines: number; records: Source[] } {
  const all = readFileSync(path, 'utf8').split('\n');
  const lines = all.filter((line, index) => index < all.length - 1 || line !== '');
  const records = lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as Source];
    } catch {
      return [];
    }
  });
  return { lines: lines.length, records };
}

function textsOf({ message }: Source): string[] {
  const content = message?.content;
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block) =>
    block?.type === 'text' && typeof block.text === 'string' ? [block.text] : [],
  );
}

describe('transcripts from the corpus', () => {
  it.skipIf(!isThere).each(named('claude-transcripts'))(
    `%s: each line is read, and nothing is lost${skipped}`,
    async (name) => {
      const path = join(corpus, 'claude-transcripts', name);
      const { events, summary } = await readToEnd(await openClaudeTranscript(path, { subAgents: [] }));
      const { lines, records } = recordsOf(path);
      expect(summary.lines).toBe(lines);
      const ids = new Set(events.map(({ id }) => id));
      const texts = new Set(events.map(({ data }) => data.wrapped ?? data.text ?? data.summary));
      for (const record of records) {
        if (record.uuid !== undefined) expect(ids).toContain(record.uuid);
        for (const text of textsOf(record))
          if (record.type === 'user' || record.type === 'assistant') expect(texts).toContain(text);
      }
      const repeated = summary.counts.id_repeated ?? 0;
      expect(events.length + repeated).toBeGreaterThanOrEqual(summary.records);
    },
  );

  it.skipIf(!isThere)(`growing-1 gives a prefix of the events of growing-2${skipped}`, async () => {
    const read = async (name: string) =>
      readToEnd(await openClaudeTranscript(join(corpus, 'claude-transcripts', name)));
    const [one, two] = [await read('growing-1.jsonl'), await read('growing-2.jsonl')];
    expect(one.log.dispatchId).toBe(two.log.dispatchId);
    expect(one.events.length).toBeGreaterThan(90);
    expect(two.events.slice(0, one.events.length)).toEqual(one.events);
  });

  it.skipIf(!isThere)(`a continued session names the session before${skipped}`, async () => {
    const open = (name: string) =>
      openClaudeTranscript(join(corpus, 'claude-transcripts/continued', `${name}.jsonl`));
    const before = await open('93a9705e-bc6a-406d-8dce-8acc014dedbd');
    const after = await open('789e105f-ae33-486d-9271-0696266f072d');
    expect(after.sessionId).toBe('789e105f-ae33-486d-9271-0696266f072d');
    expect(after.continues?.dispatchId).toBe(before.dispatchId);
    expect((await readToEnd(after)).summary.counts).toEqual({});
  });

  it.skipIf(!isThere)(
    `a sub-agent belongs to its session and to the call that started it${skipped}`,
    async () => {
      const path = join(corpus, 'claude-transcripts/with-subagents/session.jsonl');
      const { events, log } = await readToEnd(await openClaudeTranscript(path));
      expect(log.files).toHaveLength(3);
      const created = events.filter(({ type }) => type === 'agent:created');
      expect(created.map(({ agentId }) => agentId).sort()).toEqual(['a2898e3', 'acompact-e1f845']);
      const called = created.find(({ agentId }) => agentId === 'a2898e3');
      expect(events.find(({ id }) => id === called?.cause)?.type).toBe('agent:tool_call');
      const result = events.find(
        ({ type, data }) =>
          type === 'agent:tool_result' && data.tool === 'Task' && data.status === 'completed',
      );
      const report = linksOf(events, result).substance ?? '';
      expect(events.find(({ id }) => id === report)).toMatchObject({
        type: 'agent:text',
        agentId: 'a2898e3',
      });
      const index = createLogIndex(events);
      const unreached = neverHeard(index, report).map(({ agent }) => agent.agentId);
      expect(unreached).toEqual(['acompact-e1f845']);
      const causes = causesOf(index, report).map(({ event }) => event);
      expect(causes.some(({ type, agentId }) => type === 'user:message' && agentId === undefined)).toBe(true);
    },
  );
});

describe('streams from the corpus', () => {
  it.skipIf(!isThere).each(named('claude-stream'))(
    `%s: each line is read, and deltas are not events${skipped}`,
    async (name) => {
      const path = join(corpus, 'claude-stream', name);
      const { events, summary } = await readToEnd(await openClaudeStream(path));
      expect(summary.lines).toBe(recordsOf(path).lines);
      expect(
        events.filter(({ type }) => type.startsWith('delta:') || type === 'system:stream_event'),
      ).toEqual([]);
      expect(factsOf(events).usage).not.toBeNull();
      const again = await readToEnd(await openClaudeStream(path));
      expect(again.events).toEqual(events);
    },
  );
});
