import { createHash } from 'node:crypto';
import type { ContextMessage, ContextPolicy } from '../../src/index.ts';

export const faded = (budget: number, more: object = {}): ContextPolicy => ({
  name: 'faded',
  budget,
  ...more,
});
export const policies: ContextPolicy[] = [
  { name: 'full' },
  { name: 'full', earlierOutput: 'kept' },
  { name: 'lastMessages', count: 7 },
  { name: 'lastMessages', count: 12, step: 5 },
  faded(4_000),
  faded(2_500, { reserve: 300, step: 0.5, earlierOutput: 'omitted' }),
];
export const seeds = [1, 2, 3, 4];
export const texts = (messages: readonly ContextMessage[]) => messages.map(({ text }) => text);
export const hashOf = (messages: readonly ContextMessage[]) =>
  `sha256:${createHash('sha256')
    .update(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
    .digest('hex')}`;

export function thrown(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return null;
}
