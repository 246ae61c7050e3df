import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checks, reliabilityDoc } from '../reliability-doc.ts';
import { root } from '../workspace.ts';

it('docs/reliability.md has the figures of the campaigns (else: pnpm docs:reliability)', () => {
  expect(readFileSync(join(root, 'docs/reliability.md'), 'utf8')).toBe(reliabilityDoc());
});

it.each(checks)('%s: the tests exist', (_attack, _result, files) => {
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
