import type { CapturedEvent } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { audienceOf, createLogIndex } from '../../src/index.ts';
import { created, decides, heard, says } from '../market-log.ts';

/** The audience of an utterance, as the generator decided it. */
interface Truth {
  readonly id: string;
  readonly receivers: readonly string[];
  readonly isPublic: boolean;
}

/**
 * A random log of agents that come, speak to some or to all, and go. The generator decides which agents are present and which receive, and
 * writes the events from that. Deliveries arrive late, twice, in other words, over a second delivery, or are withheld.
 */
function randomTalk(seed: number): { events: CapturedEvent[]; truths: Truth[] } {
  const random = randomFrom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const events: CapturedEvent[] = [];
  const truths: Truth[] = [];
  const late: (() => void)[] = [];
  let present: string[] = [];
  let joined = 0;
  const write = (make: (id: string) => CapturedEvent) => {
    const id = `e${events.length + 1}`;
    events.push(make(id));
    return id;
  };
  const join = () => {
    joined += 1;
    const agent = `a${joined}`;
    write((id) => created(id, agent));
    present.push(agent);
  };
  join();
  for (let step = 0; step < 60; step += 1) {
    const choice = random();
    if (choice < 0.15) join();
    else if (choice < 0.22 && present.length > 1) {
      const gone = present[below(present.length)] ?? '';
      present = present.filter((agent) => agent !== gone);
      write((id) => ({ ...created(id, gone), type: 'agent:terminated', data: {} }));
    } else if (choice < 0.75) speak();
    else late.shift()?.();
  }
  for (const deliver of late) deliver();
  return { events, truths };

  function speak(): void {
    const speaker = present[below(present.length)] ?? '';
    const others = present.filter((agent) => agent !== speaker);
    const isToAll = random() < 0.5;
    const receivers = others.filter(() => isToAll || random() < 0.5);
    const withheld = others.filter((agent) => !receivers.includes(agent) && random() < 0.3);
    // All texts are equal, so only links identify the utterance that was delivered.
    const said = write((id) => says(id, speaker, 'Aye.'));
    let carried = said;
    for (const agentId of receivers) {
      const text = random() < 0.2 ? 'No.' : 'Aye.';
      const substance = random() < 0.3 ? carried : said;
      const deliver = () => {
        carried = write((id) => heard(id, agentId, text, { from: speaker, substance }));
      };
      if (random() < 0.3) late.push(deliver);
      else deliver();
      if (random() < 0.1) late.push(deliver);
    }
    for (const agentId of withheld)
      write((id) => decides(id, agentId, { hook: 'h', on: 'delivery', decision: 'deny', subject: said }));
    truths.push({ id: said, receivers, isPublic: receivers.length === others.length });
  }
}

type Judge = typeof audienceOf;

/** The utterances whose audience is not as the generator decided it. */
function faults(seed: number, judge: Judge = audienceOf): string[] {
  const { events, truths } = randomTalk(seed);
  const index = createLogIndex(events);
  const sayings = new Map(index.sayings.map((saying) => [saying.id, saying]));
  return truths.flatMap(({ id, receivers, isPublic }) => {
    const saying = sayings.get(id);
    if (saying === undefined) return [`${id} is missing`];
    const found = judge(index, saying);
    const isRight =
      found.isPublic === isPublic &&
      JSON.stringify([...found.receivers].sort()) === JSON.stringify([...receivers].sort());
    return isRight ? [] : [id];
  });
}

const seeds = Array.from({ length: 100 }, (_, seed) => seed);

describe('audienceOf', () => {
  it('gives who received an utterance, and whether all that were present did (seeds 0 to 99)', () => {
    for (const seed of seeds) expect(faults(seed), `seed ${seed}`).toEqual([]);
    const truths = seeds.flatMap((seed) => randomTalk(seed).truths);
    expect(truths.filter(({ isPublic }) => isPublic).length).toBeGreaterThan(500);
    expect(truths.filter(({ isPublic }) => !isPublic).length).toBeGreaterThan(500);
  });

  it.each<[string, Judge]>([
    [
      'counts what was withheld',
      (index, saying) => ({
        ...audienceOf(index, saying),
        receivers: saying.hearings.map(({ agentId }) => agentId),
      }),
    ],
    [
      'takes every agent of the log for present',
      (index, saying) => {
        const found = audienceOf(index, saying);
        const { agentId } = saying.speaker;
        return {
          ...found,
          isPublic: [...index.agents.keys()].every((id) => id === agentId || found.receivers.includes(id)),
        };
      },
    ],
    [
      'takes two receivers for all',
      (index, saying) => {
        const found = audienceOf(index, saying);
        return { ...found, isPublic: found.isPublic || found.receivers.length > 1 };
      },
    ],
  ])('would be found wrong if it %s', (_fault, judge) => {
    expect(seeds.flatMap((seed) => faults(seed, judge))).not.toEqual([]);
  });

  it('counts an agent again when it is created again or revived, and not when a late delivery comes or a message to it is refused', () => {
    const ends = (id: string, agent: string): CapturedEvent => ({
      ...created(id, agent),
      type: 'agent:terminated',
      data: {},
    });
    const index = createLogIndex([
      created('c1', 'ann'),
      created('c2', 'ben'),
      ends('t1', 'ben'),
      heard('e1', 'ben', 'Rye', { substance: 's0' }),
      says('s1', 'ann', 'Gone?'),
      created('c3', 'ben'),
      says('s2', 'ann', 'Back!'),
      ends('t2', 'ben'),
      { ...created('u1', 'ben'), type: 'agent:undelivered', data: { text: 'Hm', source: { kind: 'user' } } },
      says('s3', 'ann', 'Gone again?'),
      { ...created('r1', 'ben'), type: 'agent:revived', data: { missed: ['u1'] } },
      says('s4', 'ann', 'Back again!'),
    ]);
    const missing = index.sayings.flatMap((saying) =>
      saying.speaker.agentId === 'ann' ? [audienceOf(index, saying).missing] : [],
    );
    expect(missing).toEqual([[], ['ben'], [], ['ben']]);
  });

  it('names the agents that were present and did not receive it, except those that could not take part', () => {
    const index = createLogIndex([
      ...['ann', 'ben', 'carl'].map((agent, at) => created(`c${at}`, agent)),
      says('e1', 'ann', 'Rye'),
      heard('e2', 'ben', 'Rye', { from: 'ann', substance: 'e1' }),
    ]);
    const [saying] = index.sayings;
    if (saying === undefined) throw new Error('no saying');
    expect(audienceOf(index, saying)).toEqual({
      receivers: ['ben'],
      missing: ['carl'],
      notKnown: [],
      isPublic: false,
    });
    const living = (agentId: string) => agentId !== 'carl';
    expect(audienceOf(index, saying, living)).toEqual({
      receivers: ['ben'],
      missing: [],
      notKnown: [],
      isPublic: true,
    });
  });
});
