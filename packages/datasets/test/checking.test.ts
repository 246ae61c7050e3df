import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const importPattern = /(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g;

/** Each import of the files that match, as `FILE SPECIFIER`. */
function importsOf(pattern: string): string[] {
  return globSync(pattern, { cwd: root, exclude: (path) => /node_modules$|dist$/.test(path) }).flatMap(
    (file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(importPattern)].map(
        ([, specifier = '']) => `${relative('.', file)} ${specifier}`,
      ),
  );
}

describe('the check of packets', () => {
  it('shares no code with the program that writes packets', () => {
    const specifiers = importsOf('packages/datasets/src/checking/*.ts').map(
      (line) => line.split(' ')[1] ?? '',
    );
    expect(specifiers.length).toBeGreaterThan(3);
    expect(specifiers.filter((each) => !/^(?:\.\/[\w-]+\.ts|node:\w+|@hansard\/events)$/.test(each))).toEqual(
      [],
    );
    const events = readFileSync(join(root, 'packages/datasets/src/checking/check-packet.ts'), 'utf8');
    expect(events).toContain("import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';");
  });

  it('is for packing and for the command judge alone', () => {
    const users = importsOf('{packages,plugins,apps,examples}/*/src/**/*.ts')
      .filter((line) => /(?:datasets\/checking|[./]checking(?:\.ts|\/[\w-]+\.ts))$/.test(line))
      .map((line) => line.split(' ')[0] ?? '');
    expect(users.filter((file) => !file.startsWith('packages/datasets/src/checking'))).toEqual([
      'apps/harness/src/commands/judge/judge.ts',
      'packages/compose/src/exports/judging.ts',
    ]);
  });
});
