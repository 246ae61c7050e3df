import { deserialize, serialize } from 'node:v8';

const bytesOfHeader = 8;
const bytesOfMessage = 4 * 1024 * 1024;
const turnAt = 0;
const lengthAt = 1;
const simulatorTurn = 0;
const processTurn = 1;
/** How often a side looks for its turn before it sleeps. Waking a thread costs more than most turns take. */
const looks = 200;

/**
 * Two threads that take turns: at any time one runs and the other waits. The end of a turn passes a message. Both sides make
 * one over the same memory.
 */
export class Turns {
  readonly #header: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #own: number;
  readonly #other: number;

  static createMemory(): SharedArrayBuffer {
    return new SharedArrayBuffer(bytesOfHeader + bytesOfMessage);
  }

  constructor(memory: SharedArrayBuffer, side: 'simulator' | 'process') {
    this.#header = new Int32Array(memory, 0, 2);
    this.#bytes = new Uint8Array(memory, bytesOfHeader);
    this.#own = side === 'simulator' ? simulatorTurn : processTurn;
    this.#other = side === 'simulator' ? processTurn : simulatorTurn;
  }

  /** Gives the turn and a message to the other side, and returns the message with which it gives the turn back. */
  pass(message: unknown): unknown {
    const bytes = serialize(message);
    if (bytes.length > bytesOfMessage) throw new RangeError(`a message of ${bytes.length} bytes`);
    this.#bytes.set(bytes);
    Atomics.store(this.#header, lengthAt, bytes.length);
    Atomics.store(this.#header, turnAt, this.#other);
    Atomics.notify(this.#header, turnAt);
    return this.wait();
  }

  /** Waits for the first turn of this side. */
  wait(): unknown {
    for (let look = 0; look < looks && Atomics.load(this.#header, turnAt) !== this.#own; look += 1);
    while (Atomics.load(this.#header, turnAt) !== this.#own) Atomics.wait(this.#header, turnAt, this.#other);
    const length = Atomics.load(this.#header, lengthAt);
    return deserialize(Buffer.from(this.#bytes.subarray(0, length)));
  }
}
