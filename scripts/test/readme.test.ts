import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  agentConformance,
  modelConformance,
  toolConformance,
} from '../../packages/provider-conformance/src/index.ts';
import { storeConformanceCases } from '../../packages/store-conformance/src/index.ts';
import { brokenLinks } from '../markdown-links.ts';
import { diagramPattern, packageFloors, renderFloors } from '../package-floors.ts';
import { root, workspacePackages } from '../workspace.ts';

const documents = globSync(
  [
    '*.md',
    'docs/**/*.md',
    '{packages,plugins,apps}/*/*.md',
    'packages/*/template/*.md',
    'benchmarks/*.md',
    'examples/*.md',
  ],
  { cwd: root },
);
const read = (document: string) => readFileSync(join(root, document), 'utf8');

describe('README.md', () => {
  it('has at most 100 lines', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(100);
  });

  it('has the floors that the packages have (else: pnpm docs:floors)', () => {
    const [, , diagram] = diagramPattern.exec(read('README.md')) ?? [];
    expect(diagram).toBe(renderFloors(packageFloors()));
  });
});

describe('the floors of packages', () => {
  const entry = (name: string, ...dependencies: string[]) => ({
    folder: `packages/${name}`,
    name: `@hansard/${name}`,
    private: false,
    dependencies: dependencies.map((dependency) => `@hansard/${dependency}`),
  });

  it('put a package above all that it depends on', () => {
    const packages = [entry('c', 'a', 'b'), entry('b', 'a'), entry('a'), entry('d', 'a')];
    expect(packageFloors(packages)).toEqual([['a'], ['b', 'd'], ['c']]);
    expect(renderFloors(packageFloors(packages))).toBe('2  c\n1  b, d\n0  a\n');
  });

  it('refuse packages that depend on each other', () => {
    expect(() => packageFloors([entry('a', 'b'), entry('b', 'a')])).toThrow(/a → @hansard\/b → @hansard\/a/);
  });
});

describe('docs/packages.md', () => {
  const listed = [
    ...read('docs/packages.md').matchAll(/^\| \[`((?:@hansard\/)?[a-z-]+)`\]\(\.\.\/([^)]+)\)/gm),
  ].map(([, name = '', folder = '']) => ({ name, folder }));
  const packages = workspacePackages().filter((entry) => !entry.private);

  it('has a row for every package, and no other', () => {
    const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
    expect([...listed].sort(byName)).toEqual(
      packages.map(({ name, folder }) => ({ name, folder })).sort(byName),
    );
  });

  it('has each package below those that it imports', () => {
    const names = listed.map(({ name }) => name);
    for (const { name, dependencies } of packages) {
      const row = names.indexOf(name);
      for (const dependency of dependencies.filter((other) => names.includes(other)))
        expect(names.indexOf(dependency), `${name} imports ${dependency}`).toBeLessThan(row);
    }
  });
});

describe('the documents', () => {
  it('exist for every package', () => {
    for (const { folder } of workspacePackages())
      expect(existsSync(join(root, folder, 'README.md')), folder).toBe(true);
  });

  it('name only cases that the kits have', () => {
    const ids = [
      storeConformanceCases,
      modelConformance.cases,
      toolConformance.cases,
      agentConformance.cases,
    ].flatMap((cases) => cases.map(({ id }) => id));
    const families = new Set(ids.map((id) => id.split('/')[0]));
    for (const document of documents) {
      for (const [, id = '', family = ''] of read(document).matchAll(/`(([a-z]+)\/[a-z]+(?:-[a-z]+)+)`/g)) {
        if (families.has(family)) expect(ids, document).toContain(id);
      }
    }
  });

  it('link only to files and headings that exist', () => {
    for (const document of documents) expect(brokenLinks(root, document)).toEqual([]);
  });

  it('link to nothing outside their package when they are published with it', () => {
    for (const { folder } of workspacePackages().filter((entry) => !entry.private)) {
      for (const document of globSync(['*.md', 'template/*.md'], { cwd: join(root, folder) }))
        expect(brokenLinks(join(root, folder), document), folder).toEqual([]);
    }
  });
});
