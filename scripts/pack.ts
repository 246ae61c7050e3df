import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root, workspacePackages } from './workspace.ts';

/** The pnpm that runs this script, or else the one that npx finds. */
const running = process.env.npm_execpath;
const [command = '', ...words] = running?.includes('pnpm') === true ? [running] : ['npx', '--yes', 'pnpm@12'];

export interface PackedPackage {
  readonly name: string;
  readonly tarball: string;
}

/** Packs the public packages of the workspace (or the named ones), built before, into a folder, as `pnpm publish` would. */
export function packPackages(folder: string, names?: readonly string[]): PackedPackage[] {
  return workspacePackages()
    .filter(
      (workspacePackage) => !workspacePackage.private && (names?.includes(workspacePackage.name) ?? true),
    )
    .map((workspacePackage) => {
      const pack = ['pack', '--json', '--pack-destination', folder];
      const output = execFileSync(command, [...words, ...pack], {
        cwd: join(root, workspacePackage.folder),
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      return { name: workspacePackage.name, tarball: JSON.parse(output).filename as string };
    });
}
