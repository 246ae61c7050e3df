import { neutraliseControls, neutraliseControlsInLine } from '@hansard/events/plain';
import type { Ink } from './ink.ts';
import type { RowPart } from './row.ts';

/** A line of content, harmless. */
export interface PartLine {
  /** What is before the first of its lines when it is wrapped; the others are indented as much. */
  readonly mark: string;
  readonly text: string;
  readonly ink?: Ink | undefined;
}

/** The lines of a part of a row. */
export function partLines(part: RowPart): PartLine[] {
  switch (part.kind) {
    case 'text':
      return [...labelLine(part.label), ...linesOf(part.text).map((text) => ({ mark: '', text }))];
    case 'json':
      return [
        ...labelLine(part.label),
        ...linesOf(JSON.stringify(part.value, null, 2)).map((text) => ({ mark: '', text })),
      ];
    case 'fields': {
      const text = part.fields.map(([name, value]) => `${name} ${value}`).join(', ');
      return [{ mark: '', text: neutraliseControlsInLine(text) }];
    }
    case 'diff':
      return [...labelLine(part.label), ...part.lines.map(diffLine)];
    case 'image':
      return [
        { mark: '', text: neutraliseControlsInLine(`[${part.mediaType}, ${part.base64.length} characters]`) },
      ];
  }
}

const marks = { same: '  ', removed: '- ', added: '+ ' } as const;
const inks = { same: undefined, removed: 'removed', added: 'added' } as const;

function diffLine({ kind, text }: { readonly kind: keyof typeof marks; readonly text: string }): PartLine {
  return { mark: marks[kind], text: neutraliseControlsInLine(text), ink: inks[kind] };
}

function labelLine(label: string | undefined): PartLine[] {
  return label === undefined ? [] : [{ mark: '', text: `${neutraliseControlsInLine(label)}:`, ink: 'dim' }];
}

/** Models often begin or end with empty lines. */
function linesOf(text: string): string[] {
  const trimmed = text.trimEnd().replace(/^(?:[ \t]*\n)+/, '');
  return trimmed === '' ? [] : neutraliseControls(trimmed).split('\n');
}
