import { PluginError } from '@hansard/provider';

/** What is wrong in the configuration of a plugin, and where. The value of a secret is hidden. */
export interface ConfigurationIssue {
  readonly path: string;
  readonly value: string;
  readonly message: string;
}

/** The error that names each issue. */
export function invalidConfiguration(id: string, issues: readonly ConfigurationIssue[]): PluginError {
  const text = issues.map(({ path, value, message }) => `${path} is ${value}: ${message}`).join('; ');
  return new PluginError('PLUGIN_CONFIG_INVALID', `The configuration of plugin ${id} is not valid: ${text}`, {
    details: { plugin: id, issues },
  });
}
