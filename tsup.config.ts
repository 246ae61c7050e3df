import { defineConfig } from 'tsup';

/** One build for every package: the entries are the files that its `exports` name under `@hansard/source`. */
export default defineConfig(async () => {
  const { readFileSync } = await import('node:fs');
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const entries = Object.values(manifest.exports as Record<string, unknown>)
    .map((target) => (target as { '@hansard/source'?: string })['@hansard/source'])
    .filter((path): path is string => typeof path === 'string');
  const binaries = Object.values((manifest.bin ?? {}) as Record<string, string>).map((path) =>
    path.replace('./dist/', './src/').replace(/\.js$/, '.ts'),
  );
  return {
    entry: [...entries, ...binaries],
    format: 'esm',
    platform: 'node',
    target: 'node22',
    sourcemap: true,
    clean: true,
    dts: false,
    // `node:sqlite` has no name without the prefix.
    removeNodeProtocol: false,
    // A few lines of ours, inlined so that the contract package loads nothing at run time.
    noExternal: ['@hansard/events/coded-error'],
  };
});
