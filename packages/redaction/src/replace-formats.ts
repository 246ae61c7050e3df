import type { SecretFormat } from './secret-formats.ts';

/** Shorter texts, such as most keys and ids, have no secret other than the password of a URL. */
const shortest = 20;

/** Replaces the secrets of the formats by what `mark` returns for their kind. */
export function replaceFormats(
  text: string,
  formats: readonly SecretFormat[],
  mark: (kind: string) => string,
): string {
  if (text.length < shortest && !text.includes('://')) return text;
  let replaced = text;
  const lower = formats.length === 0 ? '' : text.toLowerCase();
  for (const format of formats)
    if (lower.includes(format.hint)) replaced = replaceFormat(replaced, format, mark);
  return replaced;
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
