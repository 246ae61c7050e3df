import type { DispatchEnvelope } from '@hansard/events';
import type { Toolbox } from '../tools/toolbox.ts';
import type { DispatchRun, MessageSource } from './dispatch-run.ts';
import type { RunDispatchOptions } from './run-options.ts';

/** The place of a dispatch in the tree of those that run together. */
export interface RunPlace {
  /** 0 for the dispatch at the top, 1 for its workers, and so on. */
  readonly depth: number;
  readonly family: RunFamily;
}

/** What a dispatch shares with the workers below it. */
export interface RunFamily {
  readonly toolbox: Toolbox;
  /** How many workers run. */
  readonly slots: { taken: number };
  /** The dispatches that run together, for messages between them. Null: it has ended. */
  readonly members: Map<string, FamilyMember | null>;
  begin(options: RunDispatchOptions, depth: number): Promise<BegunDispatch>;
}

export interface FamilyMember {
  readonly role: string;
  /** Whether it takes messages now. */
  readonly accepts: () => boolean;
  /** Records a message and gives it to the agent. Returns false if it takes no more. */
  readonly deliver: (text: string, source: MessageSource, cause: string) => Promise<boolean>;
}

export interface BegunDispatch extends DispatchRun {
  /** As it was at the start. */
  readonly envelope: DispatchEnvelope;
  /** The envelope once the dispatch itself has ended; its workers may still run. */
  readonly completed: Promise<DispatchEnvelope>;
}
