import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates, StoreCapabilities } from '@hansard/provider';
import { sampleEnvelope, sampleTask, valueEvent } from '../checks/sample-data.ts';
import type { Random } from './random.ts';

/** One step of the model case: a method with its arguments, or opening the store again. */
export interface Step {
  readonly method: string;
  readonly args: readonly unknown[];
}

const tasks = ['lab/tasks/one', 'lab/tasks/one/inner', 'lab/tasks/zwei drei'] as const;
const dispatches = ['D1', 'D2', 'd-3'] as const;
const times = [
  null,
  ...['2026-03-01T09:00:00.000Z', '2026-03-01T09:00:00.001Z', '2026-03-02T00:00:00.000Z'],
] as const;
const texts = ['', 'plain', 'é🎈\u2028\0', 'a\ud800', '"]}\n', 'x'.repeat(5_000)] as const;
/** Few ids, so that retries and conflicts are common. */
const eventIds = 60;

const stepMakers: ReadonlyArray<readonly [weight: number, make: (random: Random) => Step]> = [
  [10, (random) => ({ method: 'createDispatch', args: [random.pick(tasks), anyEnvelope(random)] })],
  [16, (random) => ({ method: 'claimDispatch', args: anyPlace(random) })],
  [2, (random) => ({ method: 'releaseDispatch', args: anyPlace(random) })],
  [8, (random) => ({ method: 'updateDispatch', args: [...anyPlace(random), anyUpdates(random)] })],
  [30, (random) => ({ method: 'appendEvent', args: [...anyPlace(random), anyEvent(random)] })],
  [15, (random) => ({ method: 'appendEvents', args: [...anyPlace(random), anyBatch(random)] })],
  [4, (random) => ({ method: 'getDispatchEnvelopes', args: [random.pick(tasks)] })],
  [4, (random) => ({ method: 'getDispatchEnvelope', args: anyPlace(random) })],
  [4, (random) => ({ method: 'getDispatchEvents', args: anyPlace(random) })],
  [8, (random) => ({ method: 'getRecentEvents', args: [...anyPlace(random), random.below(40)] })],
  [14, (random) => ({ method: 'readEvents', args: [...anyPlace(random), anyPage(random)] })],
  [8, (random) => ({ method: 'readEvents', args: [...anyPlace(random), { last: random.below(40) }] })],
  [
    4,
    (random) => ({
      method: 'putTask',
      args: [random.pick(tasks), sampleTask(random.pick(texts) || 'empty')],
    }),
  ],
  [3, (random) => ({ method: 'findTask', args: [random.pick(tasks)] })],
  [3, () => ({ method: 'listTasks', args: [] })],
];
const reopenStep: (typeof stepMakers)[number] = [2, () => ({ method: 'reopen', args: [] })];
const deleteStep: (typeof stepMakers)[number] = [
  2,
  (random) => ({ method: 'deleteDispatch', args: anyPlace(random) }),
];

/** Random steps that a store with these capabilities supports. */
export function createStepSource(random: Random, capabilities: StoreCapabilities): () => Step {
  const makers = [
    ...stepMakers,
    ...(capabilities.durability === 'memory' ? [] : [reopenStep]),
    ...(capabilities.deleteDispatch ? [deleteStep] : []),
  ];
  const total = makers.reduce((sum, [weight]) => sum + weight, 0);
  return () => {
    let rest = random.below(total);
    const chosen = makers.find(([weight]) => {
      rest -= weight;
      return rest < 0;
    });
    return (chosen ?? reopenStep)[1](random);
  };
}

/** Every step that reads, to compare the whole content. */
export function allReads(): readonly Step[] {
  return [
    { method: 'listTasks', args: [] },
    ...tasks.flatMap((task) => [
      { method: 'findTask', args: [task] },
      { method: 'getDispatchEnvelopes', args: [task] },
      ...dispatches.map((dispatch) => ({ method: 'getDispatchEvents', args: [task, dispatch] })),
    ]),
  ];
}

function anyPlace(random: Random): readonly [string, string] {
  return [random.pick(tasks), random.pick(dispatches)];
}

function anyEnvelope(random: Random): DispatchEnvelope {
  return sampleEnvelope(random.pick(dispatches), {
    startedAt: random.pick(times),
    role: random.pick(texts) || 'worker',
    status: random.pick(['running', 'running', 'completed']),
  });
}

function anyUpdates(random: Random): EnvelopeUpdates {
  return {
    ...(random.below(2) === 0 ? { status: random.pick(['running', 'completed', 'crashed']) } : {}),
    ...(random.below(3) === 0 ? { startedAt: random.pick(times) } : {}),
    ...(random.below(4) === 0 ? { title: random.pick(texts) || null } : {}),
    ...(random.below(2) === 0 ? { structuredResult: random.pick([null, { text: random.pick(texts) }]) } : {}),
    ...(random.below(3) === 0 ? { cost: random.pick([null, random.below(100) / 8]) } : {}),
  };
}

/** The content depends on the id, so an event with a used id is mostly a retry and sometimes a conflict. */
function anyEvent(random: Random): CapturedEvent {
  const number = random.below(eventIds);
  const conflicting = random.below(12) === 0;
  const text = texts[number % texts.length] ?? '';
  return valueEvent(`event-${number}`, { number, text, ...(conflicting ? { changed: true } : {}) });
}

function anyBatch(random: Random): readonly CapturedEvent[] {
  return Array.from({ length: random.below(6) }, () => anyEvent(random));
}

function anyPage(random: Random): { readonly after?: number; readonly limit?: number } {
  return {
    ...(random.below(4) === 0 ? {} : { after: random.below(25) - 1 }),
    ...(random.below(4) === 0 ? {} : { limit: 1 + random.below(10) }),
  };
}
