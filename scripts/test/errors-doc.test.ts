import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorSections } from '../error-families.ts';
import { errorsDoc } from '../errors-doc.ts';
import { root } from '../workspace.ts';

type Guard = (value: unknown, code?: string) => boolean;

const guards = new Map<string, Guard>();
for (const { guard, folder } of errorSections)
  guards.set(guard, (await import(join(root, folder, 'src/index.ts')))[guard]);

const codes = errorSections.flatMap(({ family }) => family.codes);

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

  it.each(errorSections)(
    'names $guard, which knows the errors of its family alone',
    async ({ guard, folder, family }) => {
      const exported = await import(join(root, folder, 'src/index.ts'));
      const FamilyError = exported[guard.slice('is'.length)];
      for (const [code, { advice }] of Object.entries(family.rows)) {
        const error = new FamilyError(code, 'x');
        expect(error).toMatchObject({ name: guard.slice('is'.length), code, advice });
        expect(errorSections.filter((section) => guards.get(section.guard)?.(error))).toMatchObject([
          { guard },
        ]);
        expect(guards.get(guard)?.(error, code)).toBe(true);
      }
    },
  );
});

describe('an error family', () => {
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
