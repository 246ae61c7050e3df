import type { CapturedEvent } from '@hansard/events';
import { event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { audienceOf, createLogIndex, neverHeard, RowReader, renderNeverHeard } from '../../src/index.ts';
import { calls, created, decides, heard, receives, says } from '../market-log.ts';

const inferred = (id: string, agentId: string, messageId: string, more = {}): CapturedEvent =>
  event(
    'agent:inference',
    { model: 'm', durationMs: 1, usage: { inputTokens: 1, outputTokens: 1 }, ...more },
    { id, agentId, messageId },
  );

const cast = ['ann', 'ben', 'carl'].map((agent, at) => created(`c${at}`, agent));

/** What each agent is said to have never heard. */
const answersOf = (events: readonly CapturedEvent[], id: string) =>
  neverHeard(createLogIndex(events), id).map(({ agent, answer }) => `${agent.agentId}: ${answer}`);

describe('an agent that may have received something', () => {
  const said = [
    ...cast,
    says('e1', 'ann', 'Rye'),
    heard('e2', 'ben', 'Rye', { from: 'ann', substance: 'e1' }),
    calls('e3', 'carl', 't1', 'ask', {}),
  ];

  it('got a result, a message or an observed value without a link', () => {
    for (const delivery of [
      receives('e4', 'carl', 't1', 'It is rye.'),
      receives('e4', 'carl', 't1', 'It is rye.', { cause: 'e3' }),
      heard('e4', 'carl', 'It is rye.'),
      heard('e4', 'carl', 'Rye, I hear.', { cause: 'e1' }),
      event('agent:output', { parts: [{ kind: 'text', text: 'Rye' }] }, { id: 'e4', agentId: 'carl' }),
    ])
      expect(answersOf([...said, delivery], 'e1')).toEqual(['carl: not known']);
  });

  it('got nothing, something before, or something that the log says the content of', () => {
    const other = [
      says('e5', 'ben', 'Wheat'),
      heard('e6', 'carl', 'Wheat', { from: 'ben', substance: 'e5' }),
    ];
    for (const events of [
      said,
      [...cast, heard('e0', 'carl', 'Hm.'), ...said.slice(cast.length)],
      [...said, ...other],
      [...said, ...other.slice(0, 1), receives('e6', 'carl', 't1', 'Wheat', { cause: 'e5' })],
      [...said, heard('e6', 'carl', 'Buy.', { from: 'ben', cause: 'e3' })],
      [...said, event('agent:system_prompt', { text: 'Trade.' }, { id: 'e6', agentId: 'carl' })],
    ])
      expect(answersOf(events, 'e1')).toEqual(['carl: never']);
  });

  it('got what another agent passed on without knowing whose words it has', () => {
    const passed = [heard('e4', 'ben', 'Rye'), heard('e5', 'carl', 'Rye', { from: 'ben', substance: 'e4' })];
    expect(answersOf([...said, ...passed], 'e1')).toEqual(['carl: not known']);
    expect(answersOf([...said.slice(0, -1), ...passed.slice(0, 1)], 'e1')).toEqual(['carl: never']);
  });

  it('had it withheld once, and got a result after that', () => {
    const events = [
      ...said,
      decides('e4', 'carl', { hook: 'h', on: 'delivery', decision: 'deny', subject: 'e1' }),
      receives('e5', 'carl', 't1', 'Rye'),
    ];
    const index = createLogIndex(events);
    expect(renderNeverHeard(neverHeard(index, 'e1'))).toBe(
      'carl (withheld via e4) (not known; perhaps by e5, which has the same words)',
    );
    const [saying] = index.sayings;
    expect(saying && audienceOf(index, saying)).toEqual({
      receivers: ['ben'],
      missing: [],
      notKnown: ['carl'],
      isPublic: null,
    });
  });
});

describe('a log that a session continued', () => {
  const continued = [
    ...cast,
    says('e1', 'ann', 'Rye'),
    heard('e2', 'ben', 'Rye', { substance: 'e1' }),
    heard('e3', 'carl', 'Something'),
    heard('e4', 'ben', 'Go on.'),
    says('e5', 'ben', 'Wheat'),
    inferred('e6', 'ben', 'e5', { context: { through: 'e4' } }),
    heard('e7', 'carl', 'Hello?'),
    says('e8', 'ben', 'Oats'),
    inferred('e9', 'ben', 'e8', { context: { through: 'e4' } }),
    heard('e10', 'carl', 'Hello again?'),
  ];

  it('shows every delivery of a saying of the session, and not of an earlier one', () => {
    expect(answersOf(continued, 'e1')).toEqual(['carl: not known']);
    expect(answersOf(continued, 'e8')).toEqual(['ann: never', 'carl: never']);
    expect(
      answersOf(
        continued.slice(0, -1).filter(({ id }) => id !== 'e3'),
        'e1',
      ),
    ).toEqual(['carl: never']);
  });

  it('shows them from the beginning if the session wrote it', () => {
    const own = continued.flatMap((one) =>
      one.id === 'e1' ? [one, inferred('e1i', 'ann', 'e1', { context: { through: null } })] : [one],
    );
    expect(answersOf(own, 'e1')).toEqual(['carl: never']);
  });
});

describe('the rows of a log that is read as it grows', () => {
  it('change when a delivery without a link comes, and say what the whole log says', () => {
    const reader = new RowReader();
    const events = [
      ...cast,
      says('e1', 'ann', 'Rye'),
      heard('e2', 'ben', 'Rye', { from: 'ann', substance: 'e1' }),
    ];
    for (const one of events) reader.add(one);
    expect(reader.at(3)).toMatchObject({ missing: [{ agentId: 'carl' }] });
    expect(reader.at(3)).not.toHaveProperty('notKnown');
    expect(reader.add(heard('e3', 'carl', 'Hm.'))).toContain(3);
    expect(reader.at(3)).toMatchObject({ missing: [], notKnown: [{ agentId: 'carl' }] });
  });

  it('keep what they said when they were settled', () => {
    const reader = new RowReader({ events: 4 });
    const events = [
      ...cast,
      says('e1', 'ann', 'Rye'),
      heard('e2', 'ben', 'Rye', { from: 'ann', substance: 'e1' }),
      ...[1, 2, 3, 4].map((at) => says(`x${at}`, 'ann', 'Hm.')),
      heard('e3', 'carl', 'Hm.'),
    ];
    for (const one of events) reader.add(one);
    const row = reader.end().find(({ position }) => position === 3);
    expect(row).toMatchObject({ missing: [{ agentId: 'carl' }] });
  });
});
