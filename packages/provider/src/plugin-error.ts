import { CodedError, createErrorGuard, type ErrorGuard } from '@hansard/events/coded-error';

/** The errors of finding, checking and loading plugins, in the order of the checks. `docs/errors.md` explains each. */
export const pluginErrorCodes = [
  'PLUGIN_NOT_FOUND',
  'PLUGIN_MANIFEST_UNREADABLE',
  'PLUGIN_MANIFEST_INVALID',
  'PLUGIN_API_VERSION',
  'PLUGIN_DUPLICATE_ID',
  'PLUGIN_NOT_TRUSTED',
  'PLUGIN_CONFIG_SCHEMA_INVALID',
  'PLUGIN_CONFIG_INVALID',
  'PLUGIN_IMPORT_FAILED',
  'PLUGIN_EXPORT_MISMATCH',
  'PLUGIN_CREATE_FAILED',
  'PLUGIN_CREATE_TIMEOUT',
  'PLUGIN_METHOD_MISSING',
  'PLUGIN_CLOSE_FAILED',
] as const;

export type PluginErrorCode = (typeof pluginErrorCodes)[number];

export class PluginError extends CodedError<PluginErrorCode> {}

export const isPluginError: ErrorGuard<PluginError> = createErrorGuard(pluginErrorCodes);
