import type { BatchNote } from './session-events.ts';

/** The known content of a transcript, so that the next append does not read it again. */
export interface KnownTranscript {
  /** Distinguishes a transcript from a deleted one with the same id. */
  readonly startedAt: string | null;
  /** The position of the last event that was read or written; -1: none. */
  position: number;
  readonly uuids: Set<string>;
  note: BatchNote | null;
}

/** Some 100 bytes each. */
const mostUuids = 200_000;

/** Keeps the content of the transcripts used last, up to a number of uuids. A forgotten transcript is read again when needed. */
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

  /** Keeps a transcript as the one used last, and forgets the least recently used ones above the limit. */
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
