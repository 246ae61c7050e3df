import type { CapturedEvent, Delta } from '@hansard/events';
import type { OpenText, RunChange } from '@hansard/viewer';

/** Characters at the end of a text that are kept at least; twice as many at most. */
export const mostKept = 20_000;
/** The most texts that are open in a dispatch; a further one ends the one that began first. */
export const mostTexts = 32;

const kinds: Readonly<Partial<Record<Delta['type'], OpenText['kind']>>> = {
  'delta:text': 'text',
  'delta:thinking': 'thinking',
};

/** The events after which an agent no longer writes these texts: they are recorded, or never will be. */
const endedBy: Readonly<Record<string, readonly OpenText['kind'][]>> = {
  'agent:thinking': ['thinking'],
  'agent:text': ['thinking', 'text'],
  'agent:tool_call': ['thinking', 'text'],
  'agent:terminated': ['thinking', 'text'],
  'harness:error': ['thinking', 'text'],
};

interface Growing {
  readonly key: number;
  readonly agentId: string;
  readonly kind: OpenText['kind'];
  readonly messageId: string | undefined;
  start: number;
  text: string;
}

/** The texts that the agents of one dispatch are writing: at most one of each kind for an agent. */
export class RunTexts {
  readonly #nextKey: () => number;
  readonly #onChange: (change: RunChange) => void;
  /** In the order in which they began. */
  readonly #open = new Map<string, Growing>();

  constructor(nextKey: () => number, onChange: (change: RunChange) => void) {
    this.#nextKey = nextKey;
    this.#onChange = onChange;
  }

  open(): readonly OpenText[] {
    return [...this.#open.values()].map(({ key, agentId, kind, start, text }) => ({
      key,
      agentId,
      kind,
      start,
      text,
    }));
  }

  add({ type, agentId = '', messageId, text }: Delta): void {
    const kind = kinds[type];
    if (kind === undefined || text === '') return;
    const slot = `${kind} ${agentId}`;
    // Another message of the agent: the one before was not recorded.
    if (this.#open.get(slot)?.messageId !== messageId) this.#end(slot, null);
    const growing = this.#open.get(slot) ?? this.#begin(slot, { agentId, kind, messageId });
    growing.text += text;
    if (growing.text.length > 2 * mostKept) {
      growing.start += growing.text.length - mostKept;
      growing.text = growing.text.slice(-mostKept);
    }
    this.#onChange({ kind: 'changed' });
  }

  recorded({ id, type, agentId = '' }: CapturedEvent): void {
    for (const kind of endedBy[type] ?? []) this.#end(`${kind} ${agentId}`, id);
  }

  endAll(): void {
    for (const slot of [...this.#open.keys()]) this.#end(slot, null);
  }

  #begin(slot: string, text: Pick<Growing, 'agentId' | 'kind' | 'messageId'>): Growing {
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size >= mostTexts) this.#end(oldest, null);
    const growing: Growing = { ...text, key: this.#nextKey(), start: 0, text: '' };
    this.#open.set(slot, growing);
    return growing;
  }

  #end(slot: string, eventId: string | null): void {
    const growing = this.#open.get(slot);
    if (growing === undefined) return;
    this.#open.delete(slot);
    this.#onChange({ kind: 'ended', key: growing.key, eventId });
  }
}
