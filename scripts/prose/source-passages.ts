import { joinLines, type Passage, withoutCode } from './passage.ts';

interface Token {
  readonly kind: 'comment' | 'line-comment' | 'string';
  readonly start: number;
  readonly end: number;
}

const literal =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`|[{}]|\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\//g;

/** The comments and the strings of a TypeScript source. A template literal is one string per piece of text. */
function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  /** For each open `${`, how many braces are open inside it. */
  const holes: number[] = [];
  let at = 0;
  const takeTemplate = (from: number): number => {
    let end = from;
    while (end < source.length && source[end] !== '`' && !source.startsWith('${', end))
      end += source[end] === '\\' ? 2 : 1;
    tokens.push({ kind: 'string', start: from, end });
    if (source[end] === '`') return end + 1;
    holes.push(0);
    return end + 2;
  };
  while (at < source.length) {
    literal.lastIndex = at;
    const match = literal.exec(source);
    if (match === null) break;
    const [text] = match;
    const start = match.index;
    at = start + text.length;
    const hole = holes.length - 1;
    if (text === '`') at = takeTemplate(at);
    else if (text === '{' && hole >= 0) holes[hole] = (holes[hole] ?? 0) + 1;
    else if (text === '}' && hole >= 0) {
      if (holes[hole] === 0) {
        holes.pop();
        at = takeTemplate(at);
      } else holes[hole] = (holes[hole] ?? 1) - 1;
    } else if (text.startsWith('/*')) tokens.push({ kind: 'comment', start, end: at });
    else if (text.startsWith('//')) tokens.push({ kind: 'line-comment', start, end: at });
    else if (text.startsWith("'") || text.startsWith('"'))
      tokens.push({ kind: 'string', start: start + 1, end: at - 1 });
    // A slash after a value divides; it does not begin a regular expression.
    else if (text.startsWith('/') && /[\w)\]]\s*$/.test(source.slice(Math.max(0, start - 20), start)))
      at = start + 1;
  }
  return tokens;
}

const titlePattern = /(?:\b(?:it|test|describe)(?:\.\w+)*|\))\(\s*['"`]$/;

/** What people read of a TypeScript source: its comments and its strings of three words or more; of a test, the titles. */
export function sourcePassages(source: string, isTest: boolean): Passage[] {
  const lineOf = lineCounter(source);
  const passages: Passage[] = [];
  let open: { line: number; text: string }[] = [];
  const flush = () => {
    if (open.length > 0) passages.push(joinLines('comment', open));
    open = [];
  };
  for (const { kind, start, end } of tokensOf(source)) {
    const text = source.slice(start, end);
    const line = lineOf(start);
    if (kind === 'line-comment') {
      if (open.at(-1)?.line !== line - 1) flush();
      open.push({ line, text: withoutCode(text.replace(/^\/\/+/, '')) });
      continue;
    }
    flush();
    if (kind === 'comment') {
      const body = text.slice(2, -2).split('\n');
      const lines = body.map((part, index) => ({
        line: line + index,
        text: withoutCode(part.replace(/^\s*\*+/, '')),
      }));
      passages.push(joinLines('comment', lines));
    } else if (isTest) {
      if (titlePattern.test(source.slice(Math.max(0, start - 60), start)))
        passages.push(joinLines('title', [{ line, text }]));
    } else if (text.trim().split(/\s+/).length >= 3) {
      passages.push(joinLines('string', [{ line, text: withoutCode(text.replaceAll('\\`', '`')) }]));
    }
  }
  flush();
  return passages;
}

function lineCounter(source: string): (offset: number) => number {
  let at = 0;
  let line = 1;
  return (offset) => {
    for (; at < offset; at += 1) if (source[at] === '\n') line += 1;
    return line;
  };
}
