import { type Anchored, AnchorScan } from './anchor-scan.ts';
import type { SecretFormat } from './format-rules.ts';
import { cookieAnchors, cookieSecrets, namedAnchors, namedSecrets } from './named-secrets.ts';
import { markersIn, type SecretRange, type SecretSearch } from './secret-search.ts';

/** Shorter texts, such as most keys and ids, have no secret other than the password of a URL. */
const shortest = 'PW=8digits00'.length;
const shortestUrl = '://:p@h'.length;

interface Finder extends Anchored {
  /** Whether a format occurs in a text. Absent: whether it has a secret. */
  readonly occurs?: (text: string) => boolean;
  /** All secrets in a text. */
  readonly find: (text: string) => SecretRange[];
}

/** The values of keys that name a secret, in every syntax, and of cookies. */
export const namedFinders: readonly Finder[] = [
  { anchors: namedAnchors, find: namedSecrets },
  { anchors: cookieAnchors, find: cookieSecrets },
];

/** Searches for the secrets of some formats. */
export function searchFormats(
  formats: readonly SecretFormat[],
  others: readonly Finder[] = [],
): SecretSearch {
  const finders: Finder[] = [
    ...formats.map((one) => ({
      anchors: one.anchors,
      // A list can have the lines of a private key in its items.
      occurs: (text: string) => text.search(one.expression) >= 0,
      find: (text: string) => rangesOf(text, one),
    })),
    ...others,
  ];
  const scan = new AnchorScan(finders);
  const add = (text: string): void => {
    if (text.length >= shortest || (text.length >= shortestUrl && text.includes('://'))) scan.add(text);
  };
  return {
    find(text) {
      scan.begin();
      add(text);
      const owners = scan.found()?.[0]?.owners;
      if (owners === undefined) return [];
      return finders.flatMap(({ find }, owner) => (owners.has(owner) ? find(text) : []));
    },
    begin: () => scan.begin(),
    add,
    mayHave() {
      const found = scan.found();
      if (found === null) return false;
      for (const { text, owners } of found)
        for (const owner of owners) {
          const { occurs, find } = finders[owner] as Finder;
          if (occurs === undefined ? find(text).length > 0 : occurs(text)) return true;
        }
      return false;
    },
  };
}

function rangesOf(text: string, { kind, expression, accepts }: SecretFormat): SecretRange[] {
  const ranges: SecretRange[] = [];
  expression.lastIndex = 0;
  for (let found = expression.exec(text); found !== null; found = expression.exec(text)) {
    const { 0: match, index, groups } = found;
    const secret = groups?.secret ?? match;
    if ((accepts !== undefined && !accepts(secret)) || isMarked(secret)) {
      // A secret can begin within this match.
      expression.lastIndex = index + 1;
      continue;
    }
    const start = index + match.lastIndexOf(secret);
    ranges.push({ start, end: start + secret.length, kind });
  }
  return ranges;
}

/** Whether a text is a marker, such as that of a password that was replaced before. */
function isMarked(text: string): boolean {
  const [first] = markersIn(text);
  return first !== undefined && first.start === 0 && first.end === text.length;
}
