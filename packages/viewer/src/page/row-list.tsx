import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { ReaderRow } from '../answers.ts';
import type { ReaderState } from './reader-state.ts';
import { heightOf, rowHeight } from './scroll-place.ts';
import { clockText, colourOf } from './words.ts';

interface RowListProps {
  readonly reader: ReaderState;
  onOpen(position: number): void;
}

/** The rows in the window, and a scroll bar for all of them. */
export function RowList({ reader, onOpen }: RowListProps) {
  const element = useRef<HTMLDivElement>(null);
  const { place, view } = reader.scroll;
  useEffect(() => {
    const list = element.current;
    if (list === null) return;
    const observer = new ResizeObserver(() => reader.resize(list.clientHeight));
    observer.observe(list);
    reader.resize(list.clientHeight);
    return () => observer.disconnect();
  }, [reader]);
  useLayoutEffect(() => {
    const list = element.current;
    if (list === null || Math.abs(list.scrollTop - place.scrollTop) < 1) return;
    list.scrollTop = place.scrollTop;
    reader.scroll.seen = list.scrollTop;
  });
  const total = reader.count === null ? -1 : view.count;
  return (
    <div
      class="list"
      role="feed"
      aria-label="Events"
      aria-busy={reader.count === null}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
      tabIndex={0}
      ref={element}
      onScroll={({ currentTarget }) => reader.scrolled(currentTarget.scrollTop)}
      onWheel={() => reader.scroll.turned()}
      onScrollEnd={() => reader.scroll.rested()}
    >
      <div style={{ height: `${heightOf(view)}px` }}>
        <div class="window">
          {reader.rows().map(({ position, place: ordinal, row }, at) => (
            <Row
              key={position}
              position={position}
              ordinal={ordinal}
              row={row}
              top={at * rowHeight}
              total={total}
              agent={reader.agents.find(({ id }) => id === row?.agentId)?.name ?? row?.agent ?? ''}
              isCurrent={position === reader.current}
              onOpen={onOpen}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

interface RowProps {
  readonly position: number;
  readonly ordinal: number;
  /** Undefined while it is read. */
  readonly row: ReaderRow | undefined;
  /** Pixels from the top of the window. */
  readonly top: number;
  readonly total: number;
  readonly agent: string;
  readonly isCurrent: boolean;
  onOpen(position: number): void;
}

function Row({ position, ordinal, row, top, total, agent, isCurrent, onOpen }: RowProps) {
  const classes = ['row', row?.kind, row?.tone ?? 'dim', isCurrent ? 'current' : ''];
  return (
    <article
      class={classes.filter(Boolean).join(' ')}
      style={{ top: `${top}px` }}
      aria-posinset={ordinal + 1}
      aria-setsize={total}
      aria-current={isCurrent}
      data-position={position}
    >
      <button
        type="button"
        tabIndex={-1}
        onClick={() => onOpen(position)}
        aria-label={`Open event ${position}`}
      >
        {position}
      </button>
      {row === undefined ? <span class="text">…</span> : <RowCells row={row} agent={agent} />}
    </article>
  );
}

export function RowCells({ row, agent }: { readonly row: ReaderRow; readonly agent: string }) {
  const { word, kind, time, agentId, head, text, outcome, notes, status, isFailed } = row;
  return (
    <>
      <time>{clockText(time)}</time>
      <span class={`agent colour-${colourOf(agentId)}`}>{agent}</span>
      <span class="kind">{isFailed ? `✗ ${word}` : word}</span>
      <span class="what" dir="auto">
        {head === '' ? null : <b class="head">{head}</b>}
        {text === '' ? null : <span class="text">{isFolded(kind) ? `▸ ${text}` : text}</span>}
        {outcome === '' ? null : <span class="outcome">→ {outcome}</span>}
        {notes === '' ? null : <span class="notes">{notes}</span>}
      </span>
      <span class="figures">{status}</span>
    </>
  );
}

/** Whether a row stands for others. */
function isFolded(kind: ReaderRow['kind']): boolean {
  return kind === 'noise' || kind === 'branch' || kind === 'copies';
}
