import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine } from './command-line.ts';

describe('hansard demo', () => {
  it('says what to try next, in commands that work', async () => {
    using line = commandLine();
    writeFileSync(join(line.cwd, 'hansard.config.json'), '{ "communication": [] }');
    const { out, code } = await line.hansard('demo', '--delay', '0');
    expect(code).toBe(0);
    expect(out).toContain('I was not allowed to delete.');
    const shown = [...out.matchAll(/^ {2}hansard (.+)$/gm)].map(([, words = '']) =>
      words.replaceAll("'", ''),
    );
    expect(shown).toHaveLength(2);
    for (const words of shown) expect(await line.hansard(...words.split(' '))).toMatchObject({ code: 0 });
    const [, folder = ''] = /grep .* (\S+)$/m.exec(out) ?? [];
    expect(existsSync(folder)).toBe(true);
  });

  it('names no file where the store keeps none', async () => {
    using line = commandLine();
    writeFileSync(
      join(line.cwd, 'hansard.config.json'),
      '{ "store": "@hansard/store-memory", "communication": [] }',
    );
    const { out, code } = await line.hansard('demo', '--delay', '0');
    expect(code).toBe(0);
    expect(out).toContain('Try next');
    expect(out).not.toMatch(/grep|\.projects/);
  });
});
