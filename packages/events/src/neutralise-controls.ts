/** Characters that control a terminal or are invisible: controls, lone surrogates, line separators, bidi and zero-width characters. */
const hidden = /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{FFF9}-\u{FFFB}]/u;

/** Joiners with a visible effect: in emoji, after vowel signs, in Arabic script. Elsewhere they are only invisible. */
const joined =
  /(?!\p{Default_Ignorable_Code_Point})[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{M}\p{Script=Arabic}][\ufe0e\ufe0f]?[\u200c\u200d]/u;

/** A variation selector for text or emoji style, after the character that it styles. A second one could hide data. */
const styled = new RegExp(`(?!${hidden.source}|\\s)[^][\\ufe0e\\ufe0f]`, 'u');

const harmlessOrHidden = new RegExp(`${joined.source}|${styled.source}|(${hidden.source})`, 'gu');

/**
 * Replaces characters of untrusted text that must not reach a terminal: ESC and other C0 controls become visible pictures
 * (`␛[31m`); C1 controls, bidi overrides, zero-width and other invisible characters become `<U+202E>`. Newlines and tabs
 * stay, `\r\n` becomes a newline, and joiners stay inside emoji and in scripts that need them.
 */
export function neutraliseControls(text: string): string {
  const lines = text.replaceAll('\r\n', '\n');
  if (!hidden.test(lines)) return lines;
  return lines.replace(harmlessOrHidden, (match, found: string | undefined) =>
    found === undefined ? match : picture(found),
  );
}

/** `neutraliseControls` on one line: newlines become `⏎`, tabs a space. */
export function neutraliseControlsInLine(text: string): string {
  return neutraliseControls(text).replaceAll('\n', '⏎').replaceAll('\t', ' ');
}

function picture(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
