import { defineErrors, type ErrorOf } from '@hansard/events/hansard-error';

/** The errors of finding, checking and loading plugins, in the order of the checks. */
export const pluginErrors = defineErrors('plugin', {
  PLUGIN_NOT_FOUND: {
    when: 'No package, folder or plugin of that name was found.',
    advice: 'Install it beside the configuration, or correct the name or path.',
    details: ['plugin?', 'folder?'],
  },
  PLUGIN_MANIFEST_UNREADABLE: {
    when: '`plugin.json` is missing, cannot be read, or is not JSON.',
    advice: 'Add or correct the file.',
    details: ['file'],
  },
  PLUGIN_MANIFEST_INVALID: {
    when: '`plugin.json` has a missing or wrong field, or its `entry` leaves the folder.',
    advice: 'Correct the field that the message names.',
    details: ['file', 'path', 'value'],
  },
  PLUGIN_API_VERSION: {
    when: 'The `apiVersion` of the manifest or the `contract` of the provider is not a version of the contracts that this Hansard supports.',
    advice:
      'Update the plugin or Hansard, whichever is older. The author of a provider without `contract` adds `contract: 1`.',
    details: ['plugin', 'apiVersion?', 'contract?', 'expected'],
  },
  PLUGIN_DUPLICATE_ID: {
    when: 'Another plugin with the same id came first, or one plugin is configured in two ways.',
    advice: 'Remove one of the two.',
    details: ['plugin', 'location?'],
  },
  PLUGIN_NOT_TRUSTED: {
    when: 'The deny list names the plugin.',
    advice: 'Take it off the deny list, if you trust it.',
    details: ['plugin', 'denial', 'location'],
  },
  PLUGIN_CONFIG_SCHEMA_INVALID: {
    when: "The plugin's own `configSchema` is not a valid JSON Schema.",
    advice: "Report it to the plugin's author.",
    details: ['plugin'],
  },
  PLUGIN_CONFIG_INVALID: {
    when: "The configuration does not match the plugin's `configSchema`.",
    advice: 'Correct the value at the path that the message names.',
    details: ['plugin', 'issues?', 'module?', 'pattern?', 'flags?'],
  },
  PLUGIN_IMPORT_FAILED: {
    when: "The plugin's code threw while it was loaded, or its entry is missing. The error is the `cause`.",
    advice: 'Read the cause; build or reinstall the plugin.',
    details: ['plugin', 'entry?', 'folder?'],
  },
  PLUGIN_EXPORT_MISMATCH: {
    when: 'The default export is not a plugin, or has another id or provider type than the manifest.',
    advice: 'Export `definePlugin({ … })` with the id and the provider type of the manifest.',
    details: ['plugin', 'entry?'],
  },
  PLUGIN_CREATE_FAILED: {
    when: '`create` threw, or created no provider. The error is the `cause`.',
    advice: 'Read the cause; it is usually the configuration or the disk.',
    details: ['plugin'],
  },
  PLUGIN_CREATE_TIMEOUT: {
    when: '`create` did not finish within the time limit.',
    advice: 'Find out what it waits for, or raise `createTimeoutMs` of that plugin.',
    details: ['plugin', 'limitMs'],
  },
  PLUGIN_METHOD_MISSING: {
    when: 'The provider does not have a method that its type, or one of its capabilities, requires.',
    advice: "Report it to the plugin's author.",
    details: ['plugin', 'provides?', 'missing?'],
  },
  PLUGIN_CLOSE_FAILED: {
    when: '`close` of a provider threw. The other providers were closed. The error is the `cause`.',
    advice: 'Read the cause.',
    details: ['plugin'],
  },
});

export type PluginError = ErrorOf<typeof pluginErrors>;
