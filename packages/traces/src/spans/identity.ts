import { hash } from 'node:crypto';

const ulidPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const charactersOf64Bits = 13;
const zeros = /^0+$/;

/** The trace id of a root dispatch and all dispatches below it: the 128 bits of its ULID, or a hash for other ids. */
export function traceIdOf(rootDispatchId: string): string {
  return usable(ulidPattern.test(rootDispatchId), rootDispatchId, 128) ?? hashed(32, 'trace', rootDispatchId);
}

/**
 * The span of an event or a dispatch: the low 64 bits of its ULID. An id that is not a ULID was imported and says little
 * outside its dispatch, so the hash is of both.
 */
export function spanIdOf(dispatchId: string, id: string): string {
  return usable(ulidPattern.test(id), id.slice(-charactersOf64Bits), 64) ?? hashed(16, 'id', dispatchId, id);
}

/** The span id of something that does not have one event id: a model message, an agent of a dispatch. */
export function derivedSpanId(kind: string, dispatchId: string, id: string): string {
  return hashed(16, kind, dispatchId, id);
}

/** The key of an event among several dispatches. */
function keyOf(dispatchId: string, id: string): string {
  return ulidPattern.test(id) ? id : `${dispatchId}\0${id}`;
}

/** The bits as hexadecimal digits; undefined if all are zero, which is not a valid trace or span id. */
function usable(isUlid: boolean, characters: string, bits: 64 | 128): string | undefined {
  if (!isUlid) return undefined;
  let value = 0n;
  for (const character of characters) value = value * 32n + BigInt(digits.indexOf(character));
  const hex = BigInt.asUintN(bits, value)
    .toString(16)
    .padStart(bits / 4, '0');
  return zeros.test(hex) ? undefined : hex;
}

function hashed(length: number, ...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, length);
}

/** The number of recent events that can be linked to their spans. */
const most = 16_384;

/**
 * The spans of the latest events. Most events are not spans themselves: a text belongs to its model call, a delivery to no
 * span. Bounded, so that memory does not grow with the log.
 */
export class RecentSpans {
  readonly #spans = new Map<string, string>();

  set(dispatchId: string, id: string, spanId: string): void {
    this.#spans.set(keyOf(dispatchId, id), spanId);
    if (this.#spans.size <= most) return;
    for (const oldest of this.#spans.keys()) {
      this.#spans.delete(oldest);
      break;
    }
  }

  /** The span of an event or a message; if it is unknown or was dropped, the span id derived from its id. */
  get(dispatchId: string, id: string): string {
    return this.known(dispatchId, id) ?? spanIdOf(dispatchId, id);
  }

  known(dispatchId: string, id: string): string | undefined {
    return this.#spans.get(keyOf(dispatchId, id));
  }
}
