export type { CapabilityFlag, StoreConformanceCase } from './conformance-case.ts';
export { defineStoreConformance, type StoreConformanceOptions } from './define-store-conformance.ts';
export type { StoreUnderTest } from './run-case.ts';
export { runStoreConformance, type StoreConformanceResult } from './run-store-conformance.ts';
export { storeConformanceCases } from './store-conformance-cases.ts';
export type { StoreFixture } from './store-fixture.ts';
