import type { CapturedEvent, DispatchEnvelope, TaskRecord } from '@hansard/events';
import { envelope, growingEvents, taskDir, textEvent } from '@hansard/testing/store-samples';

export interface GoldenDispatch {
  readonly taskDir: string;
  readonly envelope: DispatchEnvelope;
  readonly batches: readonly (readonly CapturedEvent[])[];
}

export const goldenTasks: readonly (readonly [string, TaskRecord])[] = [
  [
    taskDir,
    {
      slug: 'route-models',
      name: 'Route models, “cheaply”',
      project: 'research',
      status: 'open',
      created: '2026-03-01T09:30:00.000Z',
    },
  ],
];

/** Growing ids, ids that do not grow, no events, and text that is not ASCII. */
export const goldenDispatches: readonly GoldenDispatch[] = [
  {
    taskDir,
    envelope: envelope({ dispatchId: 'GROWING', status: 'completed', title: 'A first try' }),
    batches: [growingEvents(1), growingEvents(40, 1)],
  },
  {
    taskDir,
    envelope: envelope({ dispatchId: 'MIXED', startedAt: '2026-03-02T09:00:00.000Z' }),
    batches: [['m', 'c', 'x', 'a'].map((id) => textEvent(id, `words of ${id}: Zürich, 東京, 🦉, \u2028`))],
  },
  {
    taskDir: 'another/task',
    envelope: envelope({ dispatchId: 'EMPTY', status: 'crashed' }),
    batches: [],
  },
];
