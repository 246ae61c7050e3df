import type { CodePiece, MarkdownToken } from '@hansard/pages/markdown';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

type Drawer = typeof import('@hansard/pages/markdown');

let drawer: Drawer | null = null;

/** Loads the reader of Markdown at its first use. */
function useDrawer(): Drawer | null {
  const [loaded, setLoaded] = useState(drawer);
  useEffect(() => {
    if (loaded !== null) return;
    import('@hansard/pages/markdown').then(
      (own) => {
        drawer = own;
        setLoaded(own);
      },
      // The text stays as it is written.
      () => undefined,
    );
  }, []);
  return loaded;
}

/** The elements that a text of a log can make. Their only attribute is the address of a link. */
const elements = [
  'blockquote',
  'em',
  'li',
  'ol',
  'p',
  's',
  'strong',
  'table',
  'tbody',
  'td',
  'th',
  'thead',
  'tr',
  'ul',
] as const;

/** Foreign prose, in harmless characters. Nothing of it is taken as HTML. */
export function Markdown({ text }: { readonly text: string }) {
  const own = useDrawer();
  const tokens = own?.markdownTokens(text) ?? null;
  if (tokens === null)
    return (
      <pre class="prose plain" dir="auto">
        {text}
      </pre>
    );
  return (
    <div class="prose" dir="auto">
      {drawn(tokens)}
    </div>
  );
}

interface OpenElement {
  readonly token: MarkdownToken;
  readonly children: ComponentChildren[];
}

function drawn(tokens: readonly MarkdownToken[]): ComponentChildren[] {
  const top: ComponentChildren[] = [];
  const open: OpenElement[] = [];
  for (const token of tokens) {
    const into = open.at(-1)?.children ?? top;
    if (token.nesting === 1) open.push({ token, children: [] });
    else if (token.nesting === -1) {
      const ended = open.pop();
      if (ended !== undefined) (open.at(-1)?.children ?? top).push(elementOf(ended));
    } else into.push(wholeOf(token));
  }
  return top;
}

function elementOf({ token: { tag, isHidden, href }, children }: OpenElement): ComponentChildren {
  if (isHidden) return children;
  if (/^h[1-6]$/.test(tag)) return <p class={`heading ${tag}`}>{children}</p>;
  if (tag === 'a')
    return href !== null && /^(?:https?:\/\/|mailto:)/i.test(href) ? (
      <a href={href} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    );
  const Element = elements.find((known) => known === tag) ?? 'span';
  const element = <Element>{children}</Element>;
  return Element === 'table' ? <div class="scrolls">{element}</div> : element;
}

function wholeOf({ type, content, info, children }: MarkdownToken): ComponentChildren {
  switch (type) {
    case 'inline':
      return drawn(children);
    case 'softbreak':
    case 'hardbreak':
      return <br />;
    case 'hr':
      return <hr />;
    case 'code_inline':
      return <code>{content}</code>;
    case 'fence':
    case 'code_block':
      return <Code text={content.replace(/\n$/, '')} language={info} />;
    default:
      return content;
  }
}

/** A block of code, with its language and a button that copies it. */
function Code({ text, language }: { readonly text: string; readonly language: string }) {
  const own = useDrawer();
  const [isCopied, setCopied] = useState(false);
  const pieces: readonly CodePiece[] = own?.codePieces(text, language) ?? [{ kind: '', text }];
  const isDiff = /^diff/i.test(language);
  return (
    <div class="code">
      <button
        type="button"
        onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
      <pre tabIndex={0}>
        {isDiff
          ? text.split('\n').map((line, at) => (
              <span key={at} class={line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : ''}>
                {`${line}\n`}
              </span>
            ))
          : pieces.map(({ kind, text: piece }, at) =>
              kind === '' ? (
                piece
              ) : (
                <span key={at} class={`code-${kind}`}>
                  {piece}
                </span>
              ),
            )}
      </pre>
    </div>
  );
}
