import type { CapturedEvent } from '@hansard/provider';
import type { MemoryStore } from '../src/memory-store.ts';

/** The memory store with one fault. */
export interface BrokenStore {
  readonly fault: string;
  /** The cases that name the fault. */
  readonly caseIds: readonly string[];
  readonly create: () => MemoryStore;
}

export type Events = readonly CapturedEvent[];
