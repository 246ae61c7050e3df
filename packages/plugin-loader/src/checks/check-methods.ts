import {
  type DispatchStoreProvider,
  pluginErrors,
  requiredMethods,
  type StoreCapabilities,
} from '@hansard/provider';
import type { PluginManifest } from '../manifest/plugin-manifest.ts';

/** A plugin may provide a type that is not known here. */
const methodsOfTypes: Readonly<Record<string, readonly string[]>> = requiredMethods;

/** The values of each capability that need methods, and the methods. */
const methodsOfCapabilities = {
  writers: [['dispatch'], ['getClaim', 'getClaims', 'breakClaim']],
  search: [['index', 'scan'], ['searchEvents']],
  watch: [[true], ['watch']],
  deleteDispatch: [[true], ['deleteDispatch']],
  rewrite: [[true], ['rewriteDispatch']],
  integrity: [['checksum'], ['verifyDispatch', 'acceptLoss']],
} as const satisfies {
  readonly [Name in keyof StoreCapabilities]?: readonly [
    ReadonlyArray<StoreCapabilities[Name]>,
    ReadonlyArray<keyof DispatchStoreProvider>,
  ];
};

/**
 * Checks that a provider has the methods of its type, and a store those of its capabilities. The provider types of third
 * parties are not checked.
 * @throws PLUGIN_METHOD_MISSING
 */
export function checkMethods(provider: object, { id, provides }: PluginManifest): void {
  const members = provider as Readonly<Record<string, unknown>>;
  const missing = [...(methodsOfTypes[provides] ?? []), ...claimedMethods(members, provides)].filter(
    (method) => typeof members[method] !== 'function',
  );
  if (provides === 'DispatchStoreProvider' && !isRecord(members.capabilities)) missing.push('capabilities');
  if (missing.length === 0) return;
  throw pluginErrors.error(
    'PLUGIN_METHOD_MISSING',
    `The provider of plugin ${id} does not implement ${provides}. It has no ${missing.join(', ')}.`,
    { details: { plugin: id, provides, missing } },
  );
}

function claimedMethods({ capabilities }: Readonly<Record<string, unknown>>, provides: string): string[] {
  if (provides !== 'DispatchStoreProvider' || !isRecord(capabilities)) return [];
  return Object.entries(methodsOfCapabilities).flatMap(([capability, [values, methods]]) =>
    values.some((value) => capabilities[capability] === value) ? methods : [],
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
