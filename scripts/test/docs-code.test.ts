import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { documentedCode } from '../markdown-code.ts';
import { root, workspacePackages } from '../workspace.ts';

const folder = mkdtempSync(join(root, 'node_modules/.docs-code-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the code in READMEs and docs', () => {
  const blocks = documentedCode();

  it('type-checks, where it is TypeScript', () => {
    const typescript = blocks.filter(({ language }) => language === 'ts');
    expect(typescript.length).toBeGreaterThan(5);
    const places = typescript.map(({ place, code }, index) => {
      writeFileSync(join(folder, `block-${index}.ts`), `${code}\nexport {};\n`);
      return place;
    });
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig()));
    expect(compile(places)).toBe('');
  });

  it('parses, where it is JSON', () => {
    for (const { place, language, code } of blocks) {
      if (language !== 'json') continue;
      expect(() => JSON.parse(code), place).not.toThrow();
    }
  });
});

function tsconfig(): object {
  const paths = workspacePackages().flatMap(({ name, folder: home }) => {
    const { exports } = JSON.parse(readFileSync(join(root, home, 'package.json'), 'utf8'));
    return Object.entries(exports as Record<string, { '@hansard/source'?: string }>).flatMap(
      ([key, target]) =>
        target['@hansard/source'] === undefined
          ? []
          : [[key.replace('.', name), [join(root, home, target['@hansard/source'])]]],
    );
  });
  return {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      // Programs install zod themselves; in the workspace it is a dependency of packages, not of the root.
      paths: {
        ...Object.fromEntries(paths),
        zod: [join(root, 'packages/events/node_modules/zod/index.d.ts')],
      },
      lib: ['es2024', 'esnext.disposable'],
    },
    include: ['*.ts'],
  };
}

function compile(places: readonly string[]): string {
  try {
    execFileSync('tsc', ['-p', folder, '--pretty', 'false'], { encoding: 'utf8', cwd: folder });
    return '';
  } catch (error) {
    return String((error as { stdout: string }).stdout).replaceAll(
      /(?:\S*\/)?block-(\d+)\.ts/g,
      (_, index) => places[Number(index)] ?? '',
    );
  }
}
