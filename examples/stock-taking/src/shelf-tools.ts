import type { ToolProvider } from '@hansard/provider';

/** What the program sells. It is a live object: the log has to keep it as it was when the agent looked. */
export class Shelf {
  readonly loaves: Map<string, number>;
  readonly counted: Date;
  /** A connection, such as programs hold: it can't be copied. */
  readonly scales = { read: () => 0 };

  constructor(loaves: Readonly<Record<string, number>>) {
    this.loaves = new Map(Object.entries(loaves));
    this.counted = new Date('2026-03-01T09:30:00.000Z');
  }
}

/** `look` shows the agent the shelf itself; `sell` changes it. */
export function createShelfTools(shelf: Shelf): ToolProvider {
  const inputSchema = { type: 'object', properties: { bread: { type: 'string' } } };
  return {
    contract: 1,
    listTools: () => [
      { name: 'look', description: 'Shows what is on the shelf.', inputSchema },
      { name: 'sell', description: 'Sells one loaf of a bread.', inputSchema },
    ],
    async callTool({ tool, input, observe }) {
      if (tool === 'look') {
        await observe('The shelf:', shelf);
        return { status: 'completed', text: 'You looked.' };
      }
      const { bread = '' } = input as { readonly bread?: string };
      const left = shelf.loaves.get(bread) ?? 0;
      if (left === 0) return { status: 'error', text: `There is no ${bread}.` };
      shelf.loaves.set(bread, left - 1);
      return { status: 'completed', text: 'One was sold.' };
    },
  };
}
