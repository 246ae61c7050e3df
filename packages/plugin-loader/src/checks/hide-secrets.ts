import { preview } from '@hansard/events';

const secretKey =
  /pass|pwd|secret|token|credential|auth|cookie|^env$|^headers$|(?:api|access|private|signing|encryption).?key/i;
/** Secrets that show what they are: keys of common services, and authorisation headers. */
const knownSecret = /\b(?:sk-|ghp_|gho_|github_pat_|glpat-|xox[abps]-|AKIA|AIza|Bearer |Basic )[\w.+/=-]+/g;
const hidden = '(hidden)';

/**
 * A value of a configuration on one short line, without secrets: each value at or below a key such as
 * `apiKey` or `env`, the user and password of a URL, and keys of common services are hidden.
 */
export function previewWithoutSecrets(value: unknown, keys: readonly PropertyKey[]): string {
  if (value === undefined) return preview(value);
  if (keys.some((key) => secretKey.test(String(key)))) return hidden;
  return preview(JSON.parse(JSON.stringify(value, hideSecret)));
}

function hideSecret(key: string, value: unknown): unknown {
  if (secretKey.test(key)) return hidden;
  if (typeof value !== 'string') return value;
  return value.replace(/:\/\/[^/\s]*@/g, `://${hidden}@`).replace(knownSecret, hidden);
}
