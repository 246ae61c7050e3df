import { join } from 'node:path';
import { runPnpm } from './running-pnpm.ts';
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
      const pack = ['pack', '--json', '--pack-destination', folder];
      const output = runPnpm(join(root, workspacePackage.folder), pack);
      return { name: workspacePackage.name, tarball: JSON.parse(output).filename as string };
    });
}
