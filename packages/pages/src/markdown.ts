import MarkdownIt from 'markdown-it';

/**
 * Markdown from an allow-list: what is not enabled here is text. HTML is always text, images and addresses in text are not
 * links, so nothing is loaded, and a link leads only to a web or mail address.
 */
export const markdown: InstanceType<typeof MarkdownIt> = new MarkdownIt('zero', {
  html: false,
  linkify: false,
  breaks: true,
}).enable([
  'backticks',
  'blockquote',
  'code',
  'emphasis',
  'escape',
  'fence',
  'heading',
  'hr',
  'link',
  'list',
  'newline',
  'strikethrough',
  'table',
]);

markdown.validateLink = (address) => /^(?:https?:\/\/|mailto:)/i.test(address.trim());

/** Characters. Longer texts are shown as they are: rendering them takes long, and few of them are prose. */
export const longestMarkdown = 20_000;

/** A piece of Markdown as plain data: the beginning (1) or the end (-1) of an element, or something whole (0). */
export interface MarkdownToken {
  readonly type: string;
  /** '' for text. */
  readonly tag: string;
  readonly nesting: -1 | 0 | 1;
  /** The paragraph of a list without empty lines. */
  readonly isHidden: boolean;
  readonly content: string;
  /** The language of a block of code; ''. */
  readonly info: string;
  /** Of a link: a web or mail address. */
  readonly href: string | null;
  readonly children: readonly MarkdownToken[];
}

/** Foreign prose as tokens. Null: it is too long. */
export function markdownTokens(text: string): MarkdownToken[] | null {
  return text.length > longestMarkdown ? null : markdown.parse(text, {}).map(tokenOf);
}

type ParsedToken = ReturnType<typeof markdown.parse>[number];

function tokenOf(token: ParsedToken): MarkdownToken {
  const { type, tag, nesting, hidden: isHidden, content, info, children } = token;
  return {
    ...{ type, tag, nesting, isHidden, content, info },
    href: type === 'link_open' ? String(token.attrGet('href') ?? '') : null,
    children: (children ?? []).map(tokenOf),
  };
}

/** A piece of a program. '': nothing that has a colour. */
export interface CodePiece {
  readonly kind: '' | 'comment' | 'string' | 'number' | 'word';
  readonly text: string;
}

/** A comment, a text, a number or a word, by the sign that begins a comment. */
const lexers = {
  hash: /(#[^\n]*)|("[^"\n]*"|'[^'\n]*'|`[^`]*`)|\b(\d[\d_.]*\w*)\b|([A-Za-z_]\w*)/g,
  dashes: /(--[^\n]*)|("[^"\n]*"|'[^'\n]*'|`[^`]*`)|\b(\d[\d_.]*\w*)\b|([A-Za-z_]\w*)/g,
  slashes: /(\/[/*][^\n]*|<!--[^\n]*)|("[^"\n]*"|'[^'\n]*'|`[^`]*`)|\b(\d[\d_.]*\w*)\b|([A-Za-z_]\w*)/g,
} as const;

const hashComments = new Set(
  'py python rb ruby sh bash zsh shell console yml yaml toml dockerfile make r perl elixir'.split(' '),
);
const dashComments = new Set(['sql', 'lua', 'haskell', 'hs']);
const plainText = new Set(['text', 'txt', 'plain', 'diff', 'md', 'markdown', 'log']);

const keywords = new Set(
  `abstract as async await bool boolean break case catch class const continue def default defer del do elif else end enum
  except export extends false final finally fn for foreach from func function go if impl implements import in int interface
  is lambda let match mod module mut namespace new nil none not null of or package pass private protected public raise
  readonly return select self static string struct super switch then this throw throws trait true try type typeof
  undefined use using val var void where while with yield and create table insert update delete into values join on
  group order by limit echo export fi done esac local`.split(/\s+/),
);

/** Characters. Longer code has no colours. */
const longestCode = 20_000;

/** Code in pieces of one colour, by rules that most languages share. Null: it is too long, or its language is not known to have these rules. */
export function codePieces(text: string, language: string): CodePiece[] | null {
  const name = language.toLowerCase().split(/[\s,{]/, 1)[0] ?? '';
  if (text.length > longestCode || !/^[a-z+#]{1,12}$/.test(name) || plainText.has(name)) return null;
  const lexer = lexers[hashComments.has(name) ? 'hash' : dashComments.has(name) ? 'dashes' : 'slashes'];
  const pieces: CodePiece[] = [];
  let at = 0;
  const add = (kind: CodePiece['kind'], piece: string) => {
    if (piece !== '') pieces.push({ kind, text: piece });
  };
  for (const { 0: whole, 1: comment, 2: quoted, 3: number, index } of text.matchAll(lexer)) {
    const isWord = keywords.has(name === 'sql' ? whole.toLowerCase() : whole);
    const kind =
      comment !== undefined
        ? 'comment'
        : quoted !== undefined
          ? 'string'
          : number !== undefined
            ? 'number'
            : isWord
              ? 'word'
              : '';
    if (kind === '') continue;
    add('', text.slice(at, index));
    add(kind, whole);
    at = index + whole.length;
  }
  add('', text.slice(at));
  return pieces;
}
