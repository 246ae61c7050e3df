import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorSections } from '../error-families.ts';
import { errorsDoc } from '../errors-doc.ts';
import { root } from '../workspace.ts';

const codes = errorSections.flatMap(({ family }) => Object.keys(family.rows));

/** The folder of each package, once for each family that its sources declare. */
const declaring = globSync('{packages,plugins,apps}/*/src/**/*.ts', { cwd: root }).flatMap((path) =>
  [...readFileSync(join(root, path), 'utf8').matchAll(/= defineErrors\(/g)].map(() =>
    path.split('/').slice(0, 2).join('/'),
  ),
);

describe('docs/errors.md', () => {
  it('is what the error families declare (else: pnpm docs:errors)', () => {
    expect(readFileSync(join(root, 'docs/errors.md'), 'utf8')).toBe(errorsDoc());
  });

  it('has a section for each family in the sources', () => {
    expect(errorSections.map(({ folder }) => folder).sort()).toEqual(declaring.sort());
  });

  it.each(errorSections)('names $table, which knows the errors of its family alone', async (section) => {
    const { [section.table]: family } = await import(join(root, section.folder, 'src/index.ts'));
    expect(family).toBe(section.family);
    for (const [code, { advice }] of Object.entries(section.family.rows)) {
      const error = family.error(code, 'x');
      expect(error).toMatchObject({ family: family.name, code, advice });
      expect(errorSections.filter((other) => other.family.is(error))).toEqual([section]);
      expect(family.is(error, code)).toBe(true);
    }
  });
});

describe('an error family', () => {
  it('has no name of another', () => {
    const names = errorSections.map(({ family }) => family.name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('has no code of another', () => {
    expect(codes.length).toBeGreaterThan(60);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('says of each code when it occurs and what to do, in whole sentences', () => {
    for (const { family } of errorSections) {
      for (const [code, { when, advice }] of Object.entries(family.rows)) {
        expect([code, when]).toEqual([code, expect.stringMatching(/^[`A-Z].{10,}\.$/)]);
        expect([code, advice]).toEqual([code, expect.stringMatching(/^[`A-Z].{5,}\.$/)]);
      }
    }
  });
});
