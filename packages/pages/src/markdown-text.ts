import { neutraliseControls, neutraliseControlsInLine } from '@hansard/events/plain';

/**
 * Escapes foreign text within a line, so that Markdown shows it unchanged: nothing in it is markup, HTML or a link,
 * including in renderers that link bare addresses. Characters without a meaning at their place are not escaped, so that
 * the source stays readable.
 */
export function inlineMarkdown(text: string): string {
  return neutraliseControlsInLine(text).replace(
    meaningful,
    (mark) => ({ '<': '&lt;', '&': '&amp;' })[mark] ?? `\\${mark}`,
  );
}

const meaningful = new RegExp(
  [
    /[\\`*~|#<]/,
    /&(?=[#\p{L}])/u,
    /(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/u,
    /\](?=[([])/,
    /\$(?!\d)/,
    // Addresses.
    /(?<=\S)@(?=\S)|:(?=\/\/)|(?<=[\p{L}\p{N}])\.(?=\p{L})/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

/** Foreign text as a block of code: word for word, on separate lines. */
export function blockMarkdown(text: string, language: 'text' | 'json' | 'diff' = 'text'): string {
  const lines = neutraliseControls(text);
  let longest = 2;
  for (const [run] of lines.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${lines}\n${fence}`;
}

/** Puts a text after the start of a line: beside it if it fits, otherwise below it. */
export function besideOrBelow(start: string, text: string): string {
  if (text === '') return start;
  return text.includes('\n') || text.length > 400
    ? `${start}\n\n${blockMarkdown(text)}`
    : `${start} ${inlineMarkdown(text)}`;
}
