/**
 * Characters that control a terminal, reorder its text or are invisible, and that `JSON.stringify` leaves unescaped. The white
 * space between JSON values is not among them.
 */
const unescaped = /(?![\t\n\r])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{FFF9}-\u{FFFB}]/gu;

/** The same JSON with those characters as `\u` escapes. A parser reads the same value. */
export function harmlessJson(json: string): string {
  return json.replace(unescaped, escaped);
}

function escaped(character: string): string {
  let text = '';
  for (let at = 0; at < character.length; at += 1)
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  return text;
}
