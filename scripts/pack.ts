import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root, workspacePackages } from './workspace.ts';

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
      const output = execFileSync(
        'npx',
        ['--yes', 'pnpm@12', 'pack', '--json', '--pack-destination', folder],
        {
          cwd: join(root, workspacePackage.folder),
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        },
      );
      return { name: workspacePackage.name, tarball: JSON.parse(output).filename as string };
    });
}
