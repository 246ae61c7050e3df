import { formatCost } from '@hansard/facts';
import { dispatchedAgent, forkNotes, openRewindInWords } from '@hansard/views';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ReaderRow } from '../answers.ts';
import type { DispatchName } from './api.ts';
import { EventPanel } from './event-panel.tsx';
import { FindBar } from './find/find-bar.tsx';
import { everything, type Query } from './find/search.ts';
import { isTyping } from './is-typing.ts';
import { Tabs } from './lenses/tabs.tsx';
import { addressOf, goTo, isWritten, parseAddress, type ReaderPlace } from './place-in-address.ts';
import { ReaderState } from './reader-state.ts';
import { RunBar } from './run/run-bar.tsx';
import { heightOf, rowHeight } from './scroll-place.ts';
import { clockText, colourOf, countText } from './words.ts';

/** Milliseconds without a move after which the address has the place. */
const addressMs = 300;

/** One dispatch: its rows, at the end and following, and beside them the event that is open. */
export function ReaderScreen({ screen }: { readonly screen: ReaderPlace }) {
  const { task, id, open = null, query = everything, isOnlyHits = false } = screen;
  const reader = useReader(screen);
  const write = useAddress(reader, screen);
  useEffect(() => reader.find(query, isOnlyHits), [reader, addressOf({ ...screen, at: null, open: null })]);
  // The row of an event is known when its rows are read.
  const version = open === null ? '' : reader.versionOf(open);
  useLayoutEffect(() => {
    if (open !== null) reader.mark(open);
  }, [reader, open, version]);
  const { envelope, unseen } = reader;
  const classes = ['reader', open !== null && 'with-panel', reader.agents.length === 0 && 'alone'];
  const notes = envelope === null ? [] : [forkNotes([envelope]), openRewindInWords(envelope) ?? []].flat();
  useEffect(() => {
    document.title = `${envelope?.title ?? envelope?.role ?? id} · Hansard`;
  });
  const { setOpen, choose, setQuery, next } = useSteps(reader, screen, write);
  return (
    <main class={classes.filter(Boolean).join(' ')}>
      <header>
        <a class="brand" href={addressOf({ kind: 'library', task: null })}>
          Hansard
        </a>
        <h1>{envelope?.title ?? envelope?.role ?? id}</h1>
        {envelope === null ? null : <span class={`state ${envelope.status}`}>{envelope.status}</span>}
        <Tabs task={task} id={id} shown="reader" />
        <span class="count">{reader.count === null ? '…' : `${countText(reader.count)} events`}</span>
        <FindBar
          reader={reader}
          query={query}
          isOnlyHits={isOnlyHits}
          onQuery={setQuery}
          onOnlyHits={(isOnly) => write({ isOnlyHits: isOnly }, 'push')}
          onNext={next}
        />
        {reader.problem === null ? null : <p role="alert">{reader.problem}</p>}
        {notes.map((note) => (
          <p class="note" key={note}>
            {note}
          </p>
        ))}
      </header>
      <Beside reader={reader} place={screen} />
      <RowList reader={reader} onOpen={choose} />
      <RunBar reader={reader} />
      {unseen > 0 && !reader.isFollowing ? (
        <button type="button" class="unseen" onClick={() => reader.show(null)}>
          ▼ {countText(unseen)} new
        </button>
      ) : null}
      {open === null ? null : (
        <EventPanel
          name={reader.name}
          position={open}
          version={version}
          onShow={(position) => {
            reader.reveal(position);
            setOpen(position);
          }}
          onClose={() => setOpen(null)}
        />
      )}
    </main>
  );
}

function useReader({ task, id, at }: ReaderPlace): ReaderState {
  const [, setVersion] = useState(0);
  const reader = useMemo(() => {
    const onChange = oncePerFrame(() => setVersion((version) => version + 1));
    return new ReaderState({ task, id }, at, onChange);
  }, []);
  useEffect(() => {
    void reader.open();
    return () => reader.close();
  }, [reader]);
  return reader;
}

/** Puts the place, and what is changed, into the address. */
type WriteAddress = (change: Partial<ReaderPlace>, how: 'push' | 'replace') => void;

/** Shows the place that the address has, and keeps the place that is shown in the address. */
function useAddress(reader: ReaderState, { task, id, at }: ReaderPlace): WriteAddress {
  const shownAt = useRef(at);
  // Before the page is painted: its rows are asked for a frame earlier.
  useLayoutEffect(() => {
    // Another place of the same dispatch: by a link, or back to where the reader was.
    if (at !== shownAt.current) {
      if (isWritten()) reader.show(at);
      else if (at !== null) reader.focus(at);
    }
    shownAt.current = at;
  }, [reader, at]);
  const write: WriteAddress = (change, how) => {
    const now = parseAddress(location.hash);
    // A link may have been followed whose screen is not drawn yet.
    if (now.kind !== 'reader' || now.task !== task || now.id !== id) return;
    const shown = reader.isFollowing ? null : reader.topPosition;
    const place = { ...now, at: reader.count === null ? now.at : shown };
    shownAt.current = place.at;
    if (how === 'push') goTo(place, 'replace');
    goTo({ ...place, ...change }, how);
  };
  useEffect(() => {
    if (reader.count === null) return;
    const timer = setTimeout(() => {
      const now = parseAddress(location.hash);
      // Otherwise a link or the back button has chosen a place that is not drawn yet.
      if (now.kind === 'reader' && now.at === shownAt.current) write({}, 'replace');
    }, addressMs);
    return () => clearTimeout(timer);
  }, [reader.topPosition, reader.isFollowing, reader.count]);
  return write;
}

/** What the keys and the controls of the screen do. */
function useSteps(
  reader: ReaderState,
  { open = null, query = everything }: ReaderPlace,
  write: WriteAddress,
) {
  const setOpen = (position: number | null) =>
    write({ open: position }, open === null || position === null ? 'push' : 'replace');
  /** A row that stands for others shows them, any other one its event. */
  const choose = (position: number) => {
    if (!reader.openFold(position)) setOpen(position);
  };
  const setQuery = (wanted: Query) =>
    // While somebody types, the texts are one step.
    write(
      { query: wanted },
      query.text !== '' && wanted.text !== '' && query.text !== wanted.text ? 'replace' : 'push',
    );
  const next = (direction: 1 | -1) => {
    reader.next(direction);
    // An open panel shows the row that has the focus.
    if (open !== null && reader.current !== null) setOpen(reader.current);
  };
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (onReaderKey(event.key, reader, { open, setOpen, choose, next })) event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  return { setOpen, choose, setQuery, next };
}

interface OpenEvent {
  readonly open: number | null;
  setOpen(position: number | null): void;
  choose(position: number): void;
  next(direction: 1 | -1): void;
}

/** Whether the key means something here. */
function onReaderKey(key: string, reader: ReaderState, { open, setOpen, choose, next }: OpenEvent): boolean {
  const rows = Math.max(1, reader.rows().length - 2);
  const moves: Readonly<Record<string, number>> = {
    j: 1,
    ArrowDown: 1,
    k: -1,
    ArrowUp: -1,
    PageDown: rows,
    PageUp: -rows,
  };
  const places: Readonly<Record<string, number>> = {
    g: 0,
    Home: 0,
    G: Number.MAX_SAFE_INTEGER,
    End: Number.MAX_SAFE_INTEGER,
  };
  const [by, to] = [moves[key], places[key]];
  if (by !== undefined || to !== undefined) {
    if (by === undefined) reader.focus(to ?? 0);
    else reader.move(by);
    if (open !== null && reader.current !== null) setOpen(reader.current);
  } else if (key === 'Enter') choose(reader.current ?? reader.rows().at(-1)?.position ?? 0);
  else if (key === '/') document.getElementById('find')?.focus();
  else if (key === 'm' && reader.run.controls?.messages) document.getElementById('message')?.focus();
  else if (key === 'o') reader.fold();
  else if (key === 'n' || key === 'N') next(key === 'n' ? 1 : -1);
  else if (key === 'Escape' && open !== null) setOpen(null);
  else return false;
  return true;
}

interface BesideProps {
  readonly reader: ReaderState;
  readonly place: ReaderPlace;
}

/** Beside the rows: the dispatches above and below this one, and its agents. Each is a link. */
function Beside({ reader, place }: BesideProps) {
  const { name, tree, agents } = reader;
  return (
    <nav class="beside" aria-label="Sessions and agents">
      <h2>Sessions</h2>
      <ul>
        {tree.map(({ dispatchId, depth, name: title, status, cost, subtreeCost }) => (
          <li key={dispatchId} style={{ paddingInlineStart: `${Math.min(depth, 6) * 12}px` }}>
            <a
              href={readerAddress({ ...name, id: dispatchId })}
              aria-current={dispatchId === name.id ? 'page' : undefined}
            >
              {title}
            </a>{' '}
            <span class={`state ${status}`}>{status}</span>
            <span class="number">
              {cost === null ? '' : ` ${formatCost(cost)}`}
              {subtreeCost === null || subtreeCost === cost
                ? ''
                : `, ${formatCost(subtreeCost)} with those below`}
            </span>
          </li>
        ))}
      </ul>
      {agents.length === 0 ? null : <h2>Agents</h2>}
      <ul>
        {agents.map(({ id, name: agent, hasEnded, position }) => (
          <li key={id}>
            <a class={`colour-${colourOf(id)}`} href={addressOf({ ...place, at: position, open: null })}>
              {agent || dispatchedAgent}
            </a>
            {hasEnded ? <span class="ended"> ended</span> : null}
          </li>
        ))}
      </ul>
    </nav>
  );
}

function readerAddress({ task, id }: DispatchName): string {
  return addressOf({ kind: 'reader', task, id, at: null });
}

/** Draws at once. What changes before the next frame is drawn with it, however much it is. */
export function oncePerFrame(draw: () => void): () => void {
  let isWaiting = false;
  let hasChanged = false;
  const onChange = () => {
    hasChanged = isWaiting;
    if (isWaiting) return;
    isWaiting = true;
    draw();
    requestAnimationFrame(() => {
      isWaiting = false;
      if (hasChanged) onChange();
    });
  };
  return onChange;
}

interface RowListProps {
  readonly reader: ReaderState;
  onOpen(position: number): void;
}

/** The rows in the window, and a scroll bar for all of them. */
function RowList({ reader, onOpen }: RowListProps) {
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
