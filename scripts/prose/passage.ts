/** A piece of prose, joined to one line, and where it stands. */
export interface Passage {
  readonly kind: 'comment' | 'string' | 'title' | 'document';
  readonly text: string;
  /** The line of the source, counted from 1, on which the character at `offset` of the text stands. */
  lineAt(offset: number): number;
}

/** Joins lines to one passage; each comes with its number in the source. */
export function joinLines(
  kind: Passage['kind'],
  lines: readonly { readonly line: number; readonly text: string }[],
): Passage {
  const starts: { readonly offset: number; readonly line: number }[] = [];
  let text = '';
  for (const part of lines) {
    const trimmed = part.text.trim();
    if (trimmed === '') continue;
    if (text !== '') text += ' ';
    starts.push({ offset: text.length, line: part.line });
    text += trimmed;
  }
  return {
    kind,
    text,
    lineAt: (offset) => starts.findLast((start) => start.offset <= offset)?.line ?? lines[0]?.line ?? 1,
  };
}

/** Replaces quoted code by a neutral word, so that names of tools and fields are not read as prose. */
export function withoutCode(text: string): string {
  return text.replace(/`[^`\n]*`/g, (code) => '`'.padEnd(Math.max(code.length - 1, 1), 'x').concat('`'));
}
