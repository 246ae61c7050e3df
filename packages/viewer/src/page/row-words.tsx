import type { RowWords, WordBlock, WordSource, WordSpan } from '@hansard/views';
import { useState } from 'preact/hooks';

/** Characters. Of a longer text the beginning is shown, until all of it is asked for. */
const longestText = 50_000;

interface ShownWords {
  /** Harmless. Nothing of it is taken as HTML. */
  readonly words: RowWords;
  /** Shows another event of the dispatch. */
  onShow(position: number): void;
}

/** A row, whole. */
export function RowDetail({ words: { kind, isFailed, spans, blocks }, onShow }: ShownWords) {
  const textOf = (isFigure: boolean) =>
    spans.flatMap(({ label, text }) => ((label === 'figure') === isFigure ? text : []));
  const figures = textOf(true);
  return (
    <>
      <h3 class={isFailed ? 'bad' : ''}>{[...(isFailed ? ['✗'] : []), ...textOf(false)].join(' ')}</h3>
      {figures.length === 0 ? null : <p class="dim">{figures.join(' · ')}</p>}
      {blocks.map((block, at) => (
        <div key={at} class={`block ${block.source}`}>
          {isFirstOutcome(blocks, at) ? '→' : null}
          <Block block={block} isOpen={kind === 'noise'} onShow={onShow} />
        </div>
      ))}
    </>
  );
}

function isFirstOutcome(blocks: readonly WordBlock[], at: number): boolean {
  const sourceAt = (place: number): WordSource | undefined => blocks[place]?.source;
  return sourceAt(at) === 'outcome' && sourceAt(at - 1) !== 'outcome';
}

interface BlockProps {
  readonly block: WordBlock;
  readonly isOpen: boolean;
  onShow(position: number): void;
}

function Block({ block, isOpen, onShow }: BlockProps) {
  const label = block.label === undefined ? null : <h4>{block.label}</h4>;
  switch (block.kind) {
    case 'text':
    case 'code':
      return (
        <>
          {label}
          <LongText text={block.text} style={block.kind === 'text' && block.isProse ? 'markdown' : 'code'} />
        </>
      );
    case 'table':
      return (
        <dl>
          {block.rows.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      );
    case 'diff':
      return (
        <>
          {label}
          <pre class="diff">
            {block.lines.map(({ kind, text }, at) => {
              const Tag = ({ same: 'span', removed: 'del', added: 'ins' } as const)[kind];
              const mark = { same: ' ', removed: '-', added: '+' }[kind];
              return <Tag key={at}>{`${mark} ${text}\n`}</Tag>;
            })}
          </pre>
        </>
      );
    case 'image':
      return <p class="dim">{block.text}</p>;
    case 'note':
      return (
        <p class={block.tone}>
          <Spans spans={block.spans} onShow={onShow} />
        </p>
      );
    case 'changed':
      return (
        <>
          {label}
          <pre class="body altered" dir="auto">
            {block.parts.map(({ kind, text }, at) => {
              const Tag = ({ same: 'span', removed: 'del', added: 'ins' } as const)[kind];
              return <Tag key={at}>{text}</Tag>;
            })}
          </pre>
        </>
      );
    case 'records':
      return (
        <details open={isOpen}>
          <summary>{block.summary}</summary>
          <ol class="links">
            {block.records.map(({ position, text }) => (
              <li key={position}>
                <Spans spans={[{ label: 'text', text: String(position), position }]} onShow={onShow} /> {text}
              </li>
            ))}
          </ol>
        </details>
      );
  }
}

/** Words of a line. Those about another event lead to it. */
function Spans({ spans, onShow }: { readonly spans: readonly WordSpan[]; onShow(position: number): void }) {
  return (
    <>
      {spans.map(({ text, position }, at) => (
        <>
          {at === 0 ? '' : ' '}
          {position === undefined ? (
            <span key={at}>{text}</span>
          ) : (
            <button key={at} type="button" class="word" onClick={() => onShow(position)}>
              {text}
            </button>
          )}
        </>
      ))}
    </>
  );
}

function LongText({ text, style }: { readonly text: string; readonly style: string }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > longestText;
  return (
    <>
      <pre class={`body ${style}`} dir="auto">
        {isCut ? text.slice(0, longestText) : text}
      </pre>
      {isCut ? (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString('en-GB')} characters
        </button>
      ) : null}
    </>
  );
}
