export {
  type ImporterConformanceCase,
  type ImporterConformanceResult,
  type ImporterTestRunner,
  type ImporterUnderTest,
  importerConformance,
  importerConformanceCases,
  runImporterConformance,
} from './kit.ts';
export type { RandomChoices } from './random.ts';
export type { WrittenRecord } from './written-source.ts';
