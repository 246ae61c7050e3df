import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

export interface WorkspacePackage {
  /** Relative to the root: `packages/events`. */
  readonly folder: string;
  readonly name: string;
  readonly private: boolean;
  /** Names of what its users install with it. */
  readonly dependencies: readonly string[];
}

/** Every package of the workspace, by folder. */
export function workspacePackages(): WorkspacePackage[] {
  return globSync('{packages,plugins,apps,examples}/*/package.json', { cwd: root })
    .sort()
    .map((path) => {
      const manifest = JSON.parse(readFileSync(join(root, path), 'utf8'));
      return {
        folder: dirname(path),
        name: manifest.name,
        private: manifest.private === true,
        dependencies: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
      };
    });
}
