import { neutraliseControls } from '@hansard/events/plain';

/** Characters of all texts together. */
const mostCharacters = 262_144;
/** Items of a list, or keys of an object. */
const mostItems = 5_000;

/** The same value with its texts cut after `most` characters in all, and long lists and objects shortened. */
export function cutTexts<Value>(value: Value, most = mostCharacters): Value {
  let left = most;
  return cut(value) as Value;

  function cut(one: unknown): unknown {
    if (typeof one === 'string') {
      const text = one.length <= left ? one : `${one.slice(0, left).toWellFormed()}…`;
      left = Math.max(0, left - one.length);
      return text;
    }
    if (typeof one !== 'object' || one === null) return one;
    if (Array.isArray(one)) return one.slice(0, mostItems).map(cut);
    const entries = Object.entries(one).slice(0, mostItems);
    return Object.fromEntries(entries.map(([key, item]) => [cut(key), cut(item)]));
  }
}

/** The same value with controls and invisible characters in its texts made visible. */
export function harmless<Value>(value: Value): Value {
  if (typeof value === 'string') return neutraliseControls(value) as Value;
  if (Array.isArray(value)) return value.map((item) => harmless(item)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [neutraliseControls(name), harmless(field)]);
  return Object.fromEntries(fields) as Value;
}
