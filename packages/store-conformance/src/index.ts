export type { CaseCounts } from './run/case-context.ts';
export type { CapabilityFlag, StoreConformanceCase } from './run/conformance-case.ts';
export {
  defineStoreConformance,
  runStoreConformance,
  type StoreConformanceOptions,
  type StoreConformanceResult,
} from './run/run-case.ts';
export type {
  DispatchName,
  Displacement,
  InjectedFault,
  InjectedFaults,
  StoredBytes,
  StoreFixture,
  StoreModule,
  StoreUnderTest,
} from './run/store-under-test.ts';
export { storeConformanceCases } from './store-conformance-cases.ts';
