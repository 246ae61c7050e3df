import { AnchorScan } from './anchor-scan.ts';
import type { SecretFormat } from './secret-formats.ts';
import { markersIn, type SecretRange, type SecretSearch } from './secret-search.ts';

/** Shorter texts, such as most keys and ids, have no secret other than the password of a URL. */
const shortest = 20;
const shortestUrl = '://:p@h'.length;

/** Searches for the secrets of some formats. */
export function searchFormats(formats: readonly SecretFormat[]): SecretSearch {
  const scan = new AnchorScan(formats);
  const add = (text: string): void => {
    if (text.length >= shortest || (text.length >= shortestUrl && text.includes('://'))) scan.add(text);
  };
  return {
    find(text) {
      scan.begin();
      add(text);
      const owners = scan.found()?.[0]?.owners;
      if (owners === undefined) return [];
      return formats.flatMap((format, owner) => (owners.has(owner) ? rangesOf(text, format) : []));
    },
    begin: () => scan.begin(),
    add,
    mayHave() {
      const found = scan.found();
      if (found === null) return false;
      for (const { text, owners } of found)
        for (const owner of owners)
          if (text.search((formats[owner] as SecretFormat).expression) >= 0) return true;
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
