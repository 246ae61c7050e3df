import type { ContextMessage } from '@hansard/prompt';

export interface RowSize {
  readonly bytes: number;
  readonly tokens: number;
}

export type MeasureMessage = (message: ContextMessage) => RowSize;

export const nothing: RowSize = { bytes: 0, tokens: 0 };

export function plus(one: RowSize, other: RowSize): RowSize {
  return { bytes: one.bytes + other.bytes, tokens: one.tokens + other.tokens };
}
