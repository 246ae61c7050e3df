import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { root, type WorkspacePackage, workspacePackages } from './workspace.ts';

/** Which packages of ours each folder's published code may import (H1, decision 0002). */
const allowed: readonly (readonly [folder: RegExp, imports: readonly string[]])[] = [
  [/^packages\/events$/, []],
  [/^packages\/(facts|provider|redaction)$/, ['events']],
  [/^packages\/prompt$/, ['events', 'facts']],
  [/^packages\/views$/, ['events', 'facts', 'prompt']],
  [/^packages\/(store-kit|store-conformance|provider-conformance|plugin-loader)$/, ['events', 'provider']],
  [/^packages\/dispatch$/, ['events', 'facts', 'provider', 'redaction']],
  [/^packages\/(claude|formats)$/, ['events', 'facts', 'prompt']],
  // Both read files of JSON lines in the same way.
  [/^packages\/codex$/, ['events', 'claude']],
  [/^packages\/(traces|pages)$/, ['events', 'facts', 'prompt', 'views', 'redaction']],
  [/^packages\/datasets$/, ['events', 'facts', 'prompt', 'views', 'redaction', 'formats']],
  [/^packages\/session$/, ['events', 'facts', 'provider', 'redaction', 'prompt', 'dispatch']],
  [/^packages\/viewer$/, ['events', 'facts', 'provider', 'prompt', 'views', 'dispatch']],
  [/^packages\/maintenance$/, ['events', 'facts', 'provider', 'redaction', 'prompt', 'views', 'dispatch']],
  [/^packages\/import$/, ['events', 'facts', 'provider', 'dispatch', 'claude', 'codex', 'formats']],
  // The kit for importers runs real imports into the reference store.
  [/^packages\/import-conformance$/, ['events', 'provider', 'dispatch', 'import', 'store-memory']],
  // A harness exports, so it may import what writes each format (decision 0021).
  [
    /^packages\/compose$/,
    [
      'events',
      'facts',
      'provider',
      'redaction',
      'prompt',
      'views',
      'dispatch',
      'session',
      'claude',
      'formats',
      'import',
      'maintenance',
      'plugin-loader',
      'datasets',
      'pages',
      'traces',
    ],
  ],
  [/^packages\/testing$/, ['events', 'facts', 'provider', 'prompt', 'views', 'dispatch']],
  [/^plugins\/store-/, ['events', 'provider', 'store-kit']],
  [/^plugins\/agent-claude$/, ['events', 'provider', 'claude', 'dispatch']],
  [/^plugins\/comm-web$/, ['events', 'provider', 'viewer']],
  // Writers of a format import what they write with.
  [/^plugins\/comm-streams$/, ['events', 'provider', 'datasets', 'dispatch', 'formats']],
  [/^plugins\/(comm-|tools-)/, ['events', 'facts', 'provider', 'views']],
  [/^plugins\//, ['events', 'provider']],
];

const importPattern = /(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g;

/** Every import, or declared dependency, that goes the wrong way; each in words. */
export function wrongImports(packages: readonly WorkspacePackage[] = workspacePackages()): string[] {
  return packages.flatMap((workspacePackage) => {
    const own = packages.map(({ name }) => name);
    const may = allowedFor(workspacePackage, own);
    if (may === null)
      return [`${workspacePackage.folder}: no rule says what it may import (scripts/import-directions.ts)`];
    const declared = workspacePackage.dependencies
      .filter((name) => own.includes(name) && !may.has(name))
      .map((name) => `${workspacePackage.folder}/package.json depends on ${name}`);
    return [
      ...declared,
      ...wrongSourceImports(workspacePackage, own, may),
      ...importsOfOtherPackages(workspacePackage, packages),
    ];
  });
}

function allowedFor({ folder, name }: WorkspacePackage, own: readonly string[]): ReadonlySet<string> | null {
  if (folder.startsWith('apps/') || folder.startsWith('examples/')) {
    return new Set(own.filter((other) => other !== name));
  }
  const rule = allowed.find(([pattern]) => pattern.test(folder));
  return rule === undefined ? null : new Set(rule[1].map((short) => `@hansard/${short}`));
}

function wrongSourceImports(
  { folder, name }: WorkspacePackage,
  own: readonly string[],
  may: ReadonlySet<string>,
): string[] {
  const home = join(root, folder, 'src');
  return globSync('**/*.ts', { cwd: home }).flatMap((file) => {
    const path = join(home, file);
    return [...readFileSync(path, 'utf8').matchAll(importPattern)].flatMap(([, specifier = '']) => {
      if (specifier.startsWith('.')) {
        return relative(home, resolve(path, '..', specifier)).startsWith('..')
          ? [`${folder}/src/${file} reaches out to ${specifier}`]
          : [];
      }
      const target = own.find((other) => specifier === other || specifier.startsWith(`${other}/`));
      return target === undefined || target === name || may.has(target)
        ? []
        : [`${folder}/src/${file} imports ${specifier}`];
    });
  });
}

/** The relative imports of tests that reach into another package. Tests name packages, as any other code does. */
function importsOfOtherPackages(
  { folder }: WorkspacePackage,
  packages: readonly WorkspacePackage[],
): string[] {
  const others = packages.map((other) => other.folder).filter((other) => other !== folder);
  return globSync(`${folder}/test/**/*.ts`, { cwd: root }).flatMap((file) =>
    importsFrom(others, file, readFileSync(join(root, file), 'utf8')),
  );
}

/** The relative imports of a file that lead into one of these folders. */
export function importsFrom(folders: readonly string[], file: string, source: string): string[] {
  return [...source.matchAll(importPattern)].flatMap(([, specifier = '']) => {
    const target = relative(root, resolve(root, dirname(file), specifier));
    const reachesOut = specifier.startsWith('.') && folders.some((folder) => target.startsWith(`${folder}/`));
    return reachesOut ? [`${file} reaches out to ${specifier}`] : [];
  });
}
