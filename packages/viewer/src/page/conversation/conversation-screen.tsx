import type { DispatchEnvelope } from '@hansard/events';
import {
  dispatchDuration,
  formatCount,
  formatDuration,
  formatSpending,
  projectOf,
  spendingOf,
  tokensInWords,
} from '@hansard/facts';
import { callsInWords, forkNotes, openRewindInWords } from '@hansard/views';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ConversationItem, Mark, PersonsMark, SessionMap } from '../../answers.ts';
import { type DispatchName, pathOf, useAnswer } from '../api.ts';
import { EventPanel } from '../event-panel.tsx';
import { isTyping } from '../is-typing.ts';
import { Tabs } from '../lenses/tabs.tsx';
import { agoText, projectName } from '../library-list.ts';
import { Markdown } from '../markdown.tsx';
import { MarksBelow, PlaceMarks, useSessionMarks } from '../marks.tsx';
import { addressOf, type ConversationPlace, goTo, parseAddress } from '../place-in-address.ts';
import { RowCells } from '../reader-screen.tsx';
import { clockText, colourOf, countText, resumeCommand, timeText } from '../words.ts';
import { ConversationState, type Turn, turnsOf } from './conversation-state.ts';

/** A map of a longer log is made again only when the page is loaded again. */
const longestLive = 5_000;

/** One session as a conversation: prompts and answers whole, and between them what was done, folded. */
export function ConversationScreen({ place }: { readonly place: ConversationPlace }) {
  const { task, id, open = null } = place;
  const name = { task, id };
  const { answer, problem } = useAnswer<{ readonly envelope: DispatchEnvelope }>(
    pathOf(name),
    ({ envelope }) => envelope.status === 'running',
  );
  const envelope = answer?.envelope ?? null;
  const map = useAnswer<SessionMap>(
    `${pathOf(name)}/map`,
    ({ end }) => end <= longestLive && envelope?.status === 'running',
  );
  const body = useRef<HTMLElement>(null);
  const toEnd = useRef(() => {});
  const state = useConversation(place, envelope, map.answer, toEnd);
  const [isAll, setAll] = useState(false);
  const [current, show] = useTurnAtTop(place, state, body);
  toEnd.current = () => show('end');
  const turns = turnsOf(state.items, isAll);
  const setOpen = (position: number | null) =>
    goTo({ ...place, at: current, open: position }, open === null ? 'push' : 'replace');
  const jump = (position: number) => void state.show(position).then(() => show(position));
  const here = useSessionMarks();
  useConversationKeys({
    toggleBookmark: bookmarking(name, here),
    place,
    marks: map.answer?.marks ?? [],
    end: map.answer?.end ?? 0,
    turns,
    current,
    jump,
    setOpen,
    setAll: () => setAll(!isAll),
  });
  useTitle(envelope?.title ?? envelope?.role ?? id);
  return (
    <main class={`conversation${open === null ? '' : ' with-panel'}`}>
      <Head place={place} shown="conversation" envelope={envelope} problem={problem ?? state.problem} />
      <SideMap
        map={withPersons(map.answer, here.marks)}
        problem={map.problem}
        current={current}
        onJump={jump}
      />
      <section
        class="turns"
        ref={body}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
        tabIndex={0}
        aria-label="Conversation"
        aria-busy={state.isReading}
      >
        <Edge state={state} direction="start" />
        <Turns turns={turns} folder={envelope?.cwd ?? null} isOpen={open} state={state} onOpen={setOpen} />
        <Edge state={state} direction="end" />
        <Ending envelope={envelope} state={state} />
      </section>
      {open === null ? null : (
        <EventPanel
          name={name}
          position={open}
          version=""
          onShow={(position) => setOpen(position)}
          onClose={() => setOpen(null)}
        />
      )}
    </main>
  );
}

function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Hansard`;
  }, [title]);
}

/** Bookmarks an event, or takes the bookmark away. */
function bookmarking(
  { task, id }: DispatchName,
  { reader, marks, add, remove }: ReturnType<typeof useSessionMarks>,
) {
  return (position: number) => {
    const made = marks.find(
      (mark) => mark.kind === 'bookmark' && mark.reader === reader && mark.on?.position === position,
    );
    if (reader === null) return;
    void (made === undefined ? add({ on: { task, id, position }, kind: 'bookmark' }) : remove(made));
  };
}

interface TurnsProps extends Omit<TurnProps, 'turn'> {
  readonly turns: readonly Turn[];
}

function Turns({ turns, ...others }: TurnsProps) {
  return (
    <>
      {turns.map((turn) => (
        <TurnView key={turn.position} turn={turn} {...others} />
      ))}
      {turns.length === 0 && !others.state.isReading ? <p class="dim">Nothing was said here.</p> : null}
    </>
  );
}

function useConversation(
  { task, id, at }: ConversationPlace,
  envelope: DispatchEnvelope | null,
  map: SessionMap | null,
  onEnd: { readonly current: () => void },
): ConversationState {
  const [, setVersion] = useState(0);
  const state = useMemo(
    () => new ConversationState({ task, id }, () => setVersion((version) => version + 1)),
    [],
  );
  const isRunning = envelope?.status === 'running';
  const hasBegun = useRef(false);
  state.isLive = isRunning && envelope.source === null;
  useEffect(() => () => state.close(), [state]);
  useEffect(() => {
    if (hasBegun.current || (at === null && envelope === null)) return;
    // What runs here is shown from its end, which the map knows.
    if (at === null && state.isLive && map === null) return;
    hasBegun.current = true;
    const isEnd = at === null && state.isLive;
    void state
      .show(at ?? (isEnd ? Math.max(0, (map?.end ?? 1) - 1) : 0))
      .then(() => isEnd && onEnd.current());
  }, [at, envelope, map]);
  useEffect(() => {
    if (!isRunning) return;
    const changes = new EventSource('/api/changes');
    changes.onmessage = () => void state.grown();
    return () => changes.close();
  }, [isRunning]);
  return state;
}

/** Milliseconds without a movement after which the address has the place. */
const addressMs = 400;

/** The turn at the top of the window, pixels below its edge, or the end. */
type Anchor = { readonly position: number; readonly offset: number } | 'end';

/** Pixels above a turn that is shown. */
const aboveTurn = 8;

/**
 * The position of the turn at the top of the window, and a function that shows another one there. Whatever is read or drawn above it, the turn
 * stays where it is.
 */
function useTurnAtTop(
  place: ConversationPlace,
  state: ConversationState,
  body: { readonly current: HTMLElement | null },
) {
  const [current, setCurrent] = useState<number | null>(place.at);
  const anchor = useRef<Anchor>({ position: place.at ?? 0, offset: aboveTurn });
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const shownAt = useRef(place.at);
  const shown = useRef(place);
  shown.current = place;
  const show = (to: number | 'end') => {
    anchor.current = to === 'end' ? 'end' : { position: to, offset: aboveTurn };
    setCurrent(to === 'end' ? Number.MAX_SAFE_INTEGER : to);
    hold(body.current, anchor.current);
  };
  useLayoutEffect(() => hold(body.current, anchor.current));
  useEffect(() => {
    if (place.at === null || place.at === shownAt.current) return;
    const { at } = place;
    shownAt.current = at;
    void state.show(at).then(() => show(at));
  }, [place.at]);
  useEffect(() => {
    const list = body.current;
    if (list === null) return;
    const onScroll = () => {
      const turn = turnAtTop(list);
      if (turn === undefined) return;
      const position = Number(turn.dataset.position);
      const isEnd = state.isAtEnd && list.scrollTop + list.clientHeight >= list.scrollHeight - 4;
      anchor.current = isEnd && state.isLive ? 'end' : { position, offset: turn.offsetTop - list.scrollTop };
      setCurrent(position);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        const now = parseAddress(location.hash);
        const { task, id } = shown.current;
        // Otherwise a link or the back button has chosen another screen that is not drawn yet.
        if (now.kind !== 'conversation' || now.task !== task || now.id !== id || now.at !== shownAt.current)
          return;
        shownAt.current =
          (list.scrollTop < aboveTurn && state.isAtStart) || anchor.current === 'end' ? null : position;
        goTo({ ...now, at: shownAt.current }, 'replace');
      }, addressMs);
    };
    list.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      list.removeEventListener('scroll', onScroll);
      clearTimeout(timer.current);
    };
  }, []);
  return [current, show] as const;
}

/** Keeps a turn, or the end, where it is in the window. */
function hold(list: HTMLElement | null, anchor: Anchor): void {
  if (list === null) return;
  const turns = [...list.querySelectorAll<HTMLElement>('.turn')];
  const turn =
    anchor === 'end'
      ? undefined
      : (turns.findLast((one) => Number(one.dataset.position) <= anchor.position) ?? turns[0]);
  const wanted =
    anchor === 'end' ? list.scrollHeight - list.clientHeight : (turn?.offsetTop ?? 0) - anchor.offset;
  const isFirst = turn !== undefined && turn === turns[0] && anchor !== 'end' && anchor.offset === aboveTurn;
  const top = isFirst && turn.previousElementSibling === null ? 0 : wanted;
  if (Math.abs(list.scrollTop - top) >= 1) list.scrollTop = top;
}

/** The first turn whose end is in the window. */
function turnAtTop(list: HTMLElement): HTMLElement | undefined {
  const turns = list.querySelectorAll<HTMLElement>('.turn');
  let [low, high] = [0, turns.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const turn = turns[middle];
    if (turn !== undefined && turn.offsetTop + turn.offsetHeight > list.scrollTop + aboveTurn + 4)
      high = middle;
    else low = middle + 1;
  }
  return turns[low];
}

interface HeadProps {
  readonly place: DispatchName;
  readonly shown: 'conversation' | 'time';
  readonly envelope: DispatchEnvelope | null;
  readonly problem: string | null;
}

/** What runs in another product is known as far as its log was read. */
function stateText({ status, source }: DispatchEnvelope): string {
  return status === 'running' && source !== null ? 'running when last seen' : status;
}

/** What a session is called, and its figures. */
export function Head({ place: { task, id }, shown, envelope, problem }: HeadProps) {
  const notes = envelope === null ? [] : [forkNotes([envelope]), openRewindInWords(envelope) ?? []].flat();
  return (
    <header>
      <div class="top">
        <a class="brand" href={addressOf({ kind: 'library', task: null })}>
          Hansard
        </a>
        <h1 dir="auto">{envelope?.title ?? envelope?.role ?? id}</h1>
        <Tabs task={task} id={id} shown={shown} />
      </div>
      {envelope === null ? null : <Figures task={task} id={id} envelope={envelope} />}
      {shown === 'conversation' ? <PlaceMarks on={{ task, id, position: null }} /> : null}
      {problem === null ? null : <p role="alert">{problem}</p>}
      {notes.map((note) => (
        <p class="note" key={note}>
          {note}
        </p>
      ))}
    </header>
  );
}

function Figures({ task, id, envelope }: DispatchName & { readonly envelope: DispatchEnvelope }) {
  const { status, startedAt, model } = envelope;
  const project = projectOf(task, envelope);
  const durationMs = dispatchDuration(envelope);
  const tokens = tokensInWords(envelope);
  const facts = [
    durationMs === null ? null : formatDuration(durationMs),
    tokens === null ? null : `${tokens} tokens`,
    formatSpending(spendingOf(envelope)),
  ].filter((fact) => fact !== null);
  return (
    <p class="figures dim">
      <span class={`state ${status}${envelope.source === null ? '' : ' imported'}`}>
        {stateText(envelope)}
      </span>
      <span title={project}>{projectName(project)}</span>
      {model === null ? null : <span>{model}</span>}
      {startedAt === null ? null : (
        <span title={`${timeText(startedAt)} UTC`}>{agoText(startedAt, Date.now())}</span>
      )}
      {facts.map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
      <Resume command={resumeCommand({ task, id }, envelope)} />
    </p>
  );
}

/** Copies the command that continues the session in its product. The page continues no session of another product. */
function Resume({ command }: { readonly command: string | null }) {
  const [copied, setCopied] = useState('');
  if (command === null) return null;
  const copy = () =>
    navigator.clipboard.writeText(command).then(
      () => setCopied('Copied. Paste it into a terminal.'),
      () => setCopied(command),
    );
  return (
    <span>
      <button type="button" class="chip" title={command} onClick={() => void copy()}>
        Copy resume command
      </button>{' '}
      <output>{copied}</output>
    </span>
  );
}

const markWords = {
  prompt: 'prompt',
  failure: '✗',
  edit: '±',
  compaction: 'compaction',
  person: '★',
} as const;

/** The map with what people marked. */
function withPersons(map: SessionMap | null, persons: readonly PersonsMark[]): SessionMap | null {
  if (map === null) return null;
  const own = new Map<number, Mark>();
  for (const { on, kind, text, rating, reader } of persons) {
    if (on === null || on.position === null) continue;
    const words = `${kind} ${kind === 'rating' ? `${rating}/5` : text} by ${reader}`;
    const before = own.get(on.position)?.text;
    own.set(on.position, {
      position: on.position,
      kind: 'person',
      text: before === undefined ? words : `${before}, ${words}`,
    });
  }
  if (own.size === 0) return map;
  return {
    ...map,
    // A prompt is the heading of the marks on it.
    marks: [...map.marks, ...own.values()].sort((one, other) => one.position - other.position),
  };
}

/** Marks of the map between two prompts. */
const marksOfPrompt = 40;

interface SideMapProps {
  readonly map: SessionMap | null;
  readonly problem: string | null;
  readonly current: number | null;
  onJump(position: number): void;
}

/** The prompts as headings, with the failures and edits after each, and where the reader is. */
function SideMap({ map, problem, current, onJump }: SideMapProps) {
  if (map === null)
    return (
      <nav class="map" aria-label="Map of the session">
        {problem === null ? null : <p role="alert">{problem}</p>}
      </nav>
    );
  const parts: { prompt: Mark | null; marks: Mark[] }[] = [];
  for (const mark of map.marks) {
    if (mark.kind === 'prompt' || parts.length === 0)
      parts.push({ prompt: mark.kind === 'prompt' ? mark : null, marks: [] });
    if (mark.kind !== 'prompt') parts.at(-1)?.marks.push(mark);
  }
  const count = (kind: Mark['kind']) => map.marks.filter((mark) => mark.kind === kind).length;
  const here = parts.findLast(
    ({ prompt }) => prompt !== null && prompt.position <= (current ?? Number(map.marks[0]?.position)),
  );
  return (
    <nav class="map" aria-label="Map of the session">
      <p class="dim">
        {formatCount(count('prompt'), 'prompt')}, {formatCount(count('edit'), 'edit')},{' '}
        {formatCount(count('failure'), 'failure')}
        {map.first > 0 || map.isCut ? ', of the last events' : ''}
      </p>
      <ol>
        {parts.map(({ prompt, marks }, at) => (
          <li key={prompt?.position ?? `first ${at}`}>
            {prompt === null ? null : (
              <button
                type="button"
                class="prompt"
                dir="auto"
                aria-current={here?.prompt === prompt ? 'true' : undefined}
                onClick={() => onJump(prompt.position)}
              >
                {prompt.text}
              </button>
            )}
            {marks.length === 0 ? null : (
              <span class="marks">
                {marks.slice(0, marksOfPrompt).map(({ position, kind, text }) => (
                  <button
                    key={position}
                    type="button"
                    class={kind}
                    title={text}
                    aria-label={`${kind} ${text}`}
                    onClick={() => onJump(position)}
                  >
                    {markWords[kind]}
                  </button>
                ))}
                {marks.length > marksOfPrompt ? ` +${marks.length - marksOfPrompt}` : ''}
              </span>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

interface TurnProps {
  readonly turn: Turn;
  /** Where the session worked: paths below it are shown from there. */
  readonly folder: string | null;
  /** The event that is open beside. */
  readonly isOpen: number | null;
  readonly state: ConversationState;
  onOpen(position: number): void;
}

function TurnView({ turn: { position, said, run }, folder, isOpen, state, onOpen }: TurnProps) {
  if (said !== null) return <Said item={said} isOpen={isOpen === position} onOpen={onOpen} />;
  return <Run position={position} run={run} folder={folder} isOpen={isOpen} state={state} onOpen={onOpen} />;
}

interface ItemProps {
  readonly item: ConversationItem;
  readonly isOpen: boolean;
  onOpen(position: number): void;
}

/** What was said or received, whole. */
function Said({ item, isOpen, onOpen }: ItemProps) {
  const { position, kind, words, agent, agentId, head, time, isPrompt, isCut, notes } = item;
  const blocks = words?.blocks ?? [];
  const who = kind === 'message' ? head.replace(/^from /, '') : agent;
  return (
    <article
      class={`turn ${kind}${isPrompt ? ' prompt' : ''}${isOpen ? ' open' : ''}`}
      data-position={position}
    >
      <p class="who">
        {who === '' ? null : <b class={isPrompt ? '' : `colour-${colourOf(agentId)}`}>{who}</b>}
        <button
          type="button"
          class="place"
          aria-label={`${clockText(time).slice(0, 8)}, open event ${position}`}
          title={`Event ${position}`}
          onClick={() => onOpen(position)}
        >
          <time>{clockText(time).slice(0, 8)}</time>
        </button>
      </p>
      {blocks.map((block, at) =>
        block.source !== 'content' ? null : block.kind === 'text' ? (
          block.isProse || isPrompt ? (
            <Markdown key={at} text={block.text} />
          ) : (
            <pre key={at} class="prose plain" dir="auto">
              {block.text}
            </pre>
          )
        ) : block.kind === 'media' ? (
          <button key={at} type="button" onClick={() => onOpen(position)}>
            {block.text}
          </button>
        ) : null,
      )}
      {notes === '' ? null : <p class="dim heard">{notes}</p>}
      <MarksBelow positions={[position]} />
      {isCut ? (
        <button type="button" onClick={() => onOpen(position)}>
          It is longer: show the event
        </button>
      ) : null}
    </article>
  );
}

interface RunProps extends Pick<TurnProps, 'folder'> {
  readonly position: number;
  readonly run: readonly ConversationItem[];
  readonly isOpen: number | null;
  readonly state: ConversationState;
  onOpen(position: number): void;
}

/** Rows of a run that are drawn. */
const mostOfRun = 500;

/** A run of calls and thoughts on one line, which opens. A row that stands alone is shown itself. */
function Run({ position, run, folder, isOpen, state, onOpen }: RunProps) {
  const [isShown, setShown] = useState(false);
  const holds = isOpen !== null && run.some((item) => item.position === isOpen);
  const calls = run.flatMap(({ tool, time, durationMs, isFailed }) =>
    tool === null ? [] : { tool, time, durationMs, isFailed },
  );
  const thoughts = run.filter(({ kind, text }) => kind === 'thought' && text !== '').length;
  const others = run.length - calls.length - thoughts;
  const isFolded = calls.length > 1 || run.length > 3;
  const words = [
    ...(calls.length === 0 ? [] : [callsInWords(calls)]),
    ...(thoughts === 0 ? [] : [`${thoughts} ${thoughts === 1 ? 'thought' : 'thoughts'}`]),
    ...(others === 0 ? [] : [`${others} ${others === 1 ? 'record' : 'records'}`]),
  ].join(' · ');
  const isFailed = run.some((item) => item.isFailed);
  return (
    <section class={`turn work${isFailed ? ' failed' : ''}`} data-position={position}>
      {isFolded ? (
        <button
          type="button"
          class="fold"
          aria-expanded={isShown || holds}
          onClick={() => setShown(!isShown)}
        >
          {words}
        </button>
      ) : null}
      {isFolded && !isShown && !holds ? null : (
        <ol>
          {run.slice(0, mostOfRun).map((item) => (
            <li key={item.position}>
              <RunRow
                item={folder === null ? item : { ...item, head: item.head.replaceAll(`${folder}/`, '') }}
                isOpen={item.position === isOpen}
                onOpen={
                  item.kind === 'branch' || item.kind === 'copies'
                    ? () => void state.openBranch(item.position)
                    : onOpen
                }
              />
            </li>
          ))}
          {run.length > mostOfRun ? (
            <li class="dim">and {countText(run.length - mostOfRun)} more: the events have them</li>
          ) : null}
        </ol>
      )}
      <MarksBelow positions={run.map((item) => item.position)} />
    </section>
  );
}

function RunRow({ item, isOpen, onOpen }: ItemProps) {
  const classes = ['line', item.kind, item.tone, isOpen ? 'current' : ''];
  return (
    <button type="button" class={classes.filter(Boolean).join(' ')} onClick={() => onOpen(item.position)}>
      <RowCells row={item} agent={item.agent} />
    </button>
  );
}

/** Where more is read when it comes near the window. */
function Edge({
  state,
  direction,
}: {
  readonly state: ConversationState;
  readonly direction: 'start' | 'end';
}) {
  const place = useRef<HTMLDivElement>(null);
  const isDone = direction === 'start' ? state.isAtStart : state.isAtEnd;
  useEffect(() => {
    if (isDone || place.current === null) return;
    const near = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) void state.more(direction);
      },
      { rootMargin: '800px' },
    );
    near.observe(place.current);
    return () => near.disconnect();
  });
  return isDone ? null : (
    <div ref={place} class="dim edge">
      …
    </div>
  );
}

function Ending({
  envelope,
  state,
}: {
  readonly envelope: DispatchEnvelope | null;
  readonly state: ConversationState;
}) {
  if (envelope === null || !state.isAtEnd) return null;
  const { status, source, completedAt } = envelope;
  const words = stateText(envelope);
  return (
    <p class={`ending state ${status}${source === null ? '' : ' imported'}`}>
      {words}
      {completedAt === null ? '' : ` ${agoText(completedAt, Date.now())}`}
    </p>
  );
}

interface KeyContext {
  readonly place: ConversationPlace;
  readonly marks: readonly Mark[];
  /** How many events there are. */
  readonly end: number;
  readonly turns: readonly Turn[];
  readonly current: number | null;
  jump(position: number): void;
  setOpen(position: number | null): void;
  setAll(): void;
  toggleBookmark(position: number): void;
}

function useConversationKeys(keys: KeyContext): void {
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (onConversationKey(event.key, keys)) event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}

/** Whether the key means something here. */
function onConversationKey(
  key: string,
  { place, marks, end, turns, current, jump, setOpen, setAll, toggleBookmark }: KeyContext,
): boolean {
  const { task, id, open = null } = place;
  const kind = ({ p: 'prompt', f: 'failure', d: 'edit' } as const)[key.toLowerCase()];
  const at = current ?? turns[0]?.position ?? 0;
  if (kind !== undefined) {
    const own = marks.filter((mark) => mark.kind === kind).map(({ position }) => position);
    const next =
      key === key.toLowerCase()
        ? own.find((position) => position > at)
        : own.findLast((position) => position < at);
    if (next !== undefined) jump(next);
  } else if (key === 'j' || key === 'k') {
    const index = turns.findLastIndex(({ position }) => position <= at);
    const next = turns[key === 'j' ? index + 1 : index - 1];
    if (next !== undefined) jump(next.position);
  } else if (key === 'g') jump(0);
  else if (key === 'G') jump(Math.max(turns.at(-1)?.position ?? 0, end - 1));
  else if (key === 'Enter' && document.activeElement?.tagName !== 'BUTTON') setOpen(at);
  else if (key === 'b')
    toggleBookmark(open ?? turns.findLast(({ position }) => position <= at)?.position ?? at);
  else if (key === 'h') setAll();
  else if (key === 'e') goTo({ kind: 'reader', task, id, at: current }, 'push');
  else if (key === '/') goTo({ kind: 'reader', task, id, at: current }, 'push');
  else if (key === 'Escape' && open !== null) setOpen(null);
  else return false;
  return true;
}
