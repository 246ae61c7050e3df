import { preview } from '@hansard/events';

const secretKey = /pass|secret|token|credential|auth|cookie|(?:api|access|private|signing|encryption).?key/i;
const hidden = '(hidden)';

/**
 * A value of a configuration on one short line, without secrets: each value at or below a key such as
 * `apiKey` or `password`, and the user and password of a URL, are hidden.
 */
export function previewWithoutSecrets(value: unknown, keys: readonly string[]): string {
  if (value === undefined) return preview(value);
  if (keys.some((key) => secretKey.test(key))) return hidden;
  return preview(JSON.parse(JSON.stringify(value, hideSecret)));
}

function hideSecret(key: string, value: unknown): unknown {
  if (secretKey.test(key)) return hidden;
  return typeof value === 'string' ? value.replace(/:\/\/[^/\s]*@/g, `://${hidden}@`) : value;
}
