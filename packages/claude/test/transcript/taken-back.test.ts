import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturedEvent, JsonObject } from '@hansard/events';
import { factsOf } from '@hansard/facts';
import { corpus } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { openClaudeStream, openClaudeTranscript } from '../../src/index.ts';
import { mapMessages } from '../messages/mapped.ts';
import { rowsBefore, treeOf } from './conversation-difference.ts';
import { answer, lines, prompt, readToEnd, readTranscript, record, text, uuid } from './transcripts.ts';

interface Session {
  readonly lastAnswer: string;
  readonly path: readonly string[];
  readonly retracted?: readonly string[];
}

interface Truth {
  readonly name: string;
  readonly sessions: Record<string, Session>;
  readonly tokens: { readonly output: number };
}

const folder = join(corpus, 'claude-tree');
const isThere = existsSync(folder);
const skipped = isThere ? '' : ' (skipped: no corpus; HANSARD_CORPUS names its folder)';
const right: Record<string, Truth> = isThere
  ? JSON.parse(readFileSync(join(folder, 'right.json'), 'utf8'))
  : {};

async function open(input: string, session: string) {
  if (input === 'k18') return openClaudeStream(join(folder, input, 'stream.jsonl'));
  const [file = ''] = globSync(join(folder, input, 'p/*', `${session}.jsonl`));
  return openClaudeTranscript(file);
}

describe('recorded shapes of what an engine took back', () => {
  it.skipIf(!isThere).each(['k17', 'k18', 'k19', 'k20', 'k21'])(
    `%s: prompts do not have it, and its tokens count${skipped}`,
    async (input) => {
      const { sessions, tokens } = right[input] as Truth;
      const outputs = new Map<string, number>();
      for (const [session, { lastAnswer, path, retracted = [] }] of Object.entries(sessions)) {
        const { events, summary } = await readToEnd(await open(input, session));
        const tree = treeOf(events);
        expect(tree.problems).toEqual([]);
        expect(rowsBefore(tree, lastAnswer)).toEqual(path);
        for (const row of retracted) expect(tree.isRetracted(row)).toBe(true);
        for (const { id, data } of [...events, ...summary.openCalls])
          if (id.endsWith(':inference'))
            outputs.set(id, (data.usage as { outputTokens: number }).outputTokens);
      }
      expect([...outputs.values()].reduce((sum, one) => sum + one, 0)).toBe(tokens.output);
    },
  );
});

const fallback = (fields: JsonObject) =>
  record(3, { type: 'system', subtype: 'model_refusal_fallback', content: 'Switched.', ...fields });

const retractsOf = (events: readonly CapturedEvent[]) => events.flatMap(({ retracts }) => retracts ?? []);

describe('a record that takes messages back', () => {
  const refused = answer(2, text('No'), {
    content: [
      { type: 'thinking', thinking: 'Hm', signature: 's' },
      { type: 'text', text: 'No' },
    ],
  });

  it('names every event of them, and none that the file does not have', async () => {
    const notice = fallback({ retractedMessageUuids: [uuid(2), uuid(77), 5] });
    const { events, summary } = await readTranscript(lines(prompt(1, 'one'), refused, notice));
    expect(retractsOf(events)).toEqual([uuid(2), `${uuid(2)}.1`]);
    expect(factsOf([...events, ...summary.openCalls]).usage?.outputTokens).toBe(5);
  });

  it('takes nothing back in a copy that neutralises it', async () => {
    const notice = fallback({ retractedMessageUuids: [uuid(2)], neutralizedByFork: true });
    expect(retractsOf((await readTranscript(lines(prompt(1, 'one'), refused, notice))).events)).toEqual([]);
  });

  it('can be the answer that supersedes them', async () => {
    const next = answer(3, text('Yes'), {}, { supersedesUuids: [uuid(2)] });
    const { events } = await readTranscript(lines(prompt(1, 'one'), refused, next));
    expect(events.find(({ id }) => id === uuid(3))?.retracts).toEqual([uuid(2), `${uuid(2)}.1`]);
  });

  it('is the error text itself, also for a sub-agent', async () => {
    const error = answer(2, text('API Error'), { model: '<synthetic>' }, { isApiErrorMessage: true });
    const { events } = await readTranscript(lines(prompt(1, 'one'), error));
    expect(events.find(({ id }) => id === uuid(2))).toMatchObject({
      type: 'user:message',
      retracts: [uuid(2)],
    });
    const said = await readTranscript(lines(prompt(1, 'one'), { ...error, isApiErrorMessage: false }));
    expect(retractsOf(said.events)).toEqual([]);
  });
});

describe('a message of a stream', () => {
  const stream = (uuid: string, fields: JsonObject): JsonObject => ({
    session_id: 's',
    parent_tool_use_id: null,
    uuid,
    ...fields,
  });

  it('goes back to nothing when the conversation is reset', () => {
    const { events } = mapMessages([
      stream('u1', { type: 'user', message: { role: 'user', content: 'Hello' } }),
      stream('r1', { type: 'conversation_reset', trigger: 'clear', new_conversation_id: 'c2' }),
      stream('u2', { type: 'user', message: { role: 'user', content: 'Anew' } }),
    ]);
    const reset = events.find(({ type }) => type === 'session:rewind');
    expect(reset).toMatchObject({ id: 'r1', data: { keptThrough: null, details: { trigger: 'clear' } } });
    expect(
      treeOf(events as CapturedEvent[])
        .currentPath('')
        .values.map(({ id }) => id),
    ).toEqual(['u2']);
  });
});
