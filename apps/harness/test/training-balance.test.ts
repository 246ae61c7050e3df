import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { openClaudeStream, openClaudeTranscript } from '@hansard/claude';
import { writeTrainingData } from '@hansard/datasets';
import { type CapturedEvent, type DispatchEnvelope, parseEvent } from '@hansard/events';
import { beforeAll, describe, expect, it } from 'vitest';

const corpus = process.env.HANSARD_CORPUS ?? join(import.meta.dirname, '../../../../shared/fixtures');
const files = existsSync(corpus)
  ? globSync(['claude-stream/*.jsonl', 'claude-transcripts/**/*.jsonl', 'claude-tree/*/p/*/*.jsonl'], {
      cwd: corpus,
    }).sort()
  : [];

/** The answers of a log, as its records name them: those of agents, each once. */
function answersIn(events: readonly CapturedEvent[]): Set<string> {
  const blocks = ['agent:text', 'agent:thinking', 'agent:tool_call'];
  return new Set(
    events.flatMap(({ type, agentId = '', id, messageId = id }) =>
      blocks.includes(type) ? `${agentId} ${messageId}` : [],
    ),
  );
}

function envelopeOf(dispatchId: string): DispatchEnvelope {
  const started = '2026-03-01T00:00:00.000Z';
  return {
    dispatchId,
    role: 'r',
    status: 'completed',
    fidelity: 'full',
    startedAt: started,
  } as DispatchEnvelope;
}

/** Notes the type of each JSON path of a row, in which all items of a list have one path. Arrow has no column with two types; null fits any. */
function noteTypes(value: unknown, path: string, types: Map<string, Set<string>>): void {
  const type = Array.isArray(value) ? 'list' : value === null ? null : typeof value;
  if (type !== null) types.set(path, (types.get(path) ?? new Set()).add(type));
  if (Array.isArray(value)) for (const item of value) noteTypes(item, `${path}[]`, types);
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) noteTypes(item, `${path}.${key}`, types);
}

describe.skipIf(files.length === 0)('training data of the streams and transcripts of the corpus', () => {
  const logs = new Map<string, CapturedEvent[]>();
  beforeAll(async () => {
    for (const name of files) {
      const open = name.startsWith('claude-stream/') ? openClaudeStream : openClaudeTranscript;
      const log = await open(join(corpus, name));
      const read: CapturedEvent[] = [];
      for await (const batch of log.read({ fidelity: 'full' }))
        read.push(...batch.map((event) => parseEvent(event)));
      logs.set(`D${logs.size}`, read);
    }
  });

  it.each(['trl-chat', 'openai'] as const)(
    'has each model call in a row of %s or among those left out, each with its reason',
    async (format) => {
      const rows: unknown[] = [];
      const written = writeTrainingData(
        {
          taskDir: 'lab/tasks/corpus',
          task: null,
          envelopes: [...logs.keys()].map(envelopeOf),
          async *readEvents(dispatchId) {
            yield* logs.get(dispatchId) ?? [];
          },
        },
        { format },
      );
      let next = await written.next();
      for (; next.done !== true; next = await written.next()) rows.push(JSON.parse(next.value));
      const { calls, dropped } = next.value;
      // Counted without the code that finds calls.
      const answers = [...logs.values()].reduce((sum, events) => sum + answersIn(events).size, 0);
      const left = Object.values(dropped).reduce((sum, { count }) => sum + count, 0);
      expect(calls.of).toBe(answers);
      expect(calls.inRows + left).toBe(answers);
      const types = new Map<string, Set<string>>();
      for (const row of rows) noteTypes(row, '', types);
      expect(
        [...types].filter(([, found]) => found.size > 1).map(([path, found]) => [path, ...found]),
      ).toEqual([]);
    },
  );
});
