import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { root } from './workspace.ts';

/** Where tests are, for `vitest.config.ts`. */
export const testFiles = [
  '{packages,plugins,apps,examples}/*/test/**/*.test.ts',
  'scripts/test/**/*.test.ts',
];

/** Why a test is not a unit test. */
export type HeavyReason = 'engine' | 'server' | 'package' | 'process' | 'mock' | 'slow';

/** Files that need more than four seconds of a processor by themselves, where no import says so. */
export const slowTests: readonly string[] = [
  'apps/harness/test/commands.test.ts',
  'apps/harness/test/trees/random-trees.test.ts',
  'apps/harness/test/plugins-named-twice.test.ts',
  'apps/harness/test/run-view.test.ts',
  'packages/datasets/test/training/training-properties.test.ts',
  'packages/formats/test/conversion.test.ts',
  'packages/session/test/truth/random-sessions.test.ts',
  'plugins/comm-streams/test/killed-writers.test.ts',
  'plugins/store-jsonfile/test/integrity/flipped-bits.test.ts',
  'plugins/store-jsonfile/test/too-large.test.ts',
  'packages/store-conformance/test/damage-mutants.test.ts',
  'packages/store-conformance/test/mutants.test.ts',
  'plugins/store-jsonfile/test/conformance-processes.test.ts',
  'plugins/store-jsonfile/test/torn-tail.test.ts',
  'plugins/store-sqlite/test/conformance-processes.test.ts',
  'plugins/store-sqlite/test/integrity/cut-log.test.ts',
  'plugins/store-sqlite/test/integrity/flipped-bits.test.ts',
  'plugins/store-sqlite/test/simulation/simulation.test.ts',
  'scripts/test/regular-expressions.test.ts',
];

/**
 * The files that take longest, those of `heavyTests` and then the others, the longest first. They start in this order, so that no worker is alone with
 * one at the end: without times of an earlier run, as in CI, vitest starts the largest files first.
 */
export const longestTests: readonly string[] = [
  'plugins/store-postgres/test/conformance.test.ts',
  'plugins/store-redis/test/conformance.test.ts',
  'plugins/store-jsonfile/test/conformance-processes.test.ts',
  'packages/store-conformance/test/processes.test.ts',
  'plugins/store-sqlite/test/conformance-processes.test.ts',
  'packages/store-conformance/test/mutants.test.ts',
  'packages/store-conformance/test/command.test.ts',
  'plugins/agent-claude/test/live/conformance.test.ts',
  'apps/harness/test/every-command/special-files.test.ts',
  'apps/harness/test/resume-waits.test.ts',
  'scripts/test/third-party-plugin.test.ts',
  'plugins/store-sqlite/test/simulation/simulation.test.ts',
  'packages/viewer/test/browser/stores.test.ts',
  'packages/viewer/test/browser/reader.test.ts',
  'packages/import-conformance/test/conformance.test.ts',
  'plugins/store-jsonfile/test/conformance.test.ts',
  'plugins/store-sqlite/test/conformance.test.ts',
  'packages/claude/test/transcript/random-conversations.test.ts',
  'plugins/store-jsonfile/test/simulation.test.ts',
  'packages/store-conformance/test/model-store.test.ts',
  'packages/import/test/grown-at-once.test.ts',
  'packages/views/test/files/blame-mutants.test.ts',
  'packages/import-conformance/test/mutants.test.ts',
  'apps/harness/test/every-command/malformed-events.test.ts',
  'apps/harness/test/hostile-store.test.ts',
  'apps/harness/test/copies/random-copies.test.ts',
];

/** Not followed, unlike relative imports. */
const databaseServers = ['@hansard/testing/postgres-in-tests', '@hansard/testing/redis-in-tests'];

const importPattern = /^(?:(?:import|export)\b[^'\n]*|\} )from '([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;

/**
 * Why a test file is left out of `pnpm test:unit`, or null. The imports decide, those of its helpers included:
 * `scripts/engines` needs an engine or a browser, `@hansard/testing/postgres-in-tests` and `redis-in-tests` start a server, `scripts/pack.ts` and `esbuild` need built packages. A file that itself imports
 * `node:child_process` starts processes, and one that replaces modules (`vi.mock`) needs a worker of its own.
 */
export function heavyReason(file: string, read: (path: string) => string = readSource): HeavyReason | null {
  const reached = reachableFrom(file, read);
  if ([...reached].some((path) => path.startsWith('scripts/engines/'))) return 'engine';
  if (databaseServers.some((server) => reached.has(server))) return 'server';
  if (reached.has('scripts/pack.ts') || reached.has('scripts/running-pnpm.ts')) return 'package';
  if (/^import\b[^'\n]* from 'esbuild'/m.test(read(file))) return 'package';
  if (/^(?:import\b[^'\n]*|\} )from 'node:child_process'/m.test(read(file))) return 'process';
  if (/^\s*vi\.(?:mock|doMock|resetModules)\(/m.test(read(file))) return 'mock';
  return slowTests.includes(file) ? 'slow' : null;
}

/** The test files that are left out of `pnpm test:unit`. */
export function heavyTests(): string[] {
  return globSync(testFiles, { cwd: root })
    .filter((file) => heavyReason(file) !== null)
    .sort();
}

/** The file and everything that it imports by a relative path, and the server of a database. */
function reachableFrom(file: string, read: (path: string) => string): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [file];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    for (const [, from = '', dynamic = ''] of read(path).matchAll(importPattern)) {
      const specifier = from + dynamic;
      if (databaseServers.includes(specifier)) reached.add(specifier);
      if (specifier.startsWith('.')) open.push(relative(root, resolve(root, dirname(path), specifier)));
    }
  }
  return reached;
}

function readSource(path: string): string {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
