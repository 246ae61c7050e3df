import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pluginErrors } from '@hansard/provider';
import { isAbsent, isInside } from '../manifest/plugin-path.ts';

/** An entry of the deny list, as it was written, and as a path. */
export interface Denial {
  readonly written: string;
  readonly path: string;
}

export async function readDenials(deny: readonly string[], baseDir: string): Promise<Denial[]> {
  return Promise.all(
    deny.map(async (written) => {
      const path = resolve(baseDir, written);
      return { written, path: await realpath(path).catch((error) => whenAbsent(error, path)) };
    }),
  );
}

/**
 * An entry denies the plugin with that id, the package with that name, or every plugin at or below that path.
 * @throws PLUGIN_NOT_TRUSTED
 */
export function checkDenied(
  plugin: { readonly id: string; readonly packageName: string | undefined; readonly location: string },
  denials: readonly Denial[],
): void {
  const { id, packageName, location } = plugin;
  const denial = denials.find(
    ({ written, path }) => written === id || written === packageName || isInside(path, location),
  );
  if (denial === undefined) return;
  throw pluginErrors.error(
    'PLUGIN_NOT_TRUSTED',
    `Plugin ${id} is not loaded: the configuration denies ${denial.written}.`,
    { details: { plugin: id, denial: denial.written, location } },
  );
}

function whenAbsent(error: unknown, path: string): string {
  if (isAbsent(error)) return path;
  throw error;
}
