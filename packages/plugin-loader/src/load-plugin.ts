import { messageOf } from '@hansard/events';
import {
  type Awaitable,
  type Clock,
  contractVersion,
  type DispatchStoreProvider,
  describeContractProblem,
  type HookProvider,
  type Plugin,
  type PluginError,
  type ProviderType,
  type ProviderTypes,
  pluginErrors,
  requiredMethods,
  type StoreCapabilities,
} from '@hansard/provider';
import { checkConfiguration } from './checks/check-configuration.ts';
import {
  checkApiVersion,
  checkDenied,
  checkDuplicateId,
  checkExport,
  type Denial,
} from './checks/check-plugin.ts';
import { type FolderPlugin, isPath, resolvePlugin } from './find-plugins.ts';
import { importEntry, withinTime } from './import-entry.ts';
import { type LoadCheck, loadChecks, type PluginReportEntry, type PluginSource } from './load-report.ts';
import type { LoadedProvider } from './loaded-plugins.ts';
import { type PluginManifest, readManifestFiles, validateManifest } from './plugin-manifest.ts';

/** A plugin may provide a type that is not known here. */
const methodsOfTypes: Readonly<Record<string, readonly string[]>> = requiredMethods;

/** A hook needs one of them. */
const hookMethods = ['decide', 'observe'] as const satisfies ReadonlyArray<keyof HookProvider>;

/** The values of each capability that need methods, and the methods. */
const methodsOfCapabilities = {
  writers: [['dispatch'], ['findClaim', 'findClaims', 'breakClaim']],
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

/** A possible plugin: a reference of the configuration, or a folder that the configuration does not name. */
export type Candidate =
  | {
      readonly named: true;
      readonly reference: string;
      readonly config: unknown;
      /** Absent: the limit of the context. */
      readonly limitMs?: number | undefined;
    }
  | { readonly named: false; readonly found: FolderPlugin };

export interface LoadContext extends CreateOptions {
  readonly packageDirs: readonly [baseDir: string, ...others: string[]];
  readonly folderPlugins: readonly FolderPlugin[];
  readonly denials: readonly Denial[];
  /** The location of the plugin that has each id. */
  readonly claimed: Map<string, string>;
}

export interface LoadOutcome {
  readonly entry: PluginReportEntry;
  readonly error?: PluginError;
  readonly loaded?: LoadedProvider;
}

/** Runs the checks for one candidate, in the order of `loadChecks`. Never rejects. */
export async function loadPlugin(candidate: Candidate, context: LoadContext): Promise<LoadOutcome> {
  const { clock } = context;
  const limitMs = (candidate.named ? candidate.limitMs : undefined) ?? context.limitMs;
  const timings: Partial<Record<LoadCheck, number>> = {};
  let entry: Omit<PluginReportEntry, 'state'> = { ...introduce(candidate), timings };
  let check: LoadCheck = 'find';

  async function pass<T>(name: LoadCheck, run: () => Awaitable<T>): Promise<T> {
    check = name;
    const start = clock.monotonic();
    try {
      return await run();
    } finally {
      timings[name] = clock.monotonic() - start;
    }
  }

  try {
    const source = await pass('find', () =>
      candidate.named
        ? resolvePlugin(candidate.reference, context.packageDirs, context.folderPlugins)
        : candidate.found.source,
    );
    entry = { ...entry, source };
    const files = await pass('read', () => readManifestFiles(source.location));
    const manifest = await pass('validate', () => validateManifest(files));
    const { id, name, version, provides } = manifest;
    entry = { ...entry, id, provides, ...(name && { name }), ...(version && { version }) };
    await pass('api version', () => checkApiVersion(manifest));
    await pass('duplicate id', () => checkDuplicateId(manifest, source.location, context.claimed));
    await pass('trust', () =>
      checkDenied({ id, packageName: files.packageJson?.name, location: source.location }, context.denials),
    );
    context.claimed.set(id, source.location);
    if (!candidate.named) return { entry: { ...entry, state: 'off', check } };

    const config = await pass('configuration', () => checkConfiguration(manifest, candidate.config));
    const module = await pass('import', () => importEntry(manifest, files, clock, limitMs));
    const plugin = await pass('export', () => checkExport(module, manifest));
    const provider = await pass('create', () => createProvider(plugin, config, { ...context, limitMs }));
    try {
      await pass('contract', () => checkContract(provider, manifest));
      await pass('methods', () => checkMethods(provider, manifest));
    } catch (error) {
      context.discard(id, provider);
      throw error;
    }
    const type = provides as ProviderType;
    return {
      entry: { ...entry, state: 'loaded' },
      loaded: { id, type, provider: provider as ProviderTypes[typeof type], config },
    };
  } catch (thrown) {
    const error = pluginErrors.is(thrown) ? thrown : unexpected(thrown, check, entry.id);
    const { code, message } = error;
    const state = code === 'PLUGIN_NOT_TRUSTED' ? 'denied' : 'failed';
    return { entry: { ...entry, state, check, error: { code, message } }, error };
  }
}

function introduce(candidate: Candidate): { readonly id: string; readonly source: PluginSource } {
  if (!candidate.named) return candidate.found;
  const { reference } = candidate;
  return { id: reference, source: { kind: isPath(reference) ? 'path' : 'package', location: reference } };
}

function unexpected(cause: unknown, check: LoadCheck, id: string): PluginError {
  return pluginErrors.error(
    loadChecks[check],
    `Plugin ${id} failed at the check "${check}": ${messageOf(cause)}`,
    {
      cause,
      details: { plugin: id },
    },
  );
}

/**
 * Checks the `contract` of a provider. The provider types of third parties have their own versions and are not checked.
 * @throws PLUGIN_API_VERSION
 */
function checkContract(provider: object, { id, provides }: PluginManifest): void {
  if (!Object.hasOwn(requiredMethods, provides)) return;
  const { contract } = provider as { readonly contract?: unknown };
  const problem = describeContractProblem(contract);
  if (problem === null) return;
  throw pluginErrors.error('PLUGIN_API_VERSION', `The provider of plugin ${id} ${problem}`, {
    details: { plugin: id, contract, expected: contractVersion },
  });
}

interface CreateOptions {
  readonly baseDir: string;
  readonly clock: Clock;
  readonly limitMs: number;
  /** Receives a provider that arrived after the time limit, to close it. */
  discard(id: string, provider: object): void;
}

/**
 * Creates the provider of a plugin. After the time limit its signal aborts, and a provider that arrives later is discarded.
 * @throws PLUGIN_CREATE_FAILED, PLUGIN_CREATE_TIMEOUT
 */
async function createProvider(
  plugin: Plugin<string>,
  config: unknown,
  { baseDir, clock, limitMs, discard }: CreateOptions,
): Promise<object> {
  const { id } = plugin;
  const abort = new AbortController();
  const creating = create(plugin, config, { baseDir, signal: abort.signal });
  return withinTime(creating, limitMs, clock, () => {
    const error = pluginErrors.error(
      'PLUGIN_CREATE_TIMEOUT',
      `Plugin ${id} did not create its provider within ${limitMs} ms (createTimeoutMs).`,
      { details: { plugin: id, limitMs } },
    );
    abort.abort(error);
    creating.then(
      (provider) => discard(id, provider),
      () => undefined, // The timeout is reported; a rejection after the signal adds nothing.
    );
    return error;
  });
}

async function create(
  plugin: Plugin<string>,
  config: unknown,
  context: { readonly baseDir: string; readonly signal: AbortSignal },
): Promise<object> {
  const { id } = plugin;
  let provider: unknown;
  try {
    provider = await plugin.create(config, context);
  } catch (cause) {
    throw pluginErrors.error(
      'PLUGIN_CREATE_FAILED',
      `Plugin ${id} could not create its provider: ${messageOf(cause)}`,
      { cause, details: { plugin: id } },
    );
  }
  if (typeof provider === 'object' && provider !== null) return provider;
  throw pluginErrors.error(
    'PLUGIN_CREATE_FAILED',
    `Plugin ${id} created ${String(provider)}, which is not a provider.`,
    {
      details: { plugin: id },
    },
  );
}

/**
 * Checks that a provider has the methods of its type, and a store those of its capabilities. The provider types of third
 * parties are not checked.
 * @throws PLUGIN_METHOD_MISSING
 */
function checkMethods(provider: object, { id, provides }: PluginManifest): void {
  const members = provider as Readonly<Record<string, unknown>>;
  const missing = [...(methodsOfTypes[provides] ?? []), ...claimedMethods(members, provides)].filter(
    (method) => typeof members[method] !== 'function',
  );
  if (provides === 'DispatchStoreProvider' && !isRecord(members.capabilities)) missing.push('capabilities');
  if (provides === 'HookProvider' && !hookMethods.some((name) => typeof members[name] === 'function'))
    missing.push(hookMethods.join(' or '));
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
