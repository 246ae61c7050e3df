import type { LogLine } from './game-lines.ts';
import { isAgentRequest } from './trace-line.ts';

/**
 * Names the texts that agents say: a hash of speaker and text, and which of the equal texts of this speaker it is. So the chat and the
 * trace give a text the same id, whichever of them has it first, and no id changes when a file grows.
 */
export class SaidIds {
  readonly #said = new Map<string, number>();
  readonly #received = new Map<string, number>();
  /** How often the trace has each text for each receiver. */
  readonly #requests = new Map<string, number>();

  constructor(lines: readonly LogLine[]) {
    for (const line of lines)
      if (isAgentRequest(line))
        increment(this.#requests, keyOf(line.payload.from, line.payload.message, line.agent));
  }

  /** The id of what a speaker says now. */
  say(speaker: string, text: string): { readonly id: string; isRequestOf(receiver: string): boolean } {
    const number = increment(this.#said, keyOf(speaker, text));
    return {
      id: idOf(speaker, text, number),
      // The trace has this delivery itself.
      isRequestOf: (receiver) => (this.#requests.get(keyOf(speaker, text, receiver)) ?? 0) >= number,
    };
  }

  /** The id of what a receiver receives now. */
  receive(speaker: string, text: string, receiver: string): string {
    return idOf(speaker, text, increment(this.#received, keyOf(speaker, text, receiver)));
  }
}

function increment(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

function keyOf(...texts: readonly string[]): string {
  return JSON.stringify(texts);
}

function idOf(speaker: string, text: string, number: number): string {
  const key = keyOf(speaker, text);
  const hash = [0x811c9dc5, 0x01000193].map((seed) => hashOf(key, seed).toString(16).padStart(8, '0'));
  return `said-${hash.join('')}-${number}`;
}

/** FNV-1a over UTF-16 units, with a last mix (murmur3). It names texts and protects nothing. */
function hashOf(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
