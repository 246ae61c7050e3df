import type { JsonObject } from '@hansard/events';

/** A tool result always has a tool; where the transcript does not know its name, this stands for it, and is marked. */
export const unknownTool: { readonly tool: string; readonly metadata: JsonObject } = {
  tool: '?',
  metadata: { tool: null },
};

export function isToolUnknown({ metadata }: { readonly metadata: JsonObject }): boolean {
  return metadata.tool === null;
}
