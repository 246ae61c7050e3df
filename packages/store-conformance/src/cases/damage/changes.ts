/** One change of stored bytes. */
export interface Change {
  readonly name: string;
  readonly apply: (bytes: Uint8Array) => Uint8Array;
}

/** One bit of each byte, another one from byte to byte. */
export function flips({ length }: Uint8Array): readonly Change[] {
  return Array.from({ length }, (_, at) => ({
    name: `a changed bit in byte ${at}`,
    apply: (bytes) => bytes.with(at, (bytes[at] ?? 0) ^ (1 << ((at * 5) % 8))),
  }));
}

/** Everything from each byte on is missing. */
export function cuts({ length }: Uint8Array): readonly Change[] {
  return Array.from({ length }, (_, at) => ({
    name: `a cut before byte ${at}`,
    apply: (bytes) => bytes.slice(0, at),
  }));
}

/** Bytes are missing: single ones, parts of all sizes, and whole lines. */
export function removedRanges(original: Uint8Array): readonly Change[] {
  return ranges(original).map(([start, end]) => ({
    name: `the removal of bytes ${start} to ${end}`,
    apply: (bytes) => joined(bytes.slice(0, start), bytes.slice(end)),
  }));
}

/** Bytes exist twice, are zero, or have changed places with the ones after them. */
export function inserted(original: Uint8Array): readonly Change[] {
  return ranges(original).flatMap(([start, end]) => [
    {
      name: `the doubling of bytes ${start} to ${end}`,
      apply: (bytes: Uint8Array) => joined(bytes.slice(0, end), bytes.slice(start)),
    },
    {
      name: `zeros in bytes ${start} to ${end}`,
      apply: (bytes: Uint8Array) => new Uint8Array(bytes).fill(0, start, end),
    },
    {
      name: `bytes ${start} to ${end} after as many of the next`,
      apply: (bytes: Uint8Array) => {
        const after = Math.min(bytes.length, 2 * end - start);
        return joined(
          bytes.slice(0, start),
          bytes.slice(end, after),
          bytes.slice(start, end),
          bytes.slice(after),
        );
      },
    },
  ]);
}

function ranges(bytes: Uint8Array): ReadonlyArray<readonly [start: number, end: number]> {
  const found: Array<readonly [number, number]> = [];
  for (let size = 1; size <= bytes.length / 2; size *= 2)
    for (let start = 0; start + size <= bytes.length; start += Math.max(size, Math.floor(bytes.length / 60)))
      found.push([start, start + size]);
  const lineStarts = [0];
  for (const [at, byte] of bytes.entries()) if (byte === 10) lineStarts.push(at + 1);
  for (const [index, start] of lineStarts.entries()) {
    const end = lineStarts[index + 1];
    if (end !== undefined) found.push([start, end]);
  }
  return found;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
