import { isPlainObject, type JsonObject, type JsonValue } from '../json/json.ts';
import type { EventData, NewEvent } from '../types/event.ts';
import { nodeModule } from './separate-content.ts';

/** A part of a request as an event: its id is the digest of its data, and it has no time, so the same part is the same event. */
export type StoredRequest = NewEvent & {
  readonly id: string;
  readonly type: 'request:stored';
  readonly data: EventData<'request:stored'>;
};

/**
 * The event of tools or parameters. Null: there are none. What JSON does not have is left out. Two parts that differ
 * only in the order of keys have the same id.
 *
 * @throws TypeError if the part has a cycle or a BigInt
 */
export function storedRequest(
  part: { readonly tools: readonly object[] } | { readonly parameters: object },
): StoredRequest | null {
  const data = JSON.parse(JSON.stringify(part)) as EventData<'request:stored'>;
  const { tools = [], parameters = {} } = data;
  if (tools.length === 0 && Object.keys(parameters).length === 0) return null;
  const text = JSON.stringify(sorted(data as JsonObject));
  const digest = nodeModule('node:crypto')
    .createHash('sha256')
    .update(new TextEncoder().encode(text))
    .digest('hex');
  return { id: `sha256:${digest}`, type: 'request:stored', timestamp: null, data };
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value as JsonObject).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item ?? null)]));
}
