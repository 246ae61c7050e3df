import type { JsonObject } from '@hansard/events';

/** The tool of a result whose transcript does not know the name of the tool: an event always has one, so it is marked. */
export const unknownTool: { readonly tool: string; readonly metadata: JsonObject } = {
  tool: '?',
  metadata: { tool: null },
};

export function isToolUnknown({ metadata }: { readonly metadata: JsonObject }): boolean {
  return metadata.tool === null;
}
