import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** A construction that our texts avoid, an example of it, and the example in better words. */
export type LanguagePattern = readonly [pattern: RegExp, not: string, but: string];

/** Each reads one passage of prose, in which code in backticks is `x`. */
export const languagePatterns: readonly LanguagePattern[] = [
  [
    /(?:^|[.!;] )Who (?:has|writes|edits|runs|holds|reads|uses|wants|needs|makes)\b[^.?]*\./,
    'Who has it can read everything.',
    'Anyone with this token can read everything.',
  ],
  [
    /\b(?:of|to|for|from|by|with) who\b(?! (?:heard|said|received|did))/i,
    'a look must not fill the context of who looks',
    "The answer must not fill the caller's context.",
  ],
  [/\bholders?\b/i, 'the message names the holder', 'the message names the owner'],
  [/\bso many\b/i, 'print at most so many hits', 'print at most N hits'],
  [/\bin any case\b/i, 'with this text, in any case', 'that contain this text, ignoring case'],
  [/\bafter a question\b/i, 'end its claim after a question', 'after you confirm, release it'],
  [/, so \w+ do(?:es)?\b[.,;]/i, 'Ids stay, so links do.', 'Ids stay unchanged, so links stay valid.'],
  [
    /\b(?:to pass|passes|passed) over\b/i,
    'It asks first, and passes over folders.',
    'It asks for confirmation, and skips folders.',
  ],
  [
    /\(`x` (?:does|do|is) not\)/i,
    'It asks first (`x` does not).',
    'It asks for confirmation unless you pass `x`.',
  ],
  [/\b(?:has|have|had) (?:it|them) as\b/i, 'the log has it as `x`', 'the log records it as `x`'],
  [/\band else\b/i, 'every 250 ms, and else every 5 seconds', 'every 250 ms, otherwise every 5 seconds'],
  [
    /\bbecause of the error\b/i,
    'Null: nothing was changed, because of the error.',
    'Null if an error prevented the change.',
  ],
  [
    /\b(?:that|which|log|file) says nothing\b(?! more)/i,
    '-1 if that says nothing',
    'or -1 if none is recorded',
  ],
  [
    /\bwhat (?:became|becomes|has become) of\b/i,
    'What became of one dispatch.',
    'The result for one dispatch.',
  ],
  [
    /\b(?:ends?|begins?|starts?) so\b(?! that)/i,
    'whose id ends so; if none does, begins so',
    'whose id ends with it, or else begins with it',
  ],
  [
    /\bthe one with the (?:oldest|newest|latest|earliest|most|least|fewest)\b/i,
    'the one with the oldest use',
    'the least recently used one',
  ],
  [
    /, of one (?:with|that|which)\b/i,
    'made from the whole log, of one with more events from the last 50,000',
    'made from the whole log, or from its last 50,000 events if it is longer',
  ],
  [
    /\b(?:tells?|told|telling)\b(?! (?:\w+ ){0,3}apart)/i,
    'The command tells which file is damaged.',
    'The command reports the damaged file.',
  ],
  [
    /(?<!\bthere )\b(?:is|are|was|were|be) no (?!longer\b|more\b|one\b)/i,
    'The value is no list.',
    'There is no list, and the value must be one.',
  ],
  [/\b(?:go|goes|going|gone|went) on\b/i, 'goes on with the session', 'continues the session'],
  [
    /\bwho(?:m)?ever\b/i,
    'Whoever creates a dispatch writes it.',
    'The caller that creates a dispatch writes it.',
  ],
  [/\boddit(?:y|ies)\b/i, 'each oddity has a line', 'each diagnostic has a line'],
  [
    /\b(?:bells?|barks?|barked|heed(?:s|ed)?|residues?|keepable)\b/i,
    'The watchdog barks.',
    'The timeout expires.',
  ],
];

export interface LanguageHit {
  readonly file: string;
  readonly line: number;
  readonly found: string;
  /** Better words, for another sentence. */
  readonly like: string;
}

interface Passage {
  readonly line: number;
  readonly text: string;
}

/** Every file whose prose is read: documents, sources, and the titles of tests. */
export function proseFiles(home: string): string[] {
  const patterns = [
    '{*.md,.changeset/*.md,.github/**/*.md,docs/**/*.md,examples/*.md}',
    '{scripts,benchmarks}/**/*.{ts,md}',
    '{packages,plugins,apps,examples}/*/**/*.{ts,tsx,md}',
  ];
  const exclude = (path: string) => /(?:^|\/)(?:node_modules|dist|fixtures)$|CHANGELOG\.md$/.test(path);
  return globSync(patterns, { cwd: home, exclude }).sort();
}

/** The places of a file that use one of the constructions. This file holds examples of them. */
export function languageHits(home: string, file: string): LanguageHit[] {
  if (file === 'scripts/language.ts') return [];
  return passagesOf(home, file).flatMap(({ line, text }) =>
    hitsIn(text).map((hit) => ({ file, line, ...hit })),
  );
}

/** The prose of a file of the repository, with the line on which each piece begins. */
export function passagesOf(home: string, file: string): Passage[] {
  const source = readFileSync(join(home, file), 'utf8');
  return file.endsWith('.md') ? documentPassages(source) : sourcePassages(file, source);
}

export function hitsIn(text: string): Pick<LanguageHit, 'found' | 'like'>[] {
  return languagePatterns.flatMap(([pattern, , like]) => {
    const found = pattern.exec(text)?.[0];
    return found === undefined ? [] : [{ found, like }];
  });
}

/** The paragraphs, items and cells of a Markdown document, without its blocks of code. */
export function documentPassages(source: string): Passage[] {
  const passages: Passage[] = [];
  let isCode = false;
  let isOpen = false;
  for (const [index, each] of source.split('\n').entries()) {
    const text = each.trim();
    const isFence = /^(?:```|~~~)/.test(text);
    if (isFence) isCode = !isCode;
    const last = passages.at(-1);
    if (isFence || isCode || text === '') isOpen = false;
    else if (text.startsWith('|')) {
      for (const cell of withoutCode(text).split('|')) passages.push({ line: index + 1, text: cell.trim() });
      isOpen = false;
    } else if (isOpen && last !== undefined && !/^(?:[-*#>]|\d+\.)\s/.test(text))
      passages[passages.length - 1] = { line: last.line, text: withoutCode(`${last.text} ${text}`) };
    else {
      passages.push({ line: index + 1, text: withoutCode(text.replace(/^(?:[-*#>]+|\d+\.)\s+/, '')) });
      isOpen = true;
    }
  }
  return passages;
}

/** The comments and the strings of three words or more of a source; of a test, the comments and titles. */
export function sourcePassages(file: string, source: string): Passage[] {
  const { program, comments } = parseSync(file, source);
  const passages: Passage[] = [];
  const lineOf = lineCounter(source);
  const isTest = /(?:^|\/)test\//.test(file);
  let end = -1;
  for (const comment of comments) {
    const text = withoutCode(
      comment.value
        .replaceAll(/\n\s*\*?/g, ' ')
        .replace(/^[*/]*/, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    );
    const last = passages.at(-1);
    const isNext = comment.type === 'Line' && end >= 0 && /^\n[ \t]*$/.test(source.slice(end, comment.start));
    if (isNext && last !== undefined)
      passages[passages.length - 1] = { line: last.line, text: `${last.text} ${text}` };
    else passages.push({ line: lineOf(comment.start), text });
    end = comment.type === 'Line' ? comment.end : -1;
  }
  const add = (start: number, text: string) => {
    if (text.trim().split(/\s+/).length >= 3) passages.push({ line: lineOf(start), text: withoutCode(text) });
  };
  const titles = new Set<number>();
  new Visitor({
    CallExpression: ({ callee, arguments: [first] }) => {
      if (first !== undefined && /^(?:it|test|describe)\b/.test(source.slice(callee.start, callee.end)))
        titles.add(first.start);
    },
    Literal: ({ start, value }) => {
      if (typeof value === 'string' && (!isTest || titles.has(start))) add(start, value);
    },
    TemplateLiteral: ({ start, quasis }) => {
      if (!isTest || titles.has(start)) add(start, quasis.map(({ value }) => value.cooked ?? '').join('…'));
    },
    JSXText: ({ start, value }) => add(start, value),
  }).visit(program);
  return passages;
}

function withoutCode(text: string): string {
  return text.replaceAll(/`[^`\n]*`/g, '`x`');
}

function lineCounter(source: string): (offset: number) => number {
  const starts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return (offset) => starts.findLastIndex((start) => start <= offset) + 1;
}
