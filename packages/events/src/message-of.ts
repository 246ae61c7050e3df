import { preview } from './json/describe-issues.ts';

/**
 * The text of a thrown value: its message if it has one, a string unchanged, else a short form of the value. An error
 * of another realm is not an `Error` here, but has a message. Never throws.
 */
export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string' || thrown === undefined) return String(thrown);
  let message: unknown;
  try {
    message = (thrown as { readonly message?: unknown } | null)?.message;
  } catch {
    // A proxy that was revoked, or a getter that throws.
  }
  return typeof message === 'string' ? message : preview(thrown);
}
