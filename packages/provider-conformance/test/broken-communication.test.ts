import type { CommunicationHost, CommunicationProvider } from '@hansard/provider';
import { expect, it } from 'vitest';
import {
  type CommunicationFixture,
  type CommunicationScenario,
  communicationConformance,
  type ProviderUnderTest,
} from '../src/index.ts';
import { patienceMs } from './good-providers.ts';

/** A channel in memory: what people see, and what they do. */
class Channel {
  host: CommunicationHost | null = null;
  readonly seen: string[] = [];
  /** The dispatches that run, the latest last. */
  readonly running: string[] = [];

  readonly write = async (text: string): Promise<unknown> =>
    this.host?.deliver({ text, dispatchId: this.running.at(-1) ?? '' });
  readonly stop = (): unknown => this.host?.abort(this.running.at(-1) ?? '');
  readonly begin = async (prompt: string): Promise<unknown> => this.host?.start({ prompt });
}

type Changes = (
  channel: Channel,
  good: CommunicationProvider,
) => Partial<CommunicationProvider> & Partial<Actions>;
type Actions = Pick<Channel, 'write' | 'stop' | 'begin'>;

function underTest(
  changes: Changes = () => ({}),
): ProviderUnderTest<CommunicationScenario, CommunicationFixture> {
  return {
    scenarios: ['shows', 'delivers', 'aborts', 'startsTasks'],
    patienceMs,
    create: () => {
      const channel = new Channel();
      const good: CommunicationProvider = {
        contract: 1,
        start: (host) => {
          channel.host = host;
        },
        dispatchStarted: ({ envelope }) => void channel.running.push(envelope.dispatchId),
        eventRecorded: ({ event }) => void channel.seen.push(String(event.data.text)),
        deltaReceived: () => {},
        dispatchEnded: ({ envelope }) => {
          const at = channel.running.indexOf(envelope.dispatchId);
          if (at >= 0) channel.running.splice(at, 1);
        },
        close: () => {
          channel.host = null;
        },
      };
      const {
        write = channel.write,
        stop = channel.stop,
        begin = channel.begin,
        ...own
      } = changes(channel, good);
      const shown = () => channel.seen.join('\n');
      return { provider: { ...good, ...own }, store: {}, shown, write, stop, begin };
    },
  };
}

const never = () => new Promise<never>(() => {});

const faults: ReadonlyArray<readonly [fault: string, cases: string | readonly string[], changes: Changes]> = [
  ['has no version', 'contract', () => ({ contract: undefined as never })],
  [
    'can show five deltas',
    'notices',
    () => {
      let deltas = 0;
      return {
        deltaReceived() {
          deltas += 1;
          if (deltas > 5) throw new Error('too many');
        },
      };
    },
  ],
  [
    'shows one dispatch at a time',
    'dispatches-at-once',
    (channel) => ({
      eventRecorded({ envelope, event }) {
        if (channel.running.length > 1 && channel.running[0] === envelope.dispatchId)
          throw new Error('another dispatch runs');
        channel.seen.push(String(event.data.text));
      },
    }),
  ],
  [
    'needs every position',
    'dropped-notices',
    (channel) => {
      let next = 0;
      return {
        eventRecorded({ event, position }) {
          if (position > next) throw new Error(`position ${next} is missing`);
          next = position + 1;
          channel.seen.push(String(event.data.text));
        },
      };
    },
  ],
  [
    'fails for a type that it does not know',
    'unknown-events',
    (channel) => ({
      eventRecorded({ event }) {
        if (event.type !== 'agent:text') throw new Error(`what is ${event.type}?`);
        channel.seen.push(String(event.data.text));
      },
    }),
  ],
  [
    'changes the events that it is given',
    'notices-kept',
    (channel) => ({
      eventRecorded({ event }) {
        Object.assign(event.data, { text: `${String(event.data.text)} ` });
        channel.seen.push(String(event.data.text));
      },
    }),
  ],
  [
    'shows the latest text first',
    'shows-in-order',
    (channel) => ({ eventRecorded: ({ event }) => void channel.seen.unshift(String(event.data.text)) }),
  ],
  [
    'delivers each message twice',
    'delivers-once',
    (channel) => {
      const sent = new Set<string>();
      return {
        write: async (text) => {
          await channel.write(text);
          if (!text.startsWith('Message')) await channel.write(text);
          sent.add(text);
        },
      };
    },
  ],
  [
    'delivers nothing after a refusal',
    'host-refuses',
    (channel) => {
      let isRefused = false;
      return {
        write: async (text) => {
          if (!isRefused) isRefused = (await channel.write(text)) === false;
        },
      };
    },
  ],
  ['delivers what comes after its end', 'silent-after-close', () => ({ close: () => {} })],
  [
    'stops everything that runs',
    'aborts-one',
    (channel) => ({
      stop: () => {
        for (const dispatchId of [...channel.running].reverse()) channel.host?.abort(dispatchId);
      },
    }),
  ],
  [
    'asks for another task than the person',
    'starts-tasks',
    (channel) => ({ begin: (prompt) => channel.begin(prompt.toUpperCase()) }),
  ],
  [
    'waits for a store that it is not given',
    'host-without-store',
    (_, good) => ({ start: (host) => (host.store === undefined ? never() : good.start?.(host)) }),
  ],
  [
    'cannot be closed before it is started',
    // The kit closes the provider of each case at its end.
    ['contract', 'close-unstarted'],
    (_, good) => {
      let isStarted = false;
      return {
        start(host) {
          isStarted = true;
          return good.start?.(host);
        },
        close() {
          if (!isStarted) throw new Error('it was not started');
          return good.close?.();
        },
      };
    },
  ],
  [
    'waits at its end for every dispatch',
    'close-while-running',
    (channel, good) => {
      // The kit closes the provider again.
      const waits = [never, () => good.close?.()][Symbol.iterator]();
      return { close: () => (channel.running.length > 0 ? waits.next().value?.() : good.close?.()) };
    },
  ],
  [
    'fails when it is closed again',
    ['silent-after-close', 'host-without-store', 'close-unstarted', 'close-while-running', 'close-twice'],
    (_, good) => {
      let closes = 0;
      return {
        close() {
          closes += 1;
          if (closes === 2) throw new Error('it is closed');
          return good.close?.();
        },
      };
    },
  ],
];

it('a provider that keeps the contract passes every case', async () => {
  const results = await communicationConformance.run(underTest());
  expect(results.filter(({ error }) => error !== null)).toEqual([]);
});

it.each(faults)('a communication provider that %s fails exactly the case %s', async (_, cases, changes) => {
  const results = await communicationConformance.run(underTest(changes));
  const failed = results.filter(({ error }) => error !== null).map(({ id }) => id);
  expect(failed).toEqual([cases].flat().map((name) => `communication/${name}`));
});

it('every case for a communication provider has a fault that it names', () => {
  const ids = communicationConformance.cases.map(({ id }) => id);
  expect(
    new Set(faults.flatMap(([, cases]) => [cases].flat().map((name) => `communication/${name}`))),
  ).toEqual(new Set(ids));
});
