import { preview } from './json/describe-issues.ts';

/**
 * The text of a thrown value: its message if it has one, a string unchanged, else a short form of the value. An error
 * of another realm is not an `Error` here, but has a message.
 */
export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string' || thrown === undefined) return String(thrown);
  const message = (thrown as { readonly message?: unknown } | null)?.message;
  return typeof message === 'string' ? message : preview(thrown);
}
