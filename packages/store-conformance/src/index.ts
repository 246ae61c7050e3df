export type { CaseCounts } from './run/case-context.ts';
export type { CapabilityFlag, StoreConformanceCase } from './run/conformance-case.ts';
export { defineStoreConformance, type StoreConformanceOptions } from './run/define-store-conformance.ts';
export { runStoreConformance, type StoreConformanceResult } from './run/run-store-conformance.ts';
export type {
  Displacement,
  InjectedFault,
  InjectedFaults,
  StoredBytes,
  StoreFixture,
  StoreModule,
} from './run/store-fixture.ts';
export type { StoreUnderTest } from './run/store-under-test.ts';
export { storeConformanceCases } from './store-conformance-cases.ts';
