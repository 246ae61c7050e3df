import type { ToolDefinition, ToolProvider } from '@hansard/provider';

/** The tools of all providers. Where two have a tool of one name, the first provider's counts. */
export interface Toolbox {
  readonly definitions: readonly ToolDefinition[];
  providerOf(tool: string): ToolProvider | undefined;
}

export async function openToolbox(providers: readonly ToolProvider[]): Promise<Toolbox> {
  const tools = new Map<string, { readonly definition: ToolDefinition; readonly provider: ToolProvider }>();
  for (const provider of providers) {
    for (const definition of await provider.listTools()) {
      if (!tools.has(definition.name)) tools.set(definition.name, { definition, provider });
    }
  }
  return {
    definitions: [...tools.values()].map(({ definition }) => definition),
    providerOf: (tool) => tools.get(tool)?.provider,
  };
}
