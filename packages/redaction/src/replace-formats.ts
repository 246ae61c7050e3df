import { AnchorScan } from './anchor-scan.ts';
import type { SecretFormat } from './secret-formats.ts';

/** Shorter texts, such as most keys and ids, have no secret other than the password of a URL. */
const shortest = 20;

/** Replaces the secrets in a text by what `mark` returns for their kind. */
export type ReplaceSecrets = (text: string, mark: (kind: string) => string) => string;

/** Replaces the secrets of some formats. */
export function replaceFormats(formats: readonly SecretFormat[]): ReplaceSecrets {
  const scan = new AnchorScan(formats);
  return (text, mark) => {
    if (text.length < shortest && (text.indexOf(':') < 0 || !text.includes('://'))) return text;
    const found = scan.find(text);
    if (found === null) return text;
    let replaced = text;
    for (const index of found) replaced = replaceFormat(replaced, formats[index] as SecretFormat, mark);
    return replaced;
  };
}

function replaceFormat(
  text: string,
  { kind, expression, accepts }: SecretFormat,
  mark: (kind: string) => string,
) {
  return text.replace(expression, (...found: unknown[]) => {
    const match = found[0] as string;
    const groups = found.at(-1);
    const secret =
      typeof groups === 'object' && groups !== null ? (groups as { secret: string }).secret : match;
    if (accepts !== undefined && !accepts(secret)) return match;
    if (secret.startsWith('[REDACTED:')) return match;
    const at = match.lastIndexOf(secret);
    return match.slice(0, at) + mark(kind) + match.slice(at + secret.length);
  });
}
