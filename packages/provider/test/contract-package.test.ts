import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

describe('@hansard/provider', () => {
  it('loads no third-party code at run time', () => {
    const script = `
      import { registerHooks } from 'node:module';
      const seen = [];
      registerHooks({ load(url, context, next) { seen.push(url); return next(url, context); } });
      await import(${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)});
      process.stdout.write(seen.filter((url) => url.startsWith('file:')).join('\\n'));`;
    const loaded = execFileSync(
      process.execPath,
      ['--conditions=@hansard/source', '--input-type=module', '-e', script],
      { encoding: 'utf8' },
    );
    expect(loaded.split('\n').filter((url) => !/packages\/(provider|events)\/src\//.test(url))).toEqual([]);
    expect(loaded.split('\n').filter((url) => url.includes('packages/events/'))).toEqual([
      expect.stringMatching(/hansard-error\.ts$/),
    ]);
  });
});
