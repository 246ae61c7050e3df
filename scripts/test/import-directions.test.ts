import { describe, expect, it } from 'vitest';
import { importsFrom, wrongImports } from '../import-directions.ts';
import { workspacePackages } from '../workspace.ts';

describe('import directions', () => {
  const packages = workspacePackages();

  it('point one way', () => {
    expect(wrongImports(packages)).toEqual([]);
  });

  it('are reported if one points the wrong way, or no rule covers a folder', () => {
    const withWrong = packages.map((entry) =>
      entry.name === '@hansard/events' ? { ...entry, dependencies: ['@hansard/dispatch'] } : entry,
    );
    expect(wrongImports(withWrong)).toEqual(['packages/events/package.json depends on @hansard/dispatch']);
    const unknown = {
      folder: 'packages/unheard-of',
      name: '@hansard/unheard-of',
      private: false,
      dependencies: [],
    };
    expect(wrongImports([...packages, unknown])).toEqual([
      expect.stringContaining('packages/unheard-of: no rule'),
    ]);
  });

  it('are reported if a test imports a file of another package by its path', () => {
    const source = `
      import { a } from '../../b/test/a.ts';
      import { c } from '../src/c.ts';
      import { d } from '@hansard/b';
      import { e } from '../../../scripts/e.ts';
      const f = await import('../../b/src/f.ts');
    `;
    expect(importsFrom(['packages/b'], 'packages/a/test/a.test.ts', source)).toEqual([
      'packages/a/test/a.test.ts reaches out to ../../b/test/a.ts',
      'packages/a/test/a.test.ts reaches out to ../../b/src/f.ts',
    ]);
  });
});
