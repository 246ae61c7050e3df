import { globSync } from 'node:fs';

/** Every file whose prose is checked, relative to `home`. */
export function proseFiles(home: string): string[] {
  return globSync(
    [
      '*.md',
      '.changeset/*.md',
      '.github/**/*.md',
      'docs/**/*.md',
      '{scripts,benchmarks}/**/*.{ts,md}',
      '{packages,plugins,apps,examples}/*/**/*.{ts,md}',
      'examples/*.md',
    ],
    {
      cwd: home,
      exclude: (path) => /(?:^|\/)(?:node_modules|dist|fixtures)$|CHANGELOG\.md$/.test(path),
    },
  ).sort();
}

/** What a file is counted under: its package, or the first folder, or `docs` for the documents of the repository. */
export function groupOf(file: string): string {
  const [first = '', second = ''] = file.split('/');
  if (/^(?:packages|plugins|apps)$/.test(first)) return `${first}/${second}`;
  return /^(?:examples|benchmarks|scripts)$/.test(first) ? first : 'docs';
}
