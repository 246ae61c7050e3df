import type { StoreCapabilities } from '@hansard/provider';
import type { CaseContext } from './case-context.ts';

export type CapabilityFlag = keyof StoreCapabilities;

/** The name of a case of the kit, and the stores to which it applies. */
export interface StoreConformanceCase {
  /** `family/name`; stable between versions of the kit. */
  readonly id: string;
  /** The rule of `DispatchStoreProvider` that it checks; null for an obligation of one method or flag. */
  readonly rule: number | null;
  /** The result for the user of a conforming store. */
  readonly title: string;
  /** The flags that a store must claim for this case to apply: all of them. Empty: it applies to every store. */
  readonly needs: readonly CapabilityFlag[];
  /**
   * Whether what it checks depends on when data is safe on the disk. A store that is opened with a durability of its user's choice runs these cases
   * at each durability, and all others at one.
   */
  readonly atEachDurability: boolean;
}

export interface RunnableCase extends StoreConformanceCase {
  /** Whether no other case of the process may run beside it: it measures the process. */
  readonly alone: boolean;
  run(context: CaseContext): Promise<void>;
}

/** A case as its family defines it. */
export interface NamedCase {
  readonly name: string;
  readonly rule: number | null;
  readonly title: string;
  readonly needs?: readonly CapabilityFlag[];
  readonly atEachDurability?: true;
  readonly alone?: true;
  run(context: CaseContext): Promise<void>;
}

/** Thrown by a case that this store, its fixture or this machine cannot run. */
export class SkippedCase extends Error {
  /** What the store claims, and the kit could not test because the fixture gives no means; null if nothing is claimed. */
  readonly claim: string | null;

  constructor(reason: string, claim: string | null = null) {
    super(reason);
    this.claim = claim;
  }
}

/** Ends a case without a result. The reason is reported. */
export function skipCase(reason: string): never {
  throw new SkippedCase(reason);
}

/** Ends a case for which the fixture gives no means. What the store claims by itself is then reported as not certified. */
export function lacksMeans(claim: string, reason: string): never {
  throw new SkippedCase(reason, claim);
}

/** The cases of one family. An id is the family and the name. */
export function caseFamily(family: string, cases: readonly NamedCase[]): readonly RunnableCase[] {
  return cases.map(({ name, needs = [], atEachDurability = false, alone = false, ...rest }) => ({
    id: `${family}/${name}`,
    needs,
    atEachDurability,
    alone,
    ...rest,
  }));
}

const claims: Readonly<Record<CapabilityFlag, (capabilities: StoreCapabilities) => boolean>> = {
  durability: ({ durability }) => durability !== 'memory',
  writers: ({ writers }) => writers === 'dispatch',
  search: ({ search }) => search !== false,
  watch: ({ watch }) => watch,
  deleteDispatch: ({ deleteDispatch }) => deleteDispatch,
  rewrite: ({ rewrite }) => rewrite,
  integrity: ({ integrity }) => integrity === 'checksum',
};

/** Whether a store with these capabilities must pass the case. */
export function appliesTo({ needs }: StoreConformanceCase, capabilities: StoreCapabilities): boolean {
  return needs.every((flag) => claims[flag](capabilities));
}
