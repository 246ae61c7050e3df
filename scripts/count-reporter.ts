import { redisVersion } from '@hansard/testing/redis';
import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with one plain line, `N passed, N failed, N skipped`, that any CI can read. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      const failedBefore = count.failed;
      for (const test of module.children.allTests()) count[test.result().state] += 1;
      // A file that can't be loaded, or whose set-up throws, has failed without a failed test.
      if (!module.ok() && count.failed === failedBefore) count.failed += 1;
    }
    console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped`);
    if (modules.some(({ moduleId }) => moduleId.includes('/store-redis/')) && redisVersion() === null)
      console.log(
        'Not run: the tests of store-redis, because this machine has no redis-server 7.0 or newer.',
      );
  }
}
