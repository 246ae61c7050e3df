import type { JsonValue } from '@hansard/events';
import { distinctSecrets, replaceSecrets, type SecretSearch } from './search/secret-search.ts';

/** The kind of secret that can have its lines in several items of a list, such as those of a patch. */
const kind = 'private-key';
const firstLine = 'PRIVATE KEY';

/**
 * The items of a list with their parts of each private key replaced by what `mark` returns. Null: no key begins in one item and continues
 * in another.
 */
export function redactKeyLines(
  list: readonly JsonValue[],
  search: SecretSearch,
  mark: (kind: string) => string,
): JsonValue[] | null {
  if (!list.some((item) => typeof item === 'string' && item.includes(firstLine))) return null;
  const lines = list.map((item) => (typeof item === 'string' ? item : ''));
  const text = lines.join('\n');
  const found = search
    .find(text)
    .filter((one) => one.kind === kind && text.slice(one.start, one.end).includes('\n'));
  const keys = distinctSecrets(text, found);
  let [start, hasLines] = [0, false];
  const redacted = list.map((item, index) => {
    const from = start;
    const end = from + (lines[index] as string).length;
    start = end + 1;
    if (typeof item !== 'string') return item;
    const parts = keys.filter(
      (key) => key.start < end && key.end > from && (key.start < from || key.end > end),
    );
    hasLines ||= parts.length > 0;
    return parts.length === 0 ? item : replaceSecrets(text, parts, mark, from, end);
  });
  return hasLines ? redacted : null;
}
