import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { EventRow } from '../server/event-row.ts';
import type { ReaderState } from './reader-state.ts';
import { heightOf, rowHeight } from './scroll-map.ts';
import { clockText, colourOf } from './words.ts';

interface RowListProps {
  readonly reader: ReaderState;
  onOpen(position: number): void;
}

/** The rows in the window, and a scroll bar for all of them. */
export function RowList({ reader, onOpen }: RowListProps) {
  const element = useRef<HTMLDivElement>(null);
  const { place, view } = reader;
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
    if (list !== null && Math.abs(list.scrollTop - place.scrollTop) >= 1) list.scrollTop = place.scrollTop;
  });
  const total = reader.count ?? -1;
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
    >
      <div style={{ height: `${heightOf(view)}px` }}>
        <div class="window">
          {reader.rows().map(([position, row], at) => (
            <Row
              key={position}
              position={position}
              row={row}
              top={at * rowHeight}
              total={total}
              agent={row === undefined ? '' : reader.nameOf(row[3])}
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
  /** Undefined while it is read. */
  readonly row: EventRow | undefined;
  /** Pixels from the top of the window. */
  readonly top: number;
  readonly total: number;
  readonly agent: string;
  readonly isCurrent: boolean;
  onOpen(position: number): void;
}

function Row({ position, row, top, total, agent, isCurrent, onOpen }: RowProps) {
  const [, kind = '', time = null, agentId = '', text = '…', tone = 'dim'] = row ?? [];
  return (
    <article
      class={`row ${tone}${isCurrent ? ' current' : ''}`}
      style={{ top: `${top}px` }}
      aria-posinset={position + 1}
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
      <time>{clockText(time)}</time>
      <span class={`agent colour-${colourOf(agentId)}`}>{agent}</span>
      <span class="kind">{tone === 'bad' ? `✗ ${kind}` : kind}</span>
      <span class="text">{text}</span>
    </article>
  );
}
