import type { CapturedEvent } from '@hansard/events';
import { putTogether, type TranscriptEntry } from '@hansard/views';

/** The transcripts that are in memory. One that is not is read from the log when it is asked for. */
export class Transcripts {
  readonly #held = new Map<string, TranscriptEntry[]>();
  readonly #read: (agentId: string) => Promise<readonly CapturedEvent[]>;

  /** `read` gives the readable events of an agent, in the order of the log. */
  constructor(read: (agentId: string) => Promise<readonly CapturedEvent[]>) {
    this.#read = read;
  }

  /** To be called in the order of the log's writes. */
  async of(agentId: string): Promise<readonly TranscriptEntry[]> {
    const held = this.#held.get(agentId);
    if (held !== undefined) return held;
    const entries = putTogether(await this.#read(agentId)).map((entry) => ({ ...entry, agentId }));
    this.#held.set(agentId, entries);
    return entries;
  }

  /** Takes events that were just recorded; all blocks of a message come together. */
  add(events: readonly CapturedEvent[]): void {
    for (const { type, agentId } of events)
      if (type === 'agent:created' && agentId !== undefined) this.#held.set(agentId, []);
    // Copies: who is shown the events must not change what is held.
    for (const entry of putTogether(structuredClone(events))) this.#held.get(entry.agentId)?.push(entry);
  }

  evict(agentId: string): void {
    this.#held.delete(agentId);
  }
}
