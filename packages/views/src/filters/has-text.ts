import type { JsonObject, JsonValue } from '@hansard/events';

/**
 * Whether a text in a value fits, at any depth. The names of fields and the bytes of images and files are not among its
 * texts.
 */
export function hasText(value: JsonValue, fits: (text: string) => boolean): boolean {
  // A stack of its own: a log can be nested deeper than calls can.
  const open: JsonValue[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string') {
      if (fits(next)) return true;
    } else if (Array.isArray(next)) for (const inner of next) open.push(inner);
    else if (typeof next === 'object' && next !== null)
      for (const [key, inner] of Object.entries(next))
        if (inner !== undefined && !isBytes(next, key, inner)) open.push(inner);
  }
  return false;
}

/** A signature of reasoning, which nobody reads. */
const signature = /^[\w+/=-]{40,}$/;

/**
 * An observed image has its bytes as `base64`, a content block of Claude as `data`. Signed reasoning has a `signature`, and the
 * provider of a model gets `replay` back.
 */
function isBytes(owner: JsonObject, key: string, value: JsonValue): boolean {
  if (key === 'replay') return true;
  if (key === 'signature') return typeof value === 'string' && signature.test(value);
  return (owner.kind === 'image' && key === 'base64') || (owner.type === 'base64' && key === 'data');
}
