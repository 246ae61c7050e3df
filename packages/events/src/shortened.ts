/** The part of an address that names its host, without a user. */
const origin = /^[a-z][a-z+.-]{0,20}:\/\/[^/@?#:]{1,100}(?::\d{1,5})?\//i;

/**
 * A text of at most `longest` UTF-16 units, with `…` in the place of what is missing. It never ends inside a word: redaction could not
 * recognize a part of a secret. Of an address that is longer, the host stays.
 */
export function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const end = longest - 1;
  let start = end;
  // A word needs its next character to be recognized, or the quotation mark after it.
  if (isOfWord(text, end) || text[end] === '"') while (start > 0 && isOfWord(text, start - 1)) start -= 1;
  const host = start < end ? (origin.exec(text.slice(start, end))?.[0] ?? '') : '';
  return `${withoutHalf(text.slice(0, start))}${host}…`;
}

/** Whether a character is ASCII other than a space or `"`. Texts in scripts without spaces, such as Chinese, can be cut anywhere. */
function isOfWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code > 0x20 && code < 0x7f && code !== 0x22;
}

/** The text without the first half of a character at its end. */
function withoutHalf(text: string): string {
  return text.isWellFormed() ? text : text.replace(/[\ud800-\udbff]$/, '');
}
