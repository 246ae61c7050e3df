import { defineConfig } from 'vitest/config';
import { testFiles } from './scripts/unit-tests.ts';

const conditions = ['@hansard/source'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [...testFiles],
    setupFiles: ['./scripts/test-setup.ts'],
    testTimeout: 60_000,
    // Many tests wait for processes of their own: none of the cores should wait with them.
    maxWorkers: '100%',
    reporters: ['default', './scripts/count-reporter.ts'],
  },
});
