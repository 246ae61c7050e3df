import type { JsonObject, JsonValue } from '@hansard/events';
import { bytesIn, contentLabel, isMediaPart } from '@hansard/events/plain';

/** Fields of the results of a provider's own tools. Only the provider can read their content. */
const encryptedFields = ['encrypted_content', 'encrypted_index', 'encrypted_stdout'] as const;

/** The field with the bytes of a file in the blocks of the Anthropic API and of MCP; null if the block has no bytes. */
export function bytesField(block: JsonObject): 'data' | 'blob' | null {
  const { type, data, blob, mimeType, uri } = block;
  const isSource = type === 'base64';
  const isContent = (type === 'image' || type === 'audio') && typeof mimeType === 'string';
  if (typeof data === 'string' && (isSource || isContent)) return 'data';
  const isResource = typeof blob === 'string' && (typeof mimeType === 'string' || typeof uri === 'string');
  return isResource ? 'blob' : null;
}

/** The output of a tool as text for a model, as JSON unless it is text. Images and encoded bytes are only named: no model reads them as text. */
export function resultText(output: JsonValue): string {
  return typeof output === 'string' ? output : JSON.stringify(output, withoutBytes);
}

function withoutBytes(_: string, value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (isMediaPart(value)) return contentLabel(value);
  const bytes = bytesField(value);
  const fields = encryptedFields.filter((field) => typeof value[field] === 'string');
  if (bytes === null && fields.length === 0) return value;
  const named = [...(bytes === null ? [] : [bytes]), ...fields];
  return {
    ...value,
    ...Object.fromEntries(named.map((field) => [field, `[${bytesIn(String(value[field]))} bytes]`])),
  };
}
