/** Characters of all texts together. */
const mostCharacters = 262_144;
/** Items of a list, or keys of an object. */
const mostItems = 5_000;

/** The same value with its texts cut after a number of characters in all, and long lists and objects shortened. */
export function cutTexts<Value>(value: Value): Value {
  let left = mostCharacters;
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
