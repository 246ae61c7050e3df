import { freezeDeep } from '@hansard/events/plain';
import type { ToolDefinition, ToolProvider } from '@hansard/provider';
import { untilAborted } from '../async/until-aborted.ts';

/** The tools of all providers. If two have a tool of one name, the first provider's tool is used. */
export interface Toolbox {
  /** Frozen copies. */
  readonly definitions: readonly ToolDefinition[];
  providerOf(tool: string): ToolProvider | undefined;
}

/**
 * Lists the tools of providers. If the signal aborts meanwhile there are none, so that a dispatch can still begin and record
 * that it was stopped.
 */
export async function openToolbox(
  providers: readonly ToolProvider[],
  signal?: AbortSignal,
): Promise<Toolbox> {
  if (signal === undefined) return listTools(providers);
  try {
    return await untilAborted(signal, () => listTools(providers));
  } catch (error) {
    if (signal.aborted) return listTools([]);
    throw error;
  }
}

async function listTools(providers: readonly ToolProvider[]): Promise<Toolbox> {
  const tools = new Map<string, { readonly definition: ToolDefinition; readonly provider: ToolProvider }>();
  for (const provider of providers) {
    for (const definition of await provider.listTools()) {
      if (tools.has(definition.name)) continue;
      // Models, agents and other calls share it.
      tools.set(definition.name, { definition: freezeDeep(structuredClone(definition)), provider });
    }
  }
  return {
    definitions: Object.freeze([...tools.values()].map(({ definition }) => definition)),
    providerOf: (tool) => tools.get(tool)?.provider,
  };
}
