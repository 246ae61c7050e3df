import type { StoreRepair } from '@hansard/provider';
import type { ChangeListeners } from '@hansard/store-kit';
import type { LaterWork } from '../later-work.ts';
import type { StoreSystem } from '../store-system.ts';
import type { DispatchClaims } from './dispatch-claims.ts';

/** What all dispatches of one opening of the store share. */
export interface DispatchContext extends StoreSystem {
  /** The folder of the store: a real path, without symbolic links. */
  readonly root: string;
  readonly claims: DispatchClaims;
  /** Whether each write waits for the disk. */
  readonly sync: boolean;
  readonly onRepair: (repair: StoreRepair) => void;
  /** The listeners of this opening. */
  readonly listeners: ChangeListeners;
  readonly later: LaterWork;
}
