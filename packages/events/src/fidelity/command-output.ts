/** Tags around text that Claude Code writes in the name of the user: shell commands, their output, contents of files. */
const marks = [
  'bash-input',
  'bash-stdout',
  'bash-stderr',
  'local-command-stdout',
  'local-command-stderr',
  'system-reminder',
];
const opening = new RegExp(`<(${marks.join('|')})>`, 'g');
const closing = new RegExp(`</(?:${marks.join('|')})>`, 'g');

/**
 * Removes the text between such tags and keeps the tags. The text may hold tags itself, so everything from the first
 * opening tag to the last closing tag is removed; without a closing tag, everything to the end.
 */
export function withoutCommandOutput(text: string): string {
  if (!text.includes('<')) return text;
  const opened = [...text.matchAll(opening)];
  const [first] = opened;
  if (first === undefined) return text;
  const last = [...text.matchAll(closing)].at(-1);
  const isClosed = last !== undefined && last.index > first.index;
  const end = isClosed ? last.index + last[0].length : text.length;
  const names = [...new Set(opened.filter(({ index }) => index < end).map(([, name]) => name))];
  const emptied = names.map((name) => `<${name}></${name}>`).join('');
  return `${text.slice(0, first.index)}${emptied}${text.slice(end)}`;
}
