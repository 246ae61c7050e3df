import { emptyModelData, type ModelData } from '../../src/model/model-store.ts';

/** A claim of an opening. `owner` is its process id. */
export interface ReferenceClaim {
  readonly token: string;
  readonly owner: number;
  readonly epoch: number;
}

/** Everything that the openings of a reference store share. Plain data, so that a file can keep it. */
export interface World {
  readonly data: ModelData;
  /** By `keyOf`. */
  readonly claims: Map<string, ReferenceClaim>;
  readonly epochs: Map<string, number>;
  /** The heartbeats of each opening, by token. */
  readonly beats: Map<string, number>;
  /** The bytes of damaged dispatches. */
  readonly damaged: Map<string, Uint8Array>;
}

/** Where a world is kept. `use` runs alone. */
export interface Medium {
  use<Answer>(action: (world: World) => Answer): Answer;
}

export const emptyWorld = (): World => ({
  data: emptyModelData(),
  claims: new Map(),
  epochs: new Map(),
  beats: new Map(),
  damaged: new Map(),
});

export function inMemory(world: World): Medium {
  return { use: (action) => action(world) };
}

export const keyOf = (taskDir: string, dispatchId: string): string => `${taskDir}\n${dispatchId}`;
