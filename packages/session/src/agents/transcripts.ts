import type { CapturedEvent } from '@hansard/events';
import { putTogether, type TranscriptEntry } from '@hansard/views';

/** The transcripts that are in memory. Another one is read from the log when it is needed. */
export class Transcripts {
  readonly #held = new Map<string, TranscriptEntry[]>();
  /** Recorded events that are not in the transcripts yet. They wait until a transcript is used. */
  #fresh: CapturedEvent[] = [];
  readonly #read: (agentId: string) => Promise<readonly CapturedEvent[]>;

  /** `read` returns the readable events of an agent, in the order of the log. */
  constructor(read: (agentId: string) => Promise<readonly CapturedEvent[]>) {
    this.#read = read;
  }

  /** Must be called in the order of the writes of the log. */
  async of(agentId: string): Promise<readonly TranscriptEntry[]> {
    this.#addFresh();
    const held = this.#held.get(agentId);
    if (held !== undefined) return held;
    const entries = putTogether(await this.#read(agentId)).map((entry) => ({ ...entry, agentId }));
    this.#held.set(agentId, entries);
    return entries;
  }

  /** Adds events that are durable, with all blocks of a message together. Keeps them: they must not change. */
  add(events: readonly CapturedEvent[]): void {
    for (const event of events) {
      const { type, agentId } = event;
      if (type === 'agent:created' && agentId !== undefined) this.#held.set(agentId, []);
      if (agentId !== undefined && this.#held.has(agentId)) this.#fresh.push(event);
    }
  }

  evict(agentId: string): void {
    this.#addFresh();
    this.#held.delete(agentId);
  }

  #addFresh(): void {
    if (this.#fresh.length === 0) return;
    for (const entry of putTogether(this.#fresh)) this.#held.get(entry.agentId)?.push(entry);
    this.#fresh = [];
  }
}
