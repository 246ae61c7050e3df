import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with one plain line, `N passed, N failed, N skipped`, that any CI can read. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      let tests = 0;
      for (const test of module.children.allTests()) {
        count[test.result().state] += 1;
        tests += 1;
      }
      if (tests === 0 && !module.ok()) count.failed += 1;
    }
    console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped`);
  }
}
