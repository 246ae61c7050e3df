import type { CapturedEvent } from '@hansard/events';
import { envelope, event, randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  type AgentRef,
  createLogIndex,
  dialogOf,
  JointLog,
  type JointRow,
  knownBy,
  perspectiveOf,
  renderDialog,
  renderPerspective,
} from '../../src/index.ts';
import { created, heard, says } from '../market-log.ts';

interface MadeSession {
  readonly dispatchId: string;
  readonly parentDispatchId: string | null;
  readonly startedAt: string;
  readonly events: readonly CapturedEvent[];
  /** The session of which it repeats the first events, and how many. */
  readonly copies: { readonly of: string; readonly count: number } | null;
}

const at = (second: number) =>
  new Date(Date.parse('2026-03-01T09:00:00.000Z') + second * 1_000).toISOString();

/** A task with two to four sessions: equal names and ids of agents, workers, clocks that go back, forks, and deliveries within each. */
function randomTask(seed: number): MadeSession[] {
  const random = randomFrom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const sessions: MadeSession[] = [];
  for (let number = 0; number < 2 + below(3); number += 1) {
    const origin = random() < 0.4 ? (sessions[below(sessions.length)] ?? null) : null;
    const count = origin === null ? 0 : below(origin.events.length + 1);
    const parent = random() < 0.3 ? sessions[below(sessions.length)] : undefined;
    const dispatchId = `d${below(1_000)}-${number}`;
    const start = below(30);
    let clock = start;
    const events: CapturedEvent[] = [...(origin?.events.slice(0, count) ?? [])];
    const idOf = () => `${dispatchId}.${events.length}`;
    const add = (event: CapturedEvent) => {
      clock += random() < 0.1 ? -below(20) : below(4);
      events.push({ ...event, timestamp: at(clock) });
    };
    const agents = ['agent_001', 'agent_002', 'agent_003'].slice(0, 1 + below(3));
    for (const agentId of agents)
      if (!events.some((one) => one.type === 'agent:created' && one.agentId === agentId))
        add(created(idOf(), agentId, ['Ann', 'Ben', 'Ann'][below(3)]));
    for (let left = below(15); left > 0; left -= 1) {
      const agentId = agents[below(agents.length)] ?? '';
      const said = events.filter(({ type }) => type === 'agent:text');
      const one = said[below(said.length)];
      if (one === undefined || random() < 0.4) add(says(idOf(), agentId, `text ${below(3)}`));
      else if (random() < 0.3) add(heard(idOf(), agentId, `text ${below(3)}`));
      else add(heard(idOf(), agentId, String(one.data.text), { from: one.agentId ?? '', substance: one.id }));
    }
    sessions.push({
      dispatchId,
      parentDispatchId: parent?.dispatchId ?? null,
      startedAt: at(start),
      events,
      copies: origin === null ? null : { of: origin.dispatchId, count },
    });
  }
  return sessions;
}

function joined(sessions: readonly MadeSession[]): JointLog {
  return new JointLog(
    sessions.map(({ dispatchId, parentDispatchId, startedAt, events }) => ({
      envelope: envelope({ dispatchId, parentDispatchId, startedAt }),
      index: createLogIndex(events),
    })),
  );
}

/** For each session, its start with those above it, and the place of each of its events among all: by time, then session, then position. */
function placesOf(sessions: readonly MadeSession[]) {
  const byId = new Map(sessions.map((one) => [one.dispatchId, one]));
  const above = (one: MadeSession): MadeSession[] => {
    const parent = byId.get(one.parentDispatchId ?? '');
    return parent === undefined ? [one] : [...above(parent), one];
  };
  const starts = sessions
    .map((one) => {
      const line = above(one);
      return {
        one,
        start:
          line
            .map(({ startedAt }) => startedAt)
            .sort()
            .at(-1) ?? '',
        depth: line.length,
      };
    })
    .sort((a, b) => {
      const [left, right] = [a, b].map(({ start, depth, one }) => `${start} ${depth} ${one.dispatchId}`);
      return (left ?? '') < (right ?? '') ? -1 : 1;
    });
  const keys = starts.flatMap(({ one, start }, rank) =>
    one.events.map((event, position) => {
      const until = one.events.slice(0, position + 1).map(({ timestamp }) => timestamp);
      const time = [start, ...until].sort().at(-1) ?? '';
      const key = [time, String(rank).padStart(3, '0'), String(position).padStart(6, '0')].join(' ');
      return { name: `${one.dispatchId} ${event.id}`, key };
    }),
  );
  keys.sort((a, b) => (a.key < b.key ? -1 : 1));
  return {
    order: starts.map(({ one }) => one.dispatchId),
    place: new Map(keys.map(({ name }, place) => [name, place])),
  };
}

/** The sessions before it in the order that hold an event of a session, too: it was copied from one to the other, over any number of forks. */
function holders(sessions: readonly MadeSession[], order: readonly string[], dispatchId: string, id: string) {
  return order
    .slice(0, order.indexOf(dispatchId))
    .filter((other) =>
      sessions.find((one) => one.dispatchId === other)?.events.some((event) => event.id === id),
    );
}

const namesOf = (rows: readonly JointRow<{ readonly id: string }>[]) =>
  rows.map(({ dispatchId, row }) => `${dispatchId} ${row.id}`);

function isRising(places: readonly (number | undefined)[]): boolean {
  return places.every(
    (place, index) => place !== undefined && (index === 0 || (places[index - 1] ?? 0) <= place),
  );
}

const seeds = Array.from({ length: 400 }, (_, seed) => seed);

describe('the views of random tasks with several sessions', () => {
  it('have the sayings of all single dialogs, a copied one once, by time, then session, then position', () => {
    for (const seed of seeds) {
      const sessions = randomTask(seed);
      const { order, place } = placesOf(sessions);
      const joint = joined(sessions);
      expect(
        joint.logs.map(({ envelope: { dispatchId } }) => dispatchId),
        `seed ${seed}`,
      ).toEqual(order);
      const rows = joint.dialog();
      const expected = sessions.flatMap(({ dispatchId, events }) =>
        dialogOf(createLogIndex(events)).flatMap((row) => {
          const earlier = holders(sessions, order, dispatchId, row.id);
          const isNew = row.audience.some(
            ({ event }) => holders(sessions, order, dispatchId, event.id).length === 0,
          );
          return earlier.length === 0 || isNew
            ? [{ dispatchId, agentId: null, copyOf: earlier[0] ?? null, row }]
            : [];
        }),
      );
      expected.sort(
        (a, b) => (place.get(namesOf([a])[0] ?? '') ?? 0) - (place.get(namesOf([b])[0] ?? '') ?? 0),
      );
      expect(rows, `seed ${seed}`).toEqual(expected);
      const said = rows.filter(({ copyOf }) => copyOf === null).map(({ row }) => row.id);
      expect(new Set(said).size, `seed ${seed}`).toBe(said.length);
    }
  });

  it('have the single perspectives and knowledge of all agents, each in its own order', () => {
    for (const seed of seeds) {
      const sessions = randomTask(seed);
      const { order, place } = placesOf(sessions);
      const refs: AgentRef[] = sessions.flatMap(({ dispatchId, events }) =>
        [...createLogIndex(events).agents.keys()].map((agentId) => ({ dispatchId, agentId })),
      );
      const joint = joined(sessions);
      const [perspectives, known] = [joint.perspective(refs), joint.known(refs)];
      for (const { dispatchId, agentId } of refs) {
        const { events = [] } = sessions.find((one) => one.dispatchId === dispatchId) ?? {};
        const index = createLogIndex(events);
        const own = (rows: readonly JointRow<unknown>[]) =>
          rows.flatMap((one) => (one.dispatchId === dispatchId && one.agentId === agentId ? [one.row] : []));
        const isFirst = ({ id }: { readonly id: string }) =>
          holders(sessions, order, dispatchId, id).length === 0;
        expect(own(perspectives), `seed ${seed}`).toEqual(perspectiveOf(index, agentId).filter(isFirst));
        expect(own(known), `seed ${seed}`).toEqual(knownBy(index, agentId));
      }
      // No answer of these logs is given anything that came during it, so every row stands at the place of its event.
      for (const rows of [perspectives, known])
        expect(isRising(namesOf(rows).map((name) => place.get(name))), `seed ${seed}`).toBe(true);
    }
  });
});

const made = (
  dispatchId: string,
  second: number,
  events: readonly CapturedEvent[],
  parent: string | null = null,
) => ({
  dispatchId,
  parentDispatchId: parent,
  startedAt: at(second),
  events,
  copies: null,
});

const timed = (second: number, event: CapturedEvent): CapturedEvent => ({ ...event, timestamp: at(second) });

describe('a view of two sessions', () => {
  const first = made('01JM-FIRST', 0, [
    timed(0, created('a1', 'agent_001', 'Ann')),
    timed(1, heard('a2', 'agent_001', 'Good morning')),
    timed(8, says('a3', 'agent_001', 'Morning!')),
  ]);
  const second = made('01JM-OTHER', 2, [
    timed(2, created('b1', 'agent_001', 'Ann')),
    timed(4, says('b2', 'agent_001', 'Here I am, too.')),
  ]);

  it('does not join two agents with equal ids and names: each stands below its session', () => {
    const joint = joined([second, first]);
    const refs = ['01JM-FIRST', '01JM-OTHER'].map((dispatchId) => ({ dispatchId, agentId: 'agent_001' }));
    expect(joint.render(joint.perspective(refs), renderPerspective)).toMatch(
      /^Ann, product-analyst .*FIRST\n.*Good morning\n\nAnn, product-analyst .*OTHER\n.*Here I am, too\.\n\nAnn, product-analyst .*FIRST\n.*Morning!$/s,
    );
    expect(namesOf(joint.dialog([refs[1] as AgentRef]))).toEqual(['01JM-OTHER b2']);
  });

  it('counts equal ids with other content apart, and a copied saying again only where it was delivered anew', () => {
    const fork = made('01JM-ZFORK', 9, [
      ...first.events,
      timed(9, created('c1', 'agent_002', 'Ben')),
      timed(9, heard('c2', 'agent_002', 'Morning!', { from: 'agent_001', substance: 'a3' })),
      timed(9, { ...says('b2', 'agent_002', 'Another text of that id') }),
    ]);
    const joint = joined([first, second, fork]);
    const rows = joint.dialog();
    expect(rows.map(({ dispatchId, copyOf, row }) => [dispatchId, row.id, copyOf])).toEqual([
      ['01JM-FIRST', 'a2', null],
      ['01JM-OTHER', 'b2', null],
      ['01JM-FIRST', 'a3', null],
      ['01JM-ZFORK', 'a3', '01JM-FIRST'],
      ['01JM-ZFORK', 'b2', null],
    ]);
    expect(joint.render(rows, renderDialog)).toContain('ZFORK (copied from ');
  });

  it('keeps the order of a perspective where a message came during a model call, and is given to the next one', () => {
    const usage = { inputTokens: 1, outputTokens: 1 };
    const call = { model: 'm', usage, context: { through: 'p2' } };
    const late = made('01JM-LATE', 0, [
      timed(0, created('p1', 'x')),
      timed(1, heard('p2', 'x', 'First')),
      timed(2, heard('p3', 'x', 'During the call')),
      timed(6, says('p4', 'x', 'Answer')),
      timed(6, event('agent:inference', call, { id: 'p5', agentId: 'x', messageId: 'p4' })),
    ]);
    const rows = joined([late, second]).perspective([
      { dispatchId: '01JM-LATE', agentId: 'x' },
      { dispatchId: '01JM-OTHER', agentId: 'agent_001' },
    ]);
    expect(rows.map(({ row }) => row.id)).toEqual(['p2', 'b2', 'p4', 'p3']);
  });

  it('takes events of two imports for two, also if they are equal', () => {
    const source = { format: 'session-v2', files: [] };
    const logs = ['01JM-ONE', '01JM-TWO'].map((dispatchId) => ({
      envelope: { ...envelope({ dispatchId, startedAt: at(0) }), source },
      index: createLogIndex(first.events),
    }));
    expect(new JointLog(logs).dialog().map(({ copyOf }) => copyOf)).toEqual([null, null, null, null]);
  });

  it('begins a worker after what started it, also if the clock of its machine is late', () => {
    const lead = made('01JM-LEAD', 5, [timed(5, created('l1', 'x')), timed(6, says('l2', 'x', 'Go.'))]);
    const worker = made(
      '01JM-AWORK',
      1,
      [timed(1, created('w1', 'y')), timed(2, says('w2', 'y', 'Done.'))],
      '01JM-LEAD',
    );
    expect(namesOf(joined([worker, lead]).dialog())).toEqual(['01JM-AWORK w2', '01JM-LEAD l2']);
    expect(joined([worker, lead]).logs.map(({ envelope: { dispatchId } }) => dispatchId)).toEqual([
      '01JM-LEAD',
      '01JM-AWORK',
    ]);
  });

  it('has no agent that none of the sessions has, and no session twice', () => {
    const joint = joined([first, second]);
    expect(() => joint.perspective([{ dispatchId: '01JM-OTHER', agentId: 'agent_009' }])).toThrow(TypeError);
    expect(() => joint.dialog([{ dispatchId: 'none', agentId: 'agent_001' }])).toThrow('none');
    expect(() => joined([first, first])).toThrow(TypeError);
  });
});
