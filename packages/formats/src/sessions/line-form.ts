import { isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import type { SessionDialect } from './session-dialect.ts';
import { isSmallchatKey } from './smallchat-form.ts';

/** How a log writes JSON: the spaces after `,` and `:`, and whether characters beyond ASCII are escaped. */
const lineStyles = ['compact', 'spaced-ascii', 'spaced', 'compact-ascii'] as const;

export type LineStyle = (typeof lineStyles)[number];

export function isLineStyle(value: unknown): value is LineStyle {
  return lineStyles.some((style) => style === value);
}

/** A record as a line of JSON without a line end. The spaced styles are those of Python's `json.dumps`. */
export function lineText(record: JsonObject, style: LineStyle): string {
  const text = style.startsWith('spaced') ? spacedText(record) : JSON.stringify(record);
  if (!style.endsWith('ascii')) return text;
  return text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function spacedText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(spacedText).join(', ')}]`;
  if (!isPlainObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value as JsonObject).flatMap(([key, inner]) =>
    inner === undefined ? [] : [`${JSON.stringify(key)}: ${spacedText(inner)}`],
  );
  return `{${fields.join(', ')}}`;
}

/** The style of a line: the one before if the line can have it, else the most usual. Null: the line has none of them. */
export function styleOf(record: JsonObject, text: string, before: LineStyle): LineStyle | null {
  return [before, ...lineStyles].find((style) => lineText(record, style) === text) ?? null;
}

/** The order of the keys of objects in a record, by JSON Pointer. */
export type KeyOrders = Record<string, string[]>;

/** The orders that differ from those of an equal record; null if none does. */
export function keyOrdersOf(record: JsonValue, original: JsonValue): KeyOrders | null {
  const orders: KeyOrders = {};
  gatherOrders(record, original, '', orders);
  return Object.keys(orders).length === 0 ? null : orders;
}

function gatherOrders(
  record: JsonValue | undefined,
  original: JsonValue | undefined,
  pointer: string,
  orders: KeyOrders,
): void {
  if (Array.isArray(record) && Array.isArray(original)) {
    for (const [index, item] of original.entries())
      gatherOrders(record[index], item, `${pointer}/${index}`, orders);
  } else if (isPlainObject(record) && isPlainObject(original)) {
    const keys = Object.keys(original);
    if (keys.join('\n') !== Object.keys(record).join('\n')) orders[pointer] = keys;
    for (const key of keys)
      gatherOrders(
        (record as JsonObject)[key],
        (original as JsonObject)[key],
        `${pointer}/${escapeKey(key)}`,
        orders,
      );
  }
}

export function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** A record with its keys in these orders. Keys that an order does not name follow. */
export function inKeyOrder(value: JsonValue, orders: KeyOrders, pointer = ''): JsonValue {
  if (Array.isArray(value))
    return value.map((item, index) => inKeyOrder(item, orders, `${pointer}/${index}`));
  if (!isPlainObject(value)) return value;
  const object = value as JsonObject;
  const keys = [...new Set([...(orders[pointer] ?? []), ...Object.keys(object)])];
  return Object.fromEntries(
    keys.flatMap((key) => {
      const inner = Object.hasOwn(object, key) ? object[key] : undefined;
      return inner === undefined ? [] : [[key, inKeyOrder(inner, orders, `${pointer}/${escapeKey(key)}`)]];
    }),
  );
}

const ofCreation = ['message_id', 'event_type', 'agent_id', 'name', 'language_model'];
const ofEntry = ['message_id', 'agent_id', 'role', 'content', 'tool_calls', 'tool_call_id', 'name'];

/** Whether the schema of a dialect has this key in a record. */
export function isSpecified(dialect: SessionDialect, record: JsonObject, key: string): boolean {
  const { id, substanceKey, causeKey, sourceKey, entryType, mayHaveBoth } = dialect;
  if (id === 'smallchat') return isSmallchatKey(record, key);
  if (record.event_type === 'agent_created') return key === causeKey || ofCreation.includes(key);
  if (record.event_type === 'piece_of_text')
    return ['message_id', 'event_type', 'agent_id', 'content', causeKey].includes(key);
  if (key === 'event_type') return entryType !== null;
  // In the newer dialect, of the entries only a result that was compiled from several messages has causes.
  if (key === causeKey) return mayHaveBoth || (record.role === 'tool' && Array.isArray(record[causeKey]));
  return key === substanceKey || key === sourceKey || ofEntry.includes(key);
}
