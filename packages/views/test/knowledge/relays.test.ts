import type { CapturedEvent } from '@hansard/events';
import { event, randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  audienceOf,
  causesOf,
  createLogIndex,
  dialogOf,
  EventFilter,
  effectsOf,
  hearingMatrix,
  knownBy,
  neverHeard,
  perspectiveOf,
  renderDialog,
  renderKnown,
  rowsOf,
} from '../../src/index.ts';
import { calls, created, heard, instructed, says } from '../market-log.ts';

/** A way of a content, as the simulator knows it: the first speaker, then each that passed it on or received it. */
type Way = readonly string[];

interface Simulated {
  readonly events: readonly CapturedEvent[];
  /** By the id of a delivery: its receiver, and the way that it took. */
  readonly ways: ReadonlyMap<string, { readonly to: string; readonly way: Way; readonly origin: string }>;
  readonly agents: readonly string[];
}

/**
 * Agents say things and pass on what they heard: with a delivery that names the first words, or the delivery before, or in an utterance of
 * their own that carries them. Texts are few, so that equal ones are often not the same content.
 */
function simulate(seed: number): Simulated {
  const random = randomFrom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[below(items.length)];
  const agents = ['ann', 'ben', 'carl', 'dora', 'eve'].slice(0, 3 + below(3));
  const events: CapturedEvent[] = agents.map((name) => created(`new-${name}`, name, name));
  const ways = new Map<string, { readonly to: string; readonly way: Way; readonly origin: string }>();
  /** What an agent has to pass on: an event that has the content, its way so far, and the first event of the content. */
  const held = new Map<string, { id: string; way: Way; origin: string; text: string; isOwn: boolean }[]>(
    agents.map((name) => [name, []]),
  );
  for (let step = 5 + below(25); step > 0; step -= 1) {
    const [id, from] = [`e${events.length}`, pick(agents) ?? ''];
    const own = held.get(from) ?? [];
    const one = pick(own);
    if (one === undefined || random() < 0.25) {
      const text = `text ${below(2)}`;
      events.push(says(id, from, text));
      own.push({ id, way: [`${from} said`], origin: id, text, isOwn: true });
    } else if (!one.isOwn && random() < 0.3) {
      events.push(says(id, from, one.text, { substance: random() < 0.5 ? one.id : one.origin }));
      const { substance } = events.at(-1) as CapturedEvent;
      const way = substance === one.id ? one.way : (ways.get(substance ?? '')?.way ?? [wayOfOrigin(one)]);
      own.push({ ...one, id, way: [...way, `${from} passed`], isOwn: true });
    } else {
      const to = pick(agents.filter((other) => other !== from)) ?? '';
      const isFirst = !one.isOwn && random() < 0.5;
      events.push(heard(id, to, one.text, { from, substance: isFirst ? one.origin : one.id }));
      const before = isFirst ? [wayOfOrigin(one)] : one.way;
      const hadIt = before.at(-1) === `${from} said` || before.at(-1) === `${from} passed`;
      const way = [...before, ...(hadIt ? [] : [`${from} passed`]), `${to} same`];
      ways.set(id, { to, way, origin: one.origin });
      held.get(to)?.push({ ...one, id, way, isOwn: false });
    }
  }
  return { events, ways, agents };
}

function wayOfOrigin({ way }: { readonly way: Way }): string {
  return way[0] ?? '';
}

describe('what agents know through relays', () => {
  it('is in random logs what a simulator handed on, with the first speaker and everyone who passed it on', () => {
    let longest = 0;
    for (let seed = 0; seed < 500; seed += 1) {
      const { events, ways, agents } = simulate(seed);
      const index = createLogIndex(events);
      const known = agents.flatMap((name) => knownBy(index, name));
      expect(known.map(({ id }) => id).sort(), `seed ${seed}`).toEqual([...ways.keys()].sort());
      for (const { id, paths } of known) {
        const steps = paths.map((path) => path.map(({ agentId, how }) => `${agentId} ${how}`));
        expect(steps, `seed ${seed}, ${id}`).toEqual([ways.get(id)?.way]);
        longest = Math.max(longest, steps[0]?.length ?? 0);
      }
    }
    expect(longest).toBeGreaterThan(6);
  });

  it('leaves no hearer of random logs among those that never heard it, or are missing', () => {
    for (let seed = 0; seed < 500; seed += 1) {
      const { events, ways } = simulate(seed);
      const index = createLogIndex(events);
      for (const { to, origin } of ways.values()) {
        const label = `seed ${seed}, ${origin} to ${to}`;
        const saying = index.sayings.find(({ id }) => id === origin);
        if (saying === undefined) throw new Error(label);
        expect(
          neverHeard(index, origin).map(({ agent }) => agent.agentId),
          label,
        ).not.toContain(to);
        if (saying.speaker.agentId !== to) expect(audienceOf(index, saying).missing, label).not.toContain(to);
        const row = rowsOf(events).find(({ id }) => id === origin);
        expect(
          row?.heard?.map(({ agent }) => agent.agentId),
          label,
        ).toContain(to);
        const cells = hearingMatrix(index).rows.find((row) => row.saying.id === origin)?.cells;
        expect(cells?.has(to), label).toBe(true);
      }
    }
  });
});

describe('a system prompt that a call wrote', () => {
  const log = [
    created('e1', 'olga', 'Olga'),
    instructed('e2', 'olga', 'You arrange talks.'),
    heard('e3', 'olga', 'Begin.'),
    calls('e4', 'olga', 'c1', 'task', { system_prompt: 'You sell bread.' }),
    created('e5', 'ben', 'Ben', { cause: 'e4' }),
    instructed('e6', 'ben', 'You sell bread.'),
    heard('e7', 'ben', 'Hello'),
    instructed('e8', 'ben', 'You sell bread.'),
  ];
  const index = createLogIndex(log);

  it('leads to the creation of its agent, to the call, and to what the creator had been asked', () => {
    expect(causesOf(index, 'e6').map(({ id, because }) => [id, because.map(({ kind }) => kind)])).toEqual([
      ['e3', []],
      ['e4', ['heard']],
      ['e5', ['cause']],
      ['e6', ['created']],
    ]);
    expect(effectsOf(index, 'e3').map(({ id }) => id)).toEqual(['e3', 'e4', 'e5', 'e6']);
  });

  it('came to the agent from its creator, where the log has the call; no other prompt did, also with equal words', () => {
    const [prompt, , later] = knownBy(index, 'ben');
    expect(prompt?.paths).toEqual([
      [
        { id: 'e4', kind: 'agent', agentId: 'olga', how: 'created' },
        { id: 'e6', kind: 'agent', agentId: 'ben', how: 'same' },
      ],
    ]);
    expect(later).toMatchObject({ id: 'e8', paths: [[{ kind: 'system', how: 'said' }, { agentId: 'ben' }]] });
    expect(causesOf(index, 'e8').map(({ id }) => id)).toEqual(['e8']);
    expect(knownBy(index, 'olga')[0]?.paths[0]?.[0]).toMatchObject({ kind: 'system', how: 'said' });
    expect(renderKnown(index, knownBy(index, 'ben'))).toContain(
      'Olga created the agent with it (3) → Ben heard it (5)',
    );
  });
});

describe('a message from an agent of another session', () => {
  const source = { kind: 'agent', agentId: 'ann', dispatchId: '01JM0000000000000000000009' } as const;
  const index = createLogIndex([
    created('e1', 'ann', 'Ann'),
    created('e2', 'ben', 'Ben'),
    event('user:message', { text: 'Stop.', source }, { id: 'e3', agentId: 'ben', messageId: 'e3' }),
    says('e4', 'ann', 'Go on.'),
    heard('e5', 'ben', 'Go on.', { from: 'ann', substance: 'e4' }),
  ]);

  it('is not said by the agent that has the same id here', () => {
    expect(dialogOf(index, ['ann']).map(({ id }) => id)).toEqual(['e4']);
    expect(hearingMatrix(index).rows[0]?.cells.has('ann')).toBe(false);
    expect(neverHeard(index, 'e3').map(({ agent }) => agent.agentId)).toEqual(['ann']);
    const text = renderDialog(index, dialogOf(index));
    expect(text).toMatch(/2 {2}agent ann of \S*9: Stop\.\n.*Ben/);
    expect(renderKnown(index, knownBy(index, 'ben'))).not.toContain('Ann said it (2)');
    const agents = new EventFilter({ sources: ['agent'] });
    expect(perspectiveOf(index, 'ben').filter(({ event: one }) => agents.passes(one))).toHaveLength(2);
  });
});
