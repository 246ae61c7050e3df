import { defineConfig } from 'vitest/config';

const conditions = ['@hansard/source'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['{packages,plugins,apps,examples}/*/test/**/*.test.ts', 'scripts/test/**/*.test.ts'],
    setupFiles: ['./scripts/test-setup.ts'],
    testTimeout: 60_000,
    // Many tests wait for processes of their own: none of the cores should wait with them.
    maxWorkers: '100%',
    reporters: ['default', './scripts/count-reporter.ts'],
  },
});
