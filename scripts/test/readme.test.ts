import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { storeConformanceCases } from '../../packages/store-conformance/src/index.ts';
import { root, workspacePackages } from '../workspace.ts';

const documents = globSync(
  ['*.md', 'docs/**/*.md', '{packages,plugins,apps,templates}/*/README.md', 'benchmarks/*.md'],
  { cwd: root },
);

describe('the documents', () => {
  it('name every package in the table of the README, and no other', () => {
    const rows = [
      ...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^\| \[`(@hansard\/[a-z-]+)`\]\(([^)]+)\)/gm),
    ];
    const listed = rows.map(([, name, folder]) => ({ name, folder }));
    const there = workspacePackages().filter((entry) => !entry.private);
    expect([...listed].sort((a, b) => String(a.name).localeCompare(String(b.name)))).toEqual(
      there.map(({ name, folder }) => ({ name, folder })).sort((a, b) => a.name.localeCompare(b.name)),
    );
  });

  it('exist for every package', () => {
    for (const { folder } of workspacePackages())
      expect(existsSync(join(root, folder, 'README.md')), folder).toBe(true);
  });

  it('name only cases that the kit has', () => {
    const ids = storeConformanceCases.map(({ id }) => id);
    const families = new Set(ids.map((id) => id.split('/')[0]));
    for (const document of documents) {
      for (const [, id = '', family = ''] of readFileSync(join(root, document), 'utf8').matchAll(
        /`(([a-z]+)\/[a-z]+(?:-[a-z]+)+)`/g,
      )) {
        if (families.has(family)) expect(ids, document).toContain(id);
      }
    }
  });

  it('link only to what is there', () => {
    for (const document of documents) {
      for (const [, target = ''] of readFileSync(join(root, document), 'utf8').matchAll(
        /\]\((?!https?:|#)([^)#]+)[^)]*\)/g,
      )) {
        expect(existsSync(resolve(root, dirname(document), target)), `${document} links to ${target}`).toBe(
          true,
        );
      }
    }
  });
});
