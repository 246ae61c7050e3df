import { shortened } from '../shortened.ts';

const longestPreview = 60;
const mostIssues = 10;

/** An issue of zod, or of another library whose issues have a path and a message. */
interface Issue {
  readonly message: string;
  readonly path: readonly PropertyKey[];
  readonly code?: string | undefined;
  readonly keys?: readonly string[];
}

/**
 * The first issues of a failed check in one line: each path, the problem, and the value at that path. `show` prints a value;
 * it can hide one that may be a secret.
 */
export function describeIssues(
  error: { readonly issues: readonly Issue[] },
  root: unknown,
  prefix = '',
  show: (value: unknown, keys: readonly PropertyKey[]) => string = preview,
): { readonly text: string; readonly details: { readonly path: string; readonly value: string } } {
  const found = error.issues.slice(0, mostIssues).map((issue) => {
    const keys = [...(prefix === '' ? [] : [prefix]), ...issue.path];
    // For an unknown key, the path names only its parent.
    if (issue.code === 'unrecognized_keys') keys.push(...(issue.keys ?? []).slice(0, 1));
    return { path: joinPath(keys), message: issue.message, value: show(valueAt(root, keys), keys) };
  });
  const first = found[0] ?? { path: '(value)', message: 'invalid', value: show(root, []) };
  const texts = found.map(({ path, message, value }) => `${path} is ${value}: ${message}`);
  const more = error.issues.length - found.length;
  if (more > 0) texts.push(`and ${more} more`);
  return {
    text: texts.join('; '),
    details: { path: first.path, value: first.value },
  };
}

/** A value on one short line, for error messages. Never throws. */
export function preview(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function')
    return shortened(String(value), longestPreview);
  if (typeof value === 'number') return String(value);
  let text: string;
  try {
    text = JSON.stringify(value) ?? String(value);
  } catch {
    text = tagOf(value);
  }
  return shortened(text, longestPreview);
}

function tagOf(value: unknown): string {
  try {
    return Object.prototype.toString.call(value);
  } catch {
    // A proxy that was revoked.
    return `[unprintable ${typeof value}]`;
  }
}

function joinPath(keys: readonly PropertyKey[]): string {
  if (keys.length === 0) return '(value)';
  return keys
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`))
    .join('');
}

function valueAt(root: unknown, keys: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
