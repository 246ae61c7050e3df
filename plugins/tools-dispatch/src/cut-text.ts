/** The text, or its beginning with how much was cut off. No more than `limit` characters, and no half of a pair. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // The mark says at most how long the whole text is, so it fits whatever is cut.
  const room = Math.max(0, limit - cutMark(text.length).length);
  const end = isHighSurrogate(text.charCodeAt(room - 1)) ? room - 1 : room;
  return `${text.slice(0, end)}${cutMark(text.length - end)}`;
}

function cutMark(characters: number): string {
  return ` [${characters} characters cut]`;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
