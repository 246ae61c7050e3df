import type { CapturedEvent } from '@hansard/events';
import { audienceOf, createLogIndex, hearingMatrix, type LogIndex, neverHeard, rowsOf } from '@hansard/views';
import { beforeAll, describe, expect, it } from 'vitest';
import type { PlayedSession } from './played-session.ts';
import { Random } from './random.ts';
import { playRandomSession } from './random-session.ts';

const seeds = Array.from({ length: 30 }, (_, at) => at + 1);

/** The log as another program could have written it: prompts are not recorded, results have no links, and messages lack some. */
function unlinked(seed: number, { events }: PlayedSession, share: number): CapturedEvent[] {
  const random = new Random(seed);
  return events.map((event) => {
    const { substance: _s, cause: _c, via: _v, ...plain } = event;
    if (event.type === 'agent:tool_result') return plain;
    if (event.type === 'user:message' && event.substance !== undefined)
      return random.chance(share) ? plain : event;
    if (event.type !== 'agent:inference') return event;
    const { context: _, ...data } = event.data;
    return { ...event, data };
  });
}

/** For a log: the ids of the agents that a view says did not receive a saying. */
type Negatives = (index: LogIndex) => (id: string, position: number) => readonly string[];

const answers = {
  'the answer of neverHeard': (index) => (id) =>
    neverHeard(index, id).flatMap(({ agent, answer }) => (answer === 'never' ? [agent.agentId] : [])),
  'the audience': (index) => {
    const sayings = new Map(index.sayings.map((saying) => [saying.id, saying]));
    return (id) => {
      const saying = sayings.get(id);
      return saying === undefined ? [] : audienceOf(index, saying).missing;
    };
  },
  'the row': (index) => {
    const rows = rowsOf(index.events).flatMap((row) =>
      row.events.map((position) => [position, row] as const),
    );
    const byPosition = new Map(rows);
    return (_, position) => (byPosition.get(position)?.missing ?? []).map(({ agentId }) => agentId);
  },
} as const satisfies Readonly<Record<string, Negatives>>;

/** As if any link showed that the log records everything. */
const wholeLog: Negatives = (index) => (id) => neverHeard(index, id).map(({ agent }) => agent.agentId);

describe('logs of random sessions that lack links', () => {
  const played = new Map<number, PlayedSession>();

  beforeAll(async () => {
    for (const seed of seeds) played.set(seed, await playRandomSession(seed, 60));
  });

  function compare(negatives: Negatives, share: number) {
    const found = { stated: 0, silent: 0, wrong: [] as string[] };
    for (const [seed, session] of played) {
      const rows = hearingMatrix(createLogIndex(session.events)).rows;
      const negativesOf = negatives(createLogIndex(unlinked(seed, session, share)));
      for (const [number, { hearings, speaker, text }] of session.truth.sayings.entries()) {
        const { id = '', position = -1 } = rows[number]?.saying ?? {};
        const reached = new Set(
          hearings.flatMap(({ agentId, way }) => (way === 'withheld' ? [] : [agentId])),
        );
        found.silent += session.truth.agents.size - new Set([...reached, speaker ?? '']).size;
        for (const agentId of negativesOf(id, position)) {
          found.stated += 1;
          if (reached.has(agentId)) found.wrong.push(`seed ${seed}: ${agentId} received ${id}, "${text}"`);
        }
      }
    }
    return found;
  }

  it.each(Object.entries(answers))('%s states no negative that is wrong', (_, negatives) => {
    for (const share of [0, 0.3]) {
      const { stated, wrong } = compare(negatives, share);
      expect(wrong).toEqual([]);
      expect(stated).toBeGreaterThan(0);
    }
  });

  it('decides some cells, and would state wrong ones if one link made the whole log count as complete', () => {
    const { stated, silent } = compare(answers['the answer of neverHeard'], 0);
    expect(stated).toBeGreaterThan(silent / 20);
    expect(compare(wholeLog, 0).wrong.length).toBeGreaterThan(30);
  });
});
