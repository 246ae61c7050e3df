import type { PluginError } from '@hansard/provider';

/** The checks of loading a plugin, in their order, each with the code of an unexpected error in it. */
export const loadChecks = {
  find: 'PLUGIN_NOT_FOUND',
  read: 'PLUGIN_MANIFEST_UNREADABLE',
  validate: 'PLUGIN_MANIFEST_INVALID',
  'api version': 'PLUGIN_API_VERSION',
  'duplicate id': 'PLUGIN_DUPLICATE_ID',
  trust: 'PLUGIN_NOT_TRUSTED',
  configuration: 'PLUGIN_CONFIG_INVALID',
  import: 'PLUGIN_IMPORT_FAILED',
  export: 'PLUGIN_EXPORT_MISMATCH',
  create: 'PLUGIN_CREATE_FAILED',
  contract: 'PLUGIN_API_VERSION',
  methods: 'PLUGIN_METHOD_MISSING',
} as const satisfies Record<string, PluginError['code']>;

export type LoadCheck = keyof typeof loadChecks;
