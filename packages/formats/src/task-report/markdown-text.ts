import { neutraliseControls, neutraliseControlsInLine } from '@hansard/views';

/**
 * Text of others in the midst of a line, so that Markdown shows it as it is: nothing in it is markup, HTML or a link,
 * also where addresses become links by themselves. Marks that mean nothing where they stand are left to those who read
 * the source.
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
    // Of addresses.
    /(?<=\S)@(?=\S)|:(?=\/\/)|(?<=[\p{L}\p{N}])\.(?=\p{L})/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

/** Text of others as a block of code: word for word, on lines of its own. */
export function blockMarkdown(text: string): string {
  const lines = neutraliseControls(text);
  let longest = 2;
  for (const [run] of lines.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${lines}\n${fence}`;
}

/** Behind what begins a line: beside it where it fits there, else below it. */
export function besideOrBelow(start: string, text: string): string {
  if (text === '') return start;
  return text.includes('\n') || text.length > 400
    ? `${start}\n\n${blockMarkdown(text)}`
    : `${start} ${inlineMarkdown(text)}`;
}
