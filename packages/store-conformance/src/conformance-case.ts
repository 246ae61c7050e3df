import type { StoreCapabilities } from '@hansard/provider';
import type { CaseContext } from './case-context.ts';

export type CapabilityFlag = keyof StoreCapabilities;

/** What a case of the kit is called, and to which stores it applies. */
export interface StoreConformanceCase {
  /** `family/name`; stable between versions of the kit. */
  readonly id: string;
  /** The rule of `DispatchStoreProvider` that it checks; null for what the contract says about one method or flag. */
  readonly rule: number | null;
  /** What the user of a conforming store gets. */
  readonly title: string;
  /** The flags that a store must claim for this case to apply: all of them. Empty: it applies to every store. */
  readonly needs: readonly CapabilityFlag[];
}

export interface RunnableCase extends StoreConformanceCase {
  run(context: CaseContext): Promise<void>;
}

/** A case as the file of its family writes it. */
export interface NamedCase {
  readonly name: string;
  readonly rule: number | null;
  readonly title: string;
  readonly needs?: readonly CapabilityFlag[];
  run(context: CaseContext): Promise<void>;
}

/** The cases of one file, their ids made of the family and their names. */
export function caseFamily(family: string, cases: readonly NamedCase[]): readonly RunnableCase[] {
  return cases.map(({ name, needs = [], ...rest }) => ({ id: `${family}/${name}`, needs, ...rest }));
}

const claims: Readonly<Record<CapabilityFlag, (capabilities: StoreCapabilities) => boolean>> = {
  durability: ({ durability }) => durability !== 'memory',
  writers: ({ writers }) => writers === 'dispatch',
  search: ({ search }) => search,
  watch: ({ watch }) => watch,
  deleteDispatch: ({ deleteDispatch }) => deleteDispatch,
};

/** Whether a store with these capabilities has to pass the case. */
export function appliesTo({ needs }: StoreConformanceCase, capabilities: StoreCapabilities): boolean {
  return needs.every((flag) => claims[flag](capabilities));
}
