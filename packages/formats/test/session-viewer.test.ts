import { readSessionV1, readSessionV2 } from '@hansard/formats';
import { SessionViewer } from '@hansard/views';
import { describe, expect, it } from 'vitest';

const lines = (records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const call = (id: string, name: string, input: object) => ({
  tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
});

/** What both dialects record: two agents are created, meet, and each says one line. `links` differ. */
interface Line {
  readonly agent: string;
  readonly what: object;
  readonly v1: object;
  readonly v2: object | null;
}

const prompt = 'You wait for the same bus.';
const story: readonly Line[] = [
  { agent: 'root', what: { event_type: 'agent_created' }, v1: {}, v2: {} },
  {
    agent: 'root',
    what: { role: 'user', content: 'Let Ada and Bo meet.' },
    v1: { source: 'external' },
    v2: {},
  },
  {
    agent: 'root',
    what: { role: 'assistant', ...call('c1', 'task', { name: 'Ada' }) },
    v1: { caused_by: 2 },
    v2: {},
  },
  {
    agent: 'ada',
    what: { event_type: 'agent_created', name: 'Ada' },
    v1: { caused_by: 3 },
    v2: { cause: 3 },
  },
  { agent: 'ada', what: { role: 'system', content: 'You paint.' }, v1: {}, v2: {} },
  {
    agent: 'root',
    what: { role: 'tool', tool_call_id: 'c1', content: 'Ada is there.' },
    v1: { caused_by: 3 },
    v2: {},
  },
  {
    agent: 'root',
    what: { role: 'assistant', ...call('c2', 'task', { name: 'Bo' }) },
    v1: { caused_by: 6 },
    v2: {},
  },
  { agent: 'bo', what: { event_type: 'agent_created', name: 'Bo' }, v1: { caused_by: 7 }, v2: { cause: 7 } },
  { agent: 'bo', what: { role: 'system', content: 'You drive trams.' }, v1: {}, v2: {} },
  {
    agent: 'root',
    what: { role: 'tool', tool_call_id: 'c2', content: 'Bo is there.' },
    v1: { caused_by: 7 },
    v2: {},
  },
  {
    agent: 'root',
    what: { role: 'assistant', ...call('c3', 'discuss', { prompt }) },
    v1: { caused_by: 10 },
    v2: {},
  },
  { agent: 'root', what: { event_type: 'piece_of_text', content: prompt }, v1: {}, v2: { cause: 11 } },
  {
    agent: 'ada',
    what: { role: 'user', content: prompt },
    v1: { source: 'root', caused_by: 11 },
    v2: { substance: 12 },
  },
  {
    agent: 'bo',
    what: { role: 'user', content: prompt },
    v1: { source: 'root', caused_by: 11 },
    v2: { substance: 12 },
  },
  { agent: 'ada', what: { role: 'assistant', content: 'Late again.' }, v1: { caused_by: 13 }, v2: {} },
  {
    agent: 'root',
    what: { role: 'tool', tool_call_id: 'c3', content: 'Late again.' },
    v1: { utterance_ref: 15, caused_by: 15 },
    v2: {},
  },
  {
    agent: 'bo',
    what: { role: 'user', content: '[Ada]: Late again.' },
    v1: { source: 'ada', utterance_ref: 15, caused_by: 15 },
    v2: { substance: 15 },
  },
  { agent: 'bo', what: { role: 'assistant', content: 'Never mine.' }, v1: { caused_by: 17 }, v2: {} },
  {
    agent: 'ada',
    what: { role: 'user', content: '[Bo]: Never mine.' },
    v1: { source: 'bo', utterance_ref: 18, caused_by: 18 },
    v2: { substance: 18 },
  },
];

const idOf = (number: number) => `msg_${String(number).padStart(3, '0')}`;
const named = (links: object) =>
  Object.fromEntries(
    Object.entries(links).map(([key, value]) => [key, typeof value === 'number' ? idOf(value) : value]),
  );

function recordsOf(dialect: 'v1' | 'v2'): object[] {
  return story.flatMap(({ agent, what, v1, v2 }, index) => {
    const isPiece = 'event_type' in what && what.event_type === 'piece_of_text';
    if (dialect === 'v1' && isPiece) return [];
    const type = dialect === 'v2' && !('event_type' in what) ? { event_type: 'transcript_entry' } : {};
    return [
      {
        message_id: idOf(index + 1),
        ...type,
        agent_id: agent,
        ...what,
        ...named(dialect === 'v1' ? v1 : (v2 ?? {})),
      },
    ];
  });
}

const v1 = new SessionViewer(readSessionV1(lines(recordsOf('v1'))).events);
const v2 = new SessionViewer(readSessionV2(lines(recordsOf('v2'))).events);
const numbers = (ids: readonly string[]) =>
  ids.map((id) => (/^msg_\d+$/.test(id) ? Number(id.slice(4)) : id));
const flow = (viewer: SessionViewer, number: number) =>
  numbers(viewer.traceMessageFlow(idOf(number)).map(({ id }) => id));
const carried = (viewer: SessionViewer, number: number) =>
  numbers(viewer.traceUtteranceDelivery(idOf(number)).map(({ messageId }) => messageId));

describe('a SessionViewer of the events of a file', () => {
  it('follows the causes of a v1 log as its records name them, to the message of the person', () => {
    // The oracle: each record leads to the one that it names as its cause.
    const causes = new Map(story.map((line, at) => [at + 1, (line.v1 as { caused_by?: number }).caused_by]));
    const chain = (number: number | undefined): number[] =>
      number === undefined ? [] : [...chain(causes.get(number)), number];
    for (const number of [...causes.keys()].filter((one) => one !== 12)) {
      const isAnswered = causes.get(number) !== undefined;
      if (isAnswered) expect(flow(v1, number)).toEqual(chain(number));
    }
    expect(flow(v1, 18)).toEqual([2, 3, 6, 7, 10, 11, 13, 15, 17, 18]);
  });

  it('follows substance and causes of a v2 log, and what an answer was given', () => {
    expect(flow(v2, 17)).toEqual([2, 3, 6, 7, 10, 11, 12, 13, 15, 17]);
    expect(flow(v2, 8)).toEqual([2, 3, 6, 7, 8]);
    expect(v2.buildCausalityIndex().get(idOf(17))).toBe(idOf(15));
    expect(v2.buildCausalityIndex().get(idOf(13))).toBe(idOf(12));
    expect(v2.buildCausalityIndex().get(idOf(12))).toBe(idOf(11));
  });

  it('names only records of the log as parents', () => {
    for (const viewer of [v1, v2])
      for (const [child, parent] of viewer.buildCausalityIndex())
        if (/^msg_\d+$/.test(child)) expect(parent).toMatch(/^msg_\d+$/);
  });

  it('finds everything that carries an utterance: deliveries, and in v1 the result of the discussion', () => {
    expect(carried(v1, 15)).toEqual([16, 17]);
    expect(carried(v1, 18)).toEqual([19]);
    expect(carried(v2, 15)).toEqual([17]);
    expect(carried(v2, 12)).toEqual([13, 14]);
    expect(carried(v2, 19)).toEqual([]);
    expect(() => v1.traceUtteranceDelivery('msg_099')).toThrow(TypeError);
  });

  it('lists its agents, and gives the transcript of each', () => {
    for (const viewer of [v1, v2]) {
      expect([...viewer.listAgents()]).toEqual([
        ['root', 'root'],
        ['ada', 'Ada'],
        ['bo', 'Bo'],
      ]);
      expect(viewer.getTranscript('bo').map(({ message }) => message.role)).toEqual([
        'system',
        'user',
        'user',
        'assistant',
      ]);
      expect(viewer.extractDialog(['ada', 'bo']).map(({ id }) => id)).toEqual(
        expect.arrayContaining([idOf(15), idOf(18)]),
      );
    }
  });
});
