export type { CapabilityFlag, StoreConformanceCase } from './run/conformance-case.ts';
export { defineStoreConformance, type StoreConformanceOptions } from './run/define-store-conformance.ts';
export type { StoreUnderTest } from './run/run-case.ts';
export { runStoreConformance, type StoreConformanceResult } from './run/run-store-conformance.ts';
export { storeConformanceCases } from './store-conformance-cases.ts';
export type { StoreFixture } from './run/store-fixture.ts';
