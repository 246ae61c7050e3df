import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root, workspacePackages } from '../workspace.ts';

it('the first release is of every package that is published, and says what each gives', () => {
  const [, head = '', body = ''] = readFileSync(join(root, '.changeset/first-release.md'), 'utf8').split(
    '---\n',
  );
  const published = workspacePackages()
    .filter((one) => !one.private && one.folder !== 'benchmarks')
    .map(({ name }) => name);
  const named = [...head.matchAll(/^'([^']+)': minor$/gm)].map(([, name]) => name);
  expect(named.sort()).toEqual(published.sort());
  for (const name of published) expect(body).toContain(`\`${name.replace('@hansard/', '')}\``);
});
