import type { BatchNote } from './session-events.ts';

/** What was read of a transcript, so that the next append need not read it again. */
export interface KnownTranscript {
  /** Tells a transcript from one that was deleted and written anew. */
  readonly startedAt: string;
  /** The position of the last event that was read or written; -1: none. */
  position: number;
  readonly uuids: Set<string>;
  note: BatchNote | null;
}

/** Some 100 bytes each. */
const mostUuids = 200_000;

/** Keeps what is known of the transcripts used last, up to a number of uuids; what is let go is read again when needed. */
export class KnownTranscripts {
  readonly #most: number;
  readonly #transcripts = new Map<string, { readonly known: KnownTranscript; readonly weight: number }>();
  #held = 0;

  constructor(most = mostUuids) {
    this.#most = most;
  }

  get(name: string): KnownTranscript | null {
    return this.#transcripts.get(name)?.known ?? null;
  }

  /** Keeps a transcript as the one used last, and lets go of those that were not used for longest. */
  keep(name: string, known: KnownTranscript): void {
    this.forget(name);
    // A transcript without uuids weighs something too.
    const weight = known.uuids.size + 1;
    this.#transcripts.set(name, { known, weight });
    this.#held += weight;
    for (const oldest of this.#transcripts.keys()) {
      if (this.#held <= this.#most || oldest === name) break;
      this.forget(oldest);
    }
  }

  forget(name: string): void {
    this.#held -= this.#transcripts.get(name)?.weight ?? 0;
    this.#transcripts.delete(name);
  }
}
