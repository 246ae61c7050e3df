export type { StoreConformanceCase } from './run/conformance-case.ts';
export { defineStoreConformance, runStoreConformance, type StoreConformanceResult } from './run/run-case.ts';
export type {
  InjectedFault,
  InjectedFaults,
  StoredBytes,
  StoreFixture,
  StoreUnderTest,
} from './run/store-under-test.ts';
export { storeConformanceCases } from './store-conformance-cases.ts';
