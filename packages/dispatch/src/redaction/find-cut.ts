/**
 * White space inside a secret and what introduces it, such as `Authorization: Bearer TOKEN`, divides it into three words at most.
 * The beginning of a private key has four before it is recognized.
 */
const words = 4;

/** White space, characters that no format of a secret has, and what begins a format that can have them. */
const marks = /\s+|"|:\/\/|[^\0-\x7f]/gu;
const keyBegins = /-----BEGIN (?:[A-Z]{1,10} ){0,2}PRIVATE KEY/g;
/** On a line of its own: an END in a header of the key does not end it. */
const keyEnds = /(?:\n|\\[nr])[ \t]{0,40}-----END (?:[A-Z]{1,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----/g;

/**
 * The last place in a growing text such that a secret that begins before it can be recognized, however the text continues: 1. At least four whole
 * words follow. 2. At least the longest other secret (`reach`), but one character, follows. 3. No private key without its
 * end is before it. 4. It is after white space, or after a character that no secret can have there. 0: there is none.
 */
export function findCut(text: string, reach: number): number {
  const beforeReach = text.length - Math.max(0, reach - 1);
  if (beforeReach <= 0) return 0;
  const most = Math.min(beforeReach, openKey(text));
  const places = endsOfWords(text);
  for (let at = places.length - 1 - words; at >= 0; at -= 1) {
    const place = places[at] as number;
    if (place <= most) return place;
  }
  return 0;
}

function endsOfWords(text: string): number[] {
  const places: number[] = [];
  // Passwords in JSON and in URLs can have any character.
  let mayBePassword = false;
  for (const { 0: found, index } of text.matchAll(marks)) {
    if (found === '"' || found === '://') mayBePassword = true;
    else if (found.trim() === '') mayBePassword = false;
    // A key and its value stay together: a value that is not a secret can itself be a key.
    if (!mayBePassword && text[index - 1] !== ':') places.push(index + found.length);
  }
  return places;
}

/** Where the first private key begins that has no end yet. */
function openKey(text: string): number {
  keyBegins.lastIndex = 0;
  for (let begin = keyBegins.exec(text); begin !== null; begin = keyBegins.exec(text)) {
    keyEnds.lastIndex = keyBegins.lastIndex;
    if (keyEnds.exec(text) === null) return begin.index;
    keyBegins.lastIndex = keyEnds.lastIndex;
  }
  return text.length;
}
