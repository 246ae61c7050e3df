/** A secret in a text: characters from `start` to before `end`. */
export interface SecretRange {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

/** Searches texts for secrets: one with `find`, many with `begin`, `add` for each, and `mayHave`. */
export interface SecretSearch {
  /** The secrets in a text, in any order. They can overlap. Forgets the texts that were added. */
  find(text: string): SecretRange[];
  /** Forgets the texts that were added. */
  begin(): void;
  add(text: string): void;
  /** Whether `find` can find something in one of the texts that were added: false for nearly all, in less time than `find` of each. */
  mayHave(): boolean;
}

/** The names of the known formats, of patterns of a user, and of environment variables. */
const marker = /\[REDACTED:(?:[a-z0-9][a-z0-9-]{0,39}|env-[^\s\]]{1,100})\]/g;

/** What replaces a secret. */
export function markerOf(kind: string): string {
  return `[REDACTED:${kind}]`;
}

/** The markers in a text. */
export function markersIn(text: string): SecretRange[] {
  if (!text.includes('[REDACTED:')) return [];
  return [...text.matchAll(marker)].map(({ 0: found, index }) => ({
    start: index,
    end: index + found.length,
    kind: '',
  }));
}

/**
 * The secrets of a text in ascending order, without overlaps: each begins and ends with what was found, and has the kind of the longest
 * secret in it. Ranges inside of a marker are left out, and a secret that contains a marker replaces it.
 */
export function distinctSecrets(text: string, found: readonly SecretRange[]): SecretRange[] {
  const markers = markersIn(text);
  const secrets = found.filter(
    ({ start, end }) => end > start && !markers.some((one) => one.start <= start && end <= one.end),
  );
  if (secrets.length === 0) return [];
  const isMarked = new Set(markers);
  const joined: { start: number; end: number; longest: SecretRange | null }[] = [];
  for (const one of [...markers, ...secrets].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = joined.at(-1);
    const secret = isMarked.has(one) ? null : one;
    if (last === undefined || one.start >= last.end) {
      joined.push({ start: one.start, end: one.end, longest: secret });
      continue;
    }
    last.end = Math.max(last.end, one.end);
    if (secret !== null && (last.longest === null || lengthOf(secret) > lengthOf(last.longest)))
      last.longest = secret;
  }
  return joined.flatMap(({ start, end, longest }) =>
    longest === null ? [] : [{ start, end, kind: longest.kind }],
  );
}

/** A part of a text, from `from` to before `to`, with its secrets replaced by what `mark` returns for their kinds. */
export function replaceSecrets(
  text: string,
  secrets: readonly SecretRange[],
  mark: (kind: string) => string,
  from = 0,
  to = text.length,
): string {
  let replaced = '';
  let at = from;
  for (const { start, end, kind } of secrets) {
    if (end <= from || start >= to) continue;
    replaced += text.slice(at, Math.max(at, start)) + mark(kind);
    at = Math.min(end, to);
  }
  return replaced + text.slice(at, to);
}

function lengthOf({ start, end }: SecretRange): number {
  return end - start;
}
