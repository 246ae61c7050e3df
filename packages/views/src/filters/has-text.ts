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
        if (inner !== undefined && !isBytes(next, key)) open.push(inner);
  }
  return false;
}

/** An observed image has its bytes as `base64`, a content block of Claude as `data`. */
function isBytes(owner: JsonObject, key: string): boolean {
  return (owner.kind === 'image' && key === 'base64') || (owner.type === 'base64' && key === 'data');
}
