import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, workspacePackages } from './workspace.ts';

/** The fields of a `package.json` that lead to the repository. */
interface PackageLinks {
  readonly repository: { readonly type: 'git'; readonly url: string; readonly directory: string };
  readonly homepage: string;
  readonly bugs: { readonly url: string };
}

type Manifest = Readonly<Record<string, unknown>>;

/** The links of the package in a folder, from the address of the repository: `git+https://HOST/OWNER/NAME.git`. */
export function linksOf(url: string, directory: string): PackageLinks {
  const web = url.replace(/^git\+/, '').replace(/\.git$/, '');
  return {
    repository: { type: 'git', url, directory },
    homepage: `${web}/tree/main/${directory}#readme`,
    bugs: { url: `${web}/issues` },
  };
}

/** The address in the root `package.json`; null if nobody has written one yet. */
export function repositoryUrl({ repository }: Manifest): string | null {
  const { url } = (repository ?? {}) as { readonly url?: unknown };
  return typeof url === 'string' && /^git\+https:\/\/[^/\s]+\/\S+\.git$/.test(url) ? url : null;
}

/** A manifest with the links of an address, after its licence; without links if there is no address. */
export function linked(manifest: Manifest, directory: string, url: string | null): Manifest {
  const links: Partial<PackageLinks> = url === null ? {} : linksOf(url, directory);
  const entries = Object.entries(manifest).filter(
    ([key]) => !['repository', 'homepage', 'bugs'].includes(key),
  );
  return Object.fromEntries(
    entries.flatMap((entry) => (entry[0] === 'license' ? [entry, ...Object.entries(links)] : [entry])),
  );
}

/** Every package that is published, with its manifest as it is and as the address of the repository makes it. */
export function linkedPackages(url = repositoryUrl(manifestOf('.'))) {
  return workspacePackages()
    .filter((one) => !one.private)
    .map(({ folder }) => {
      const manifest = manifestOf(folder);
      return { folder, manifest, expected: linked(manifest, folder, url) };
    });
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
}

if (import.meta.main) {
  // `--check`: before a release. Otherwise the links are written.
  const isCheck = process.argv.includes('--check');
  const wrong = linkedPackages().filter(
    ({ manifest, expected }) => JSON.stringify(manifest) !== JSON.stringify(expected),
  );
  if (!isCheck)
    for (const { folder, expected } of wrong)
      writeFileSync(join(root, folder, 'package.json'), `${JSON.stringify(expected, null, 2)}\n`);
  const problems = isCheck ? wrong.map(({ folder }) => `${folder}/package.json has other links.`) : [];
  if (isCheck && repositoryUrl(manifestOf('.')) === null)
    problems.push(
      'The root package.json has no `repository.url` of the form git+https://HOST/OWNER/NAME.git.',
    );
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) {
    process.stderr.write('Write the address, and run: node scripts/package-links.ts\n');
    process.exitCode = 1;
  }
}
