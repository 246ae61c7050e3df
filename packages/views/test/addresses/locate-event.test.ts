import type { CapturedEvent } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { addressedEvents, type EventLocation, locateEvent, parseAddress } from '../../src/index.ts';

const start = Date.parse('2026-03-01T09:30:00.000Z');

type Locate = (events: readonly CapturedEvent[], address: string) => Promise<EventLocation>;

const locate: Locate = (events, address) => {
  const parsed = parseAddress(address, { day: events[0]?.timestamp ?? new Date(start).toISOString() });
  if (parsed === null) throw new Error(`${address} is not an address`);
  return locateEvent(addressedEvents(events), parsed);
};

/** Short ids of few characters, so that they end and begin alike; messages of one to three events; times out of order. */
function randomEvents(random: () => number): CapturedEvent[] {
  const below = (end: number) => Math.floor(random() * end);
  const text = () => Array.from({ length: 1 + below(4) }, () => 'xyz'[below(3)]).join('');
  const events: CapturedEvent[] = [];
  const used = new Set<string>();
  let time = start;
  for (let left = below(40); left > 0; left -= 1) {
    const messageId = below(3) === 0 ? undefined : `m${text()}`;
    for (let blocks = messageId === undefined ? 1 : 1 + below(3); blocks > 0; blocks -= 1) {
      let id = below(8) === 0 && messageId !== undefined ? messageId : `${'abm'[below(3)]}${text()}`;
      while (used.has(id)) id = `${'ab'[below(2)]}${text()}${used.size}z`;
      used.add(id);
      time += below(3) * 700;
      // Up to two seconds late: recorded after others that are later.
      const timestamp = below(4) === 0 ? null : new Date(time - below(2_000)).toISOString();
      events.push({ id, type: 'agent:text', timestamp, ...(messageId && { messageId }), data: { text: id } });
    }
  }
  return events;
}

/** What an address means, by its definition: every candidate is compared. */
function meaning(events: readonly CapturedEvent[], address: string): string {
  if (/^[0-9]+$/.test(address)) return events[Number(address)] === undefined ? 'unknown' : `at ${address}`;
  if (address === 'latest') return events.length === 0 ? 'unknown' : `at ${events.length - 1}`;
  if (address.startsWith('@')) {
    // As text, up to the second that is asked for.
    const upTo = events.map(
      ({ timestamp }) => timestamp !== null && timestamp.slice(11, 19) <= address.slice(1),
    );
    return upTo.includes(true) ? `at ${upTo.lastIndexOf(true)}` : 'unknown';
  }
  const own = events.findIndex(({ id }) => id === address);
  if (own >= 0) return `at ${own}`;
  const ofMessage = events.findIndex(({ messageId }) => messageId === address);
  if (ofMessage >= 0) return `at ${ofMessage}`;
  const ids = new Set(
    events.flatMap(({ id, messageId }) => (messageId === undefined ? [id] : [id, messageId])),
  );
  for (const fits of [(id: string) => id.endsWith(address), (id: string) => id.startsWith(address)]) {
    const fitting = [...ids].filter(fits);
    if (fitting.length > 1) return `one of ${fitting.length > 10 ? '10+' : fitting.sort().join(' ')}`;
    const [id] = fitting;
    if (id !== undefined) return `at ${events.findIndex((one) => one.id === id || one.messageId === id)}`;
  }
  return 'unknown';
}

function inWords(location: EventLocation): string {
  if (location.kind === 'found') return `at ${location.position}`;
  if (location.kind === 'unknown') return 'unknown';
  const ids = location.choices.map(({ id }) => id).sort();
  return `one of ${location.isMore ? '10+' : ids.join(' ')}`;
}

function addressesOf(events: readonly CapturedEvent[], random: () => number): string[] {
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)];
  const ids = events.flatMap(({ id, messageId = id }) => [id, messageId]);
  const parts = Array.from({ length: 12 }, () => {
    const id = pick(ids) ?? 'none';
    const cut = 1 + Math.floor(random() * id.length);
    return random() < 0.5 ? id.slice(-cut) : id.slice(0, cut);
  });
  const times = Array.from({ length: 6 }, () => {
    const at = new Date(start - 3_000 + Math.floor(random() * 60_000)).toISOString();
    return `@${at.slice(11, 19)}`;
  });
  const positions = Array.from({ length: 4 }, () => String(Math.floor(random() * (events.length + 3))));
  return [
    ...parts.filter((part) => !/^\d+$/.test(part)),
    ...times,
    ...positions,
    pick(ids) ?? 'none',
    'latest',
  ];
}

const rounds = 400;

/** The first address that is not located as it is defined, in words; null: none. */
async function wrongAnswer(subject: Locate): Promise<string | null> {
  for (let seed = 1; seed <= rounds; seed += 1) {
    const random = randomFrom(seed);
    const events = randomEvents(random);
    for (const address of addressesOf(events, random)) {
      const answer = inWords(await subject(events, address));
      const wanted = meaning(events, address);
      if (answer !== wanted) return `seed ${seed}: ${address} is ${wanted}, and was ${answer}`;
    }
  }
  return null;
}

const at = (position: number, events: readonly CapturedEvent[]): EventLocation => {
  const event = events[position];
  if (event === undefined) return { kind: 'unknown', count: events.length, begins: null };
  return { kind: 'found', position, event, id: event.id };
};

const mutants: readonly (readonly [string, Locate])[] = [
  [
    'counts positions from 1',
    (events, address) =>
      locate(
        events,
        address.replace(/^\d+$/, (n) => `${Number(n) + 1}`),
      ),
  ],
  [
    'takes the first event as the latest',
    async (events, address) => (address === 'latest' ? at(0, events) : locate(events, address)),
  ],
  [
    'knows no messages',
    (events, address) =>
      locate(
        events.map(({ messageId: _, ...event }) => event),
        address,
      ),
  ],
  [
    'takes the first of several',
    async (events, address) => {
      const answer = await locate(events, address);
      return answer.kind === 'ambiguous' ? at(answer.choices[0]?.position ?? 0, events) : answer;
    },
  ],
  [
    'prefers the beginning of an id to its end',
    async (events, address) => {
      const fitting = events.findIndex(({ id }) => id !== address && id.startsWith(address));
      return fitting >= 0 && !events.some(({ id }) => id === address)
        ? at(fitting, events)
        : locate(events, address);
    },
  ],
  [
    'ends a time before its last second',
    async (events, address) => {
      const until = Date.parse(`2026-03-01T${address.slice(1)}Z`);
      if (!address.startsWith('@')) return locate(events, address);
      return locateEvent(addressedEvents(events), { kind: 'time', until });
    },
  ],
  [
    'takes times to be in order',
    async (events, address) => {
      if (!address.startsWith('@')) return locate(events, address);
      const end = `2026-03-01T${address.slice(1)}.999Z`;
      const later = events.findIndex(({ timestamp }) => timestamp !== null && timestamp > end);
      return at((later === -1 ? events.length : later) - 1, events);
    },
  ],
];

describe('an address in a random log', () => {
  it('means what a comparison of every event says', async () => {
    expect(await wrongAnswer(locate)).toBeNull();
  });

  it.each(mutants)('would be found wrong by this test if it %s', async (_, mutant) => {
    expect(await wrongAnswer(mutant)).not.toBeNull();
  });
});

describe('the reads that an address needs', () => {
  const count = 50_000;
  const events = Array.from({ length: count }, (_, position): CapturedEvent => {
    const timestamp = new Date(start + position * 10).toISOString();
    return { id: `event-${position}-`, type: 'agent:text', timestamp, data: { text: '' } };
  });

  /** How many reads an address makes, of how many events, and how many events one read has at most. */
  async function readsOf(address: string) {
    const log = addressedEvents(events);
    const sizes: number[] = [];
    const location = await locateEvent(
      {
        count: () => log.count(),
        async *pages(options) {
          for await (const page of log.pages(options)) {
            sizes.push(page.events.length);
            yield page;
          }
        },
      },
      parseAddress(address, { day: '2026-03-01T09:30:00.000Z' }) ?? { kind: 'latest' },
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    return { location, reads: sizes.length, total, largest: Math.max(...sizes) };
  }

  it('are one event for a position and the latest', async () => {
    expect(await readsOf('31415')).toMatchObject({ location: { position: 31_415 }, reads: 1, total: 1 });
    expect(await readsOf('latest')).toMatchObject({ location: { position: count - 1 }, reads: 1, total: 1 });
  });

  it('are one event for each halving and 1,000 more for a time', async () => {
    const { location, reads, total } = await readsOf('@09:33:20');
    expect(location).toMatchObject({ kind: 'found', position: 20_099 });
    expect(reads).toBeLessThanOrEqual(18);
    expect(total).toBeLessThanOrEqual(1_020);
  });

  it('end with the event for a whole id, and are pages', async () => {
    const whole = await readsOf('event-2500-');
    expect(whole).toMatchObject({ location: { position: 2_500 }, total: 3_000, largest: 1_000 });
    const part = await readsOf('-2500-');
    expect(part).toMatchObject({ location: { position: 2_500 }, total: count, largest: 1_000 });
  });
});
