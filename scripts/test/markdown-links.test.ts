import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { brokenLinks } from '../markdown-links.ts';

const home = mkdtempSync(join(tmpdir(), 'hansard-links-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('the links of a document', () => {
  it('are reported when they lead out of its package, to a missing file or to a missing heading', () => {
    writeFileSync(join(home, 'other.md'), '## The `price` of it\n\n<a id="d1"></a>\n');
    const good =
      '[a](other.md) [b](#title) [c](other.md#the-price-of-it) [d](other.md#d1) [e](https://a.example/b)';
    const bad = '[f](../docs/errors.md) [g](absent.md) [h](other.md#none)';
    writeFileSync(join(home, 'README.md'), `# Title\n\n${good}\n${bad}\n`);
    expect(brokenLinks(home, 'README.md')).toEqual([
      'README.md links out of the package: ../docs/errors.md',
      'README.md links to absent.md, which does not exist',
      'README.md links to other.md#none, which has no such heading',
    ]);
  });
});
