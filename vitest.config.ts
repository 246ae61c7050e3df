import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { heavyReason, heavyTests, longestTests, testFiles } from './scripts/unit-tests.ts';

// Workers, and the programs that tests start, compile what they load once.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled-tests');

const conditions = ['@hansard/source'];
const heavyFiles = heavyTests();

/** The tests that need nothing but the sources. They share workers: starting one costs more than most tests. */
export const unitTests: TestProjectConfiguration = {
  extends: true,
  test: {
    name: 'unit',
    isolate: false,
    include: [...testFiles],
    exclude: ['**/node_modules/**', ...heavyFiles],
  },
};

/** Those with an engine, a browser, built packages or replaced modules have a process of their own. The others share some. */
const isAlone = (file: string) => ['engine', 'package', 'mock'].includes(heavyReason(file) as string);
const heavy: TestProjectConfiguration[] = [
  {
    extends: true,
    test: { name: 'heavy', isolate: false, include: heavyFiles.filter((file) => !isAlone(file)) },
  },
  { extends: true, test: { name: 'alone', include: heavyFiles.filter(isAlone) } },
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = longestTests.indexOf(relative(import.meta.dirname, moduleId));
      return rank < 0 ? longestTests.length : rank;
    };
    const sorted = await super.sort(files);
    return ['heavy', 'alone', 'unit'].flatMap((name) =>
      sorted.filter(({ project }) => project.name === name).sort((one, other) => rankOf(one) - rankOf(other)),
    );
  }
}

export function configFor(projects: TestProjectConfiguration[]) {
  return defineConfig({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      setupFiles: ['./scripts/test-setup.ts'],
      // A machine that is busy with something else takes several times as long.
      testTimeout: 240_000,
      hookTimeout: 240_000,
      // Many tests wait for processes of their own: none of the cores should wait with them.
      maxWorkers: availableParallelism() + 2,
      sequence: { sequencer: LongestFirst },
      reporters: ['default', './scripts/count-reporter.ts'],
      projects,
    },
  });
}

/** `pnpm test`: every test. */
export default configFor([...heavy, unitTests]);
