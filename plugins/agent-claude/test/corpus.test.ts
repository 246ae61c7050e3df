import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createReplayAgent } from '../src/index.ts';
import { corpus, dataOf, ofType, runAgent } from './run-agent.ts';

const explore = join(corpus, 'explore_count_files.jsonl');
const compute = join(corpus, 'general_purpose_compute.jsonl');

describe('streams of a live model', () => {
  it.skipIf(!existsSync(explore))(
    'a sub-agent that works in the foreground has its prompt, its own usage and its call (skipped without the corpus)',
    async () => {
      const { events } = await runAgent(createReplayAgent({ path: explore }));
      expect(ofType(events, 'agent:created')).toMatchObject([
        { agentId: 'ac4f0276e9d4b6232', data: { name: 'Explore' } },
      ]);
      expect(dataOf(events, 'user:message').source).toEqual({ kind: 'agent' });
      const result = ofType(events, 'agent:tool_result').at(-1);
      expect(result?.data).toMatchObject({
        durationMs: 6869,
        metadata: { subagentType: 'Explore', totalTokens: 7834, agentId: 'ac4f0276e9d4b6232' },
      });
      expect(ofType(events, 'agent:inference').map(({ data }) => data.model)).toEqual([
        'claude-haiku-4-5-20251001',
        'claude-sonnet-4-6',
        'claude-sonnet-4-6',
      ]);
      expect(dataOf(events, 'session:complete')).toMatchObject({
        costUsd: 0.0763163,
        usage: { inputTokens: 577, outputTokens: 710, cacheReadTokens: 48317, cacheWriteTokens: 15105 },
      });
      expect(events[0]?.timestamp).toBe(null);
      expect(events.find(({ timestamp }) => timestamp !== null)?.timestamp).toBe('2026-06-25T00:23:54.795Z');
    },
  );

  it.skipIf(!existsSync(compute))(
    'three messages are three inferences, whatever number of lines they take (skipped without the corpus)',
    async () => {
      const { events } = await runAgent(createReplayAgent({ path: compute }));
      const ids = ofType(events, 'agent:inference').map(({ messageId }) => messageId);
      expect(ids).toHaveLength(3);
      expect(new Set(ids).size).toBe(3);
      expect(ofType(events, 'system:thinking_tokens')).toHaveLength(15);
      expect(dataOf(events, 'agent:created').name).toBe('general-purpose');
    },
  );
});
