import type { JsonObject } from '@hansard/events';
import { causesOf, createLogIndex, knownBy, neverHeard } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { answer, call, lines, linksOf, outcome, prompt, readTranscript, text, uuid } from './transcripts.ts';

const at = (number: number) =>
  new Date(Date.parse('2026-03-01T09:30:00.000Z') + number * 1_000).toISOString();

/** The result of a call that names the sub-agent which wrote it. */
const reported = (number: number, id: string, words: string, agentId: string, more: JsonObject = {}) =>
  outcome(number, id, words, { toolUseResult: { status: 'completed', agentId, ...more } });

const task = (id: string, words = 'look') => call(id, 'Task', { prompt: words, subagent_type: 'Explore' });

const side = (agentId: string) => ({ isSidechain: true, agentId });

/** A sub-agent's file: a prompt and an answer. Numbers give the ids and the times. */
function agentFile(agentId: string, number: number, words: string, more: readonly JsonObject[] = []): string {
  return lines(
    prompt(number, 'look', { ...side(agentId), parentUuid: null, timestamp: at(2) }),
    answer(number + 1, text(words), {}, { ...side(agentId), timestamp: at(3) }),
    ...more,
  );
}

describe('the files of sub-agents', () => {
  it('are read before the result that names the agent, so that the result carries the report', async () => {
    const { events } = await readTranscript(
      lines(
        prompt(1, 'Find it.'),
        answer(2, task('toolu_1')),
        reported(5, 'toolu_1', 'Report: found', 'a1'),
        answer(6, text('Done.')),
      ),
      { beside: { 'session/subagents/agent-a1.jsonl': agentFile('a1', 11, 'found') } },
    );
    expect(events.find(({ type }) => type === 'agent:created')).toMatchObject({
      id: 'a1:created',
      cause: uuid(2),
      data: { name: 'Explore' },
    });
    expect(events.find(({ id }) => id === uuid(11))).toMatchObject({ agentId: 'a1', cause: 'a1:created' });
    const result = events.find(({ id }) => id === uuid(5));
    expect(result).toMatchObject({ type: 'agent:tool_result', substance: `${uuid(5)}:report` });
    expect(linksOf(events, result)).toEqual({ substance: uuid(12) });

    const index = createLogIndex(events);
    expect(index.diagnostics).toEqual([]);
    expect(neverHeard(index, uuid(12))).toEqual([]);
    expect(neverHeard(index, uuid(11))).toEqual([]);
    expect(knownBy(index, '').map(({ id }) => id)).toContain(uuid(5));
    const causes = causesOf(index, uuid(12)).map(({ id }) => id);
    expect(causes).toEqual([uuid(1), uuid(2), 'a1:created', uuid(11), uuid(12)]);
    expect(causesOf(index, uuid(6)).map(({ id }) => id)).toContain(uuid(12));
  });

  it('give equal reports of two agents to the results that name them', async () => {
    const { events } = await readTranscript(
      lines(
        prompt(1, 'Find it.'),
        answer(2, task('toolu_1'), { id: 'msg_a' }),
        answer(3, task('toolu_2'), { id: 'msg_a' }),
        reported(5, 'toolu_2', 'found', 'a2'),
        reported(6, 'toolu_1', 'found', 'a1'),
      ),
      {
        beside: {
          'session/subagents/agent-a1.jsonl': agentFile('a1', 11, 'found'),
          'session/subagents/agent-a2.jsonl': agentFile('a2', 21, 'found'),
        },
      },
    );
    const results = events.filter(({ type }) => type === 'agent:tool_result');
    expect(results.map((result) => [result.id, linksOf(events, result).substance])).toEqual([
      [uuid(5), uuid(22)],
      [uuid(6), uuid(12)],
    ]);
  });

  it('give a resumed agent one report for each result', async () => {
    const again = [
      prompt(13, 'again', { ...side('a1'), timestamp: at(7) }),
      answer(14, text('more'), {}, { ...side('a1'), timestamp: at(8) }),
    ];
    const { events } = await readTranscript(
      lines(
        answer(1, task('toolu_1')),
        reported(5, 'toolu_1', 'found', 'a1'),
        answer(6, task('toolu_2', 'again')),
        reported(9, 'toolu_2', 'more', 'a1'),
      ),
      { beside: { 'session/subagents/agent-a1.jsonl': agentFile('a1', 11, 'found', again) } },
    );
    expect(events.filter(({ type }) => type === 'agent:created')).toHaveLength(1);
    const order = [uuid(12), uuid(5), uuid(6), uuid(13), uuid(14), uuid(9)];
    expect(events.map(({ id }) => id).filter((id) => order.includes(id))).toEqual(order);
    const results = events.filter(({ type }) => type === 'agent:tool_result');
    expect(results.map((result) => linksOf(events, result).substance)).toEqual([uuid(12), uuid(14)]);
  });

  it('of a nested agent are read before the result in its caller', async () => {
    const nested = lines(
      prompt(11, 'look', { ...side('a1'), parentUuid: null, timestamp: at(2) }),
      answer(12, task('toolu_2'), {}, { ...side('a1'), timestamp: at(3) }),
      { ...reported(13, 'toolu_2', 'deep', 'a2'), ...side('a1'), timestamp: at(4) },
      answer(14, text('found'), {}, { ...side('a1'), timestamp: at(5) }),
    );
    const { events } = await readTranscript(
      lines(answer(1, task('toolu_1')), reported(6, 'toolu_1', 'found', 'a1')),
      {
        beside: {
          'session/subagents/agent-a1.jsonl': nested,
          'session/subagents/agent-a2.jsonl': agentFile('a2', 21, 'deep'),
        },
      },
    );
    const results = events.filter(({ type }) => type === 'agent:tool_result');
    expect(results.map((result) => [result.id, linksOf(events, result).substance])).toEqual([
      [uuid(13), uuid(22)],
      [uuid(6), uuid(14)],
    ]);
    expect(events.find(({ id }) => id === uuid(21))).toMatchObject({
      agentId: 'a2',
      data: { source: { kind: 'agent' } },
    });
    const created = events.find(({ id }) => id === 'a2:created');
    expect(created?.cause).toBe(uuid(12));
  });

  it('whose agent no record names are read last, and have no cause', async () => {
    const stopped = outcome(2, 'toolu_1', 'stopped');
    const { events } = await readTranscript(lines(answer(1, task('toolu_1')), stopped), {
      beside: { 'session/subagents/agent-a1.jsonl': agentFile('a1', 11, 'seen') },
    });
    expect(events.findLast(({ type }) => type === 'agent:text')).toMatchObject({ agentId: 'a1' });
    expect(events.find(({ type }) => type === 'agent:created')).not.toHaveProperty('cause');
  });

  it('get their agent:created once the call that started the agent is known', async () => {
    const running = [prompt(1, 'Find it.'), answer(2, task('toolu_1'))];
    const ended = [...running, reported(5, 'toolu_1', 'found', 'a1')];
    const beside = { 'session/subagents/agent-a1.jsonl': agentFile('a1', 11, 'found') };
    const part = await readTranscript(lines(...running), { beside });
    expect(part.events.filter(({ type }) => type === 'agent:created')).toEqual([]);
    expect(part.events.filter(({ agentId }) => agentId === 'a1').map(({ id }) => id)).toContain(uuid(12));
    const whole = await readTranscript(lines(...ended), { beside });
    const created = whole.events.filter(({ type }) => type === 'agent:created');
    expect(created).toMatchObject([{ id: 'a1:created', cause: uuid(2) }]);
    const byId = new Map(whole.events.map((event) => [event.id, event]));
    for (const event of part.events) expect(byId.get(event.id)).toEqual(event);
  });

  const launched = outcome(3, 'toolu_1', 'Started.', {
    toolUseResult: { status: 'async_launched', agentId: 'a1' },
  });
  const notice = (taskId: string, words: string) =>
    `<task-notification>\n<task-id>${taskId}</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n<status>completed</status>\n<result>${words}</result>\n</task-notification>`;
  const start = [prompt(1, 'Find it.'), answer(2, task('toolu_1')), launched];
  const beside = { 'session/subagents/agent-a1.jsonl': agentFile('a1', 11, 'found') };

  it('of the background are read before the report that names the agent, which carries the answer', async () => {
    const { events } = await readTranscript(
      lines(...start, prompt(5, notice('a1', 'found')), answer(6, text('Done.'))),
      { beside },
    );
    const report = events.find(({ id }) => id === uuid(5));
    expect(report).toMatchObject({ type: 'user:message', data: { source: { kind: 'system' } } });
    expect(linksOf(events, report)).toEqual({ substance: uuid(12) });
    expect(events.find(({ type }) => type === 'agent:created')).toMatchObject({ cause: uuid(2) });
    const index = createLogIndex(events);
    expect(neverHeard(index, uuid(12))).toEqual([]);
    expect(causesOf(index, uuid(6)).map(({ id }) => id)).toEqual(
      expect.arrayContaining([uuid(1), uuid(2), 'a1:created', uuid(11), uuid(12), uuid(5)]),
    );
  });

  it('of the background that report in other words are the cause of the report', async () => {
    const { events } = await readTranscript(lines(...start, prompt(5, notice('a1', 'cut off'))), { beside });
    const report = events.find(({ id }) => id === uuid(5));
    expect(linksOf(events, report)).toEqual({ cause: [uuid(12)] });
  });

  it('are not linked to a notification of another task, or to one that a person wrote', async () => {
    const typed = { origin: { kind: 'human' } };
    for (const words of [prompt(5, notice('b7', 'found')), prompt(5, notice('a1', 'found'), typed)]) {
      const { events } = await readTranscript(lines(...start, words), { beside });
      const message = events.find(({ id }) => id === uuid(5));
      expect(message).not.toHaveProperty('substance');
      expect(message).not.toHaveProperty('cause');
    }
  });

  it.each([
    ['a result', [reported(5, 'toolu_1', 'found', 'a1')]],
    ['a notification', [launched, prompt(5, notice('a1', 'found'))]],
  ])('can come after the report that names the agent: %s stays as it is', async (_, more) => {
    const rows = lines(prompt(1, 'Find it.'), answer(2, task('toolu_1')), ...more);
    const [before, after] = [await readTranscript(rows), await readTranscript(rows, { beside })];
    expect(createLogIndex(before.events).diagnostics).toEqual([]);
    const byId = new Map(after.events.map((event) => [event.id, event]));
    expect(
      before.events.filter((event) => JSON.stringify(byId.get(event.id)) !== JSON.stringify(event)),
    ).toEqual([]);
    expect(linksOf(after.events, byId.get(uuid(5)))).toEqual({ substance: uuid(12) });
    const late = [
      ...before.events,
      ...after.events.filter(({ id }) => !before.events.some((one) => one.id === id)),
    ];
    const heard = createLogIndex(late).sayings.find(({ id }) => id === uuid(12))?.hearings;
    expect(heard).toMatchObject([{ agentId: '', event: { id: uuid(5) } }]);
  });

  it('have their diagnostics under their own names', async () => {
    const lost = prompt(13, 'x', { ...side('a1'), parentUuid: 'gone', timestamp: at(4) });
    const { summary } = await readTranscript(
      lines(
        answer(1, task('toolu_1')),
        { ...reported(5, 'toolu_1', 'found', 'a1'), parentUuid: uuid(1) },
        prompt(6, 'y', { parentUuid: 'lost' }),
      ),
      { beside: { 'session/subagents/agent-a1.jsonl': agentFile('a1', 11, 'found', [lost]) } },
    );
    const missing = summary.diagnostics.filter(({ code }) => code === 'reference_missing');
    expect(missing.map(({ file, line }) => [file.split('/').at(-1), line])).toEqual([
      ['agent-a1.jsonl', 3],
      ['session.jsonl', 3],
    ]);
  });

  it('add their new events before the new result when the session has grown', async () => {
    const main = [prompt(1, 'Find it.'), answer(2, task('toolu_1'))];
    const result = reported(5, 'toolu_1', 'found', 'a1');
    const file = agentFile('a1', 11, 'found');
    const beside = (content: string) => ({ beside: { 'session/subagents/agent-a1.jsonl': content } });
    const part = await readTranscript(lines(...main), beside(file.slice(0, file.indexOf('\n') + 1)));
    const whole = await readTranscript(lines(...main, result), beside(file));
    const known = new Set(part.events.map(({ id }) => id));
    const added = whole.events.filter(({ id }) => !known.has(id)).map(({ id }) => id);
    expect(added.slice(0, 2)).toEqual(['a1:created', uuid(12)]);
    expect(added.slice(-2)).toEqual([`${uuid(5)}:report`, uuid(5)]);
  });
});
