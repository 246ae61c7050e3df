import { contractVersion, describeContractProblem, PluginError, requiredMethods } from '@hansard/provider';
import type { PluginManifest } from '../manifest/plugin-manifest.ts';

/**
 * Checks the `contract` of a provider. The provider types of third parties have their own versions and are not checked.
 * @throws PLUGIN_API_VERSION
 */
export function checkContract(provider: object, { id, provides }: PluginManifest): void {
  if (!Object.hasOwn(requiredMethods, provides)) return;
  const { contract } = provider as { readonly contract?: unknown };
  const problem = describeContractProblem(contract);
  if (problem === null) return;
  throw new PluginError('PLUGIN_API_VERSION', `The provider of plugin ${id} ${problem}`, {
    details: { plugin: id, contract, expected: contractVersion },
  });
}
