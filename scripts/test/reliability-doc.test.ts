import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checks, reliabilityDoc } from '../reliability-doc.ts';
import { root } from '../workspace.ts';

it('docs/reliability.md has the figures of the campaigns (else: pnpm docs:reliability)', () => {
  expect(readFileSync(join(root, 'docs/reliability.md'), 'utf8')).toBe(reliabilityDoc());
});

it('no attack of the campaign lost something, or was silent', () => {
  const campaigns = JSON.parse(readFileSync(join(root, 'scripts/campaigns/reliability.json'), 'utf8'));
  const failures = Object.values<{ failure: string | null }>(campaigns).map(({ failure }) => failure);
  expect(failures.length).toBeGreaterThan(9);
  expect(failures.filter((failure) => failure !== null)).toEqual([]);
});

it('has ten rows, and defines acknowledged as the contract does', () => {
  expect(checks).toHaveLength(10);
  const definition = /^An event is _acknowledged_[\s\S]*?(?=\n\n)/m.exec(
    readFileSync(join(root, 'docs/contract.md'), 'utf8'),
  );
  expect(definition).not.toBeNull();
  expect(readFileSync(join(root, 'docs/reliability.md'), 'utf8')).toContain(definition?.[0]);
});

it.each(checks)('%s: the tests exist', (_attack, _result, files) => {
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
