import { joinLines, type Passage, withoutCode } from './passage.ts';

/** The prose of a Markdown document: its paragraphs, list items and table cells, without code. */
export function documentPassages(text: string): Passage[] {
  const passages: Passage[] = [];
  let open: { line: number; text: string }[] = [];
  let isCode = false;
  const flush = () => {
    if (open.length > 0) passages.push(joinLines('document', open));
    open = [];
  };
  text.split('\n').forEach((source, index) => {
    const line = index + 1;
    const trimmed = source.trim();
    if (/^(```|~~~)/.test(trimmed)) {
      flush();
      isCode = !isCode;
    } else if (isCode) return;
    else if (trimmed === '') flush();
    else if (trimmed.startsWith('|')) {
      flush();
      for (const cell of withoutCode(trimmed).split('|'))
        if (cell.trim() !== '') passages.push(joinLines('document', [{ line, text: cell }]));
    } else {
      if (/^([-*#>]|\d+\.)\s/.test(trimmed)) flush();
      open.push({ line, text: withoutCode(trimmed) });
    }
  });
  flush();
  return passages;
}
