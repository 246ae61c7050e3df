import { defineConfig, type Options } from 'tsup';
import { writeLicences } from './scripts/licences.ts';

type EsbuildPlugin = NonNullable<Options['esbuildPlugins']>[number];

/**
 * Libraries that become part of a package's own files: a program loads one file in place of a hundred, and an install has
 * only what is used of them. Their licences go into the package.
 */
const inlined: Readonly<Record<string, readonly string[]>> = {
  '@hansard/events': ['devalue', 'loupe', 'zod'],
  '@hansard/import': ['@pydantic/genai-prices'],
  '@hansard/prompt': ['gpt-tokenizer'],
  // A page loads this store, and the helpers for other stores need Node.
  '@hansard/store-memory': ['@hansard/store-kit'],
  '@hansard/traces': [
    '@opentelemetry/api',
    '@opentelemetry/core',
    '@opentelemetry/otlp-exporter-base',
    '@opentelemetry/otlp-transformer',
    '@opentelemetry/resources',
    '@opentelemetry/semantic-conventions',
  ],
};

/** Sources that a program can load without the rest of their package: each becomes a file of its own, of which bundlers drop the others. */
const loadedAlone: Readonly<Record<string, readonly string[]>> = {
  '@hansard/events': ['./src/types/new-event.ts'],
};

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
  const libraries = inlined[manifest.name] ?? [];
  const alone = loadedAlone[manifest.name] ?? [];
  // An entry whose code is shared with another one only names what is in the shared files, so that bundlers drop the files without use.
  const shared = alone.length > 0 ? { shared: './src/index.ts' } : {};
  const named = [...entries, ...binaries, ...alone].map((path) => [
    path.replace('./src/', '').replace(/\.tsx?$/, ''),
    path,
  ]);
  return {
    entry: { ...Object.fromEntries(named), ...shared },
    format: 'esm',
    platform: 'node',
    target: 'node22',
    sourcemap: true,
    clean: true,
    dts: false,
    // `node:sqlite` has no name without the prefix.
    removeNodeProtocol: false,
    esbuildOptions: (options) => {
      options.charset = 'utf8';
    },
    // A few lines of ours, inlined so that the contract package loads nothing at run time.
    noExternal: ['@hansard/events/hansard-error', 'zod', ...libraries],
    esbuildPlugins: [libraries.includes('zod') ? zodInPart : zodOfEvents, withoutTheirMaps],
    metafile: true,
    onSuccess: async () => {
      const { rmSync } = await import('node:fs');
      const metafile = 'dist/metafile-esm.json';
      writeLicences(JSON.parse(readFileSync(metafile, 'utf8')), 'dist');
      rmSync(metafile);
    },
  };
});

/** All packages use the zod that is part of `@hansard/events`. */
const zodOfEvents: EsbuildPlugin = {
  name: 'zod of @hansard/events',
  setup(build) {
    build.onResolve({ filter: /^zod$/ }, () => ({ path: '@hansard/events/zod', external: true }));
  },
};

/** Without the messages in 50 other languages, which are half of zod, and without its compiler of schemas. */
const zodInPart: EsbuildPlugin = {
  name: 'a part of zod',
  setup(build) {
    build.onLoad({ filter: /zod\/v4\/classic\/external\.js$/ }, async ({ path }) => {
      const { readFileSync } = await import('node:fs');
      const contents = readFileSync(path, 'utf8')
        .replace(/^export \* as (?:core|locales) from .*$/gm, '')
        .replace(/\b(?:memoizer|compile|withParser|ZodCompile\w+), /g, '');
      return { contents, loader: 'js' };
    });
  },
};

/** Source maps lead to our sources only: those of a tokenizer's tables would be larger than the tables. */
const withoutTheirMaps: EsbuildPlugin = {
  name: 'no source maps of libraries',
  setup(build) {
    const map = { version: 3, sources: [''], sourcesContent: [''], mappings: 'AAAA', names: [] };
    const url = `data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`;
    build.onLoad({ filter: /node_modules\/.*\.m?js$/ }, async ({ path }) => {
      const { readFileSync } = await import('node:fs');
      const code = readFileSync(path, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/gm, '');
      return { contents: `${code}\n//# sourceMappingURL=${url}\n`, loader: 'js' };
    });
  },
};
