/** What is used of Node, which a page does not have. */
interface NodeModules {
  readonly 'node:buffer': {
    readonly Buffer: {
      from(text: string, encoding: 'base64'): Uint8Array;
      from(bytes: Uint8Array): { toString(encoding: 'base64'): string };
    };
  };
  readonly 'node:crypto': {
    createHash(name: 'sha256'): { update(bytes: Uint8Array): { digest(encoding: 'hex'): string } };
  };
}

/** A module of Node, without an import that a page would load; null in a page. */
function nodeModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] | null {
  const host = globalThis as unknown as {
    readonly process?: { getBuiltinModule?<Key extends Name>(name: Key): NodeModules[Key] };
  };
  return host.process?.getBuiltinModule?.(name) ?? null;
}

/** The SHA-256 of bytes, as hexadecimal digits. */
export function digestOf(bytes: Uint8Array): string {
  const crypto = nodeModule('node:crypto');
  return crypto === null ? sha256(bytes) : crypto.createHash('sha256').update(bytes).digest('hex');
}

/** The bytes of a text in either alphabet of Base64, with or without padding. */
export function bytesOfBase64(text: string): Uint8Array {
  const buffer = nodeModule('node:buffer');
  if (buffer !== null) return buffer.Buffer.from(text, 'base64');
  const digits = text.replace(/[\s=]/g, '').replaceAll('-', '+').replaceAll('_', '/');
  const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits;
  return Uint8Array.from(atob(whole), (character) => character.charCodeAt(0));
}

export function base64Of(bytes: Uint8Array): string {
  const buffer = nodeModule('node:buffer');
  if (buffer !== null) return buffer.Buffer.from(bytes).toString('base64');
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** The first bits of the roots of the first primes, after the point: the square roots begin the hash, the cube roots are its constants. */
function rootBits(count: number, root: (prime: number) => number): Uint32Array {
  const primes: number[] = [];
  for (let number = 2; primes.length < count; number += 1)
    if (primes.every((prime) => number % prime !== 0)) primes.push(number);
  return Uint32Array.from(primes, (prime) => (root(prime) % 1) * 2 ** 32);
}

/** FIPS 180-4, where no library has it in one step. */
function sha256(bytes: Uint8Array): string {
  const constants = rootBits(64, Math.cbrt);
  const hash = rootBits(8, Math.sqrt);
  const padded = new DataView(new ArrayBuffer(64 * Math.ceil((bytes.length + 9) / 64)));
  new Uint8Array(padded.buffer).set(bytes);
  padded.setUint8(bytes.length, 0x80);
  padded.setBigUint64(padded.byteLength - 8, 8n * BigInt(bytes.length));
  for (let at = 0; at < padded.byteLength; at += 64) addBlock(hash, constants, padded, at);
  return Array.from(hash, (word) => word.toString(16).padStart(8, '0')).join('');
}

const turned = (word: number, bits: number) => (word >>> bits) | (word << (32 - bits));

function addBlock(hash: Uint32Array, constants: Uint32Array, bytes: DataView, from: number): void {
  const words = new Uint32Array(64);
  const word = (at: number) => words[at] as number;
  for (let at = 0; at < 16; at += 1) words[at] = bytes.getUint32(from + 4 * at);
  for (let at = 16; at < 64; at += 1) {
    const [late, early] = [word(at - 2), word(at - 15)];
    const added = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
    words[at] = added + word(at - 7) + (turned(early, 7) ^ turned(early, 18) ^ (early >>> 3)) + word(at - 16);
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let at = 0; at < 64; at += 1) {
    const chosen = (e & f) ^ (~e & g);
    const one =
      h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + chosen + (constants[at] as number) + word(at);
    const most = (a & b) ^ (a & c) ^ (b & c);
    const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + most;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  for (const [at, value] of [a, b, c, d, e, f, g, h].entries()) hash[at] = (hash[at] as number) + value;
}
