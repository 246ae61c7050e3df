import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

/** The faults of accessibility that axe finds in a page as it is. */
export async function faultsIn(page: Page): Promise<unknown> {
  // In a world of its own, in which the rules of the page against foreign scripts do not hold.
  const axe = createRequire(new URL('../../packages/viewer/package.json', import.meta.url)).resolve(
    'axe-core/axe.min.js',
  );
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: readFileSync(axe, 'utf8') });
  const { result } = await session.send('Runtime.evaluate', {
    expression:
      'axe.run().then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) => [id, nodes[0].html])))',
    awaitPromise: true,
  });
  return JSON.parse(String(result.value));
}
