import type { PluginUse } from '../config.ts';

/** Agents that are installed with the command, by the names for `run --agent`. They are loaded even if no configuration names them. */
const knownAgents: Readonly<Record<string, { readonly id: string; readonly plugin: string }>> = {
  claude: { id: 'agent-claude', plugin: '@hansard/agent-claude' },
};

/** The id of the plugin of a named agent. */
export function agentId(name: string): string {
  return knownAgents[name]?.id ?? name;
}

/** The plugins to load for an agent in addition to the configured ones. */
export function pluginsForAgent(name: string | undefined, configured: readonly PluginUse[]): PluginUse[] {
  const known =
    name === undefined ? undefined : Object.values(knownAgents).find(({ id }) => id === agentId(name));
  if (known === undefined) return [];
  const names = configured.map((use) => (typeof use === 'string' ? use : use.plugin));
  return names.some((plugin) => plugin === known.plugin || plugin.endsWith(known.id)) ? [] : [known.plugin];
}
