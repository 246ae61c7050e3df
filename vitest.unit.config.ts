import { defineConfig, mergeConfig } from 'vitest/config';
import { heavyTests } from './scripts/unit-tests.ts';
import all from './vitest.config.ts';

/** `pnpm test:unit`: the tests that need nothing but the sources. They share workers: starting one costs more than most tests. */
export default mergeConfig(
  all,
  defineConfig({ test: { isolate: false, exclude: ['**/node_modules/**', ...heavyTests()] } }),
);
