import { type CapturedEvent, eventDataSchemas, type JsonObject, type KnownEventType } from '@hansard/events';

/** Types that have thoughts, or what a provider gets back of them, in fields of their own. */
const thoughtful: ReadonlySet<string> = new Set<KnownEventType>(['agent:thinking', 'agent:inference']);

/**
 * The data of an event as far as it cannot have thoughts: the fields that its type defines. Other fields, such as
 * `details`, and data without defined fields can be a whole message of a model as another program recorded it. Undefined:
 * the type defines no fields, is not one of Hansard's, or its data does not match. `dataOf`: of which other types the data has none.
 */
export function withoutThoughts(
  { type, data }: CapturedEvent,
  dataOf: (type: string) => boolean,
): JsonObject | undefined {
  if (!Object.hasOwn(eventDataSchemas, type)) return dataOf(type) ? data : undefined;
  if (thoughtful.has(type)) return undefined;
  const schema = eventDataSchemas[type as KnownEventType];
  if (!('shape' in schema)) return undefined;
  const result = schema.safeParse(data);
  return result.success ? (result.data as JsonObject) : undefined;
}
