import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { envelope as ended } from './made-events.ts';

export const taskDir = 'research/tasks/route-models';
export const dispatchId = '01JM0000000000000000000000';

/** Of a dispatch that runs, and of which nothing is known yet. */
export function envelope(fields: Partial<DispatchEnvelope> = {}): DispatchEnvelope {
  return ended({
    ...{ dispatchId, role: 'worker', model: null, cwd: null, cost: null, usage: null },
    ...{ startedAt: '2026-03-01T09:00:00.000Z', completedAt: null, status: 'running' },
    ...fields,
  });
}

/** The event that counts what an accepted loss has lost. */
export const notice: CapturedEvent = {
  id: 'notice',
  type: 'system:notice',
  timestamp: '2026-03-01T09:00:02.000Z',
  data: { text: 'Events are lost.' },
};

export function textEvent(
  id: string,
  text = `text of ${id}`,
  timestamp = '2026-03-01T09:00:01.000Z',
): CapturedEvent {
  return { id, type: 'agent:text', timestamp, data: { text } };
}

/** Events with the ids `e000000`, `e000001` …, which grow. */
export function growingEvents(count: number, first = 0): CapturedEvent[] {
  return Array.from({ length: count }, (_, index) => textEvent(`e${String(first + index).padStart(6, '0')}`));
}

export function idsOf(list: readonly CapturedEvent[]): readonly string[] {
  return list.map(({ id }) => id);
}

/** The files in a folder and below it, one after the other. */
export function bytesIn(folder: string): Buffer {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Buffer.concat(
    entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name))),
  );
}
