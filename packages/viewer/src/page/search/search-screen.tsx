import { useEffect, useRef, useState } from 'preact/hooks';
import type { SearchEnd, SearchedDispatch, SearchedEvent } from '../../answers.ts';
import { isTyping } from '../is-typing.ts';
import { addressOf, goTo, type SearchPlace } from '../place-in-address.ts';
import { clockText, colourOf, countText, timeText } from '../words.ts';

const nothing: SearchState = { found: [], searched: 0, isRunning: false, end: null, problem: null };

/** Milliseconds without a key after which a text is searched for. */
const typingMs = 400;

/** The events of all tasks, or of one, that have the words of a text. */
export function SearchScreen({ place }: { readonly place: SearchPlace }) {
  const { text, task } = place;
  const [turn, setTurn] = useState(0);
  const [state, stop] = useSearch(text, task, turn);
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => {
    document.title = `${text === '' ? 'Find' : `Find ${text}`} · Hansard`;
    if (timer.current === undefined && input.current !== null) input.current.value = text;
  }, [text]);
  useEffect(() => {
    if (text === '') input.current?.focus();
    return () => clearTimeout(timer.current);
  }, []);
  useEffect(() => {
    addEventListener('keydown', onSearchKey);
    return () => removeEventListener('keydown', onSearchKey);
  }, []);
  const look = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    const wanted = input.current?.value ?? '';
    // While somebody types, the texts are one step.
    if (wanted !== text) goTo({ ...place, text: wanted }, text === '' || wanted === '' ? 'push' : 'replace');
  };
  const latest = useRef(look);
  latest.current = look;
  return (
    <main class="library">
      <header>
        <a class="brand" href={addressOf({ kind: 'library', task: null })}>
          Hansard
        </a>
        <h1>{task === null ? 'Find in all tasks' : `Find in ${task}`}</h1>
        {task === null ? null : <a href={addressOf({ ...place, task: null })}>In all tasks</a>}
      </header>
      <search class="search">
        <input
          type="search"
          id="search"
          aria-label="Words"
          placeholder="Words ( / )"
          ref={input}
          onInput={() => {
            clearTimeout(timer.current);
            timer.current = setTimeout(() => latest.current(), typingMs);
          }}
          onKeyDown={({ key, currentTarget }) => {
            if (key === 'Escape') currentTarget.blur();
            if (key !== 'Enter') return;
            if (currentTarget.value === text) setTurn(turn + 1);
            else look();
          }}
        />
        {text.trim() === '' ? null : <output>{stateText(state)}</output>}
        {state.isRunning ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : null}
      </search>
      <Results state={state} />
    </main>
  );
}

/** Milliseconds without a key after which the contents are searched. */
const restMs = 300;

/** The hits of a session that are shown beside titles. */
const hitsOfSession = 4;

/** The events that have the words of a text, below the sessions whose titles have them. */
export function Contents({ text, task }: { readonly text: string; readonly task: string | null }) {
  const [wanted, setWanted] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setWanted(text.trim().length < 2 ? '' : text), restMs);
    return () => clearTimeout(timer);
  }, [text]);
  const [state] = useSearch(wanted, task, 0);
  if (wanted === '') return null;
  return (
    <section class="contents" aria-label="In contents">
      <h2>
        In contents <output class="dim">{stateText(state)}</output>{' '}
        <a href={addressOf({ kind: 'search', text: wanted, task })}>all hits</a>
      </h2>
      <Results state={state} most={hitsOfSession} />
    </section>
  );
}

function Results({
  state,
  most = Number.POSITIVE_INFINITY,
}: {
  readonly state: SearchState;
  readonly most?: number;
}) {
  return (
    <>
      {state.problem === null ? null : <p role="alert">{state.problem}</p>}
      {(state.end?.problems ?? []).map((problem) => (
        <p role="alert" key={problem}>
          Not searched: {problem}
        </p>
      ))}
      {state.end !== null && state.found.length === 0 ? (
        <p>Whole words are found, in any order. Try fewer words, or other forms of them.</p>
      ) : null}
      {state.found.map((one) => (
        <Found key={`${one.taskDir}/${one.dispatchId}`} one={one} most={most} />
      ))}
    </>
  );
}

function stateText({ found, searched, isRunning, end }: SearchState): string {
  const hits = found.reduce((sum, one) => sum + one.hits.length, 0);
  const counted = `${countText(hits)} ${hits === 1 ? 'event' : 'events'} in ${countText(found.length)} ${found.length === 1 ? 'session' : 'sessions'}`;
  if (isRunning) return searched === 0 ? `${counted} …` : `${counted} · ${countText(searched)} read …`;
  if (end === null) return `${counted} · not all were read`;
  return end.isCut ? `${counted} · there can be more` : counted;
}

/** Focuses the next or the previous hit, or the text. */
function onSearchKey(event: KeyboardEvent): void {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(target)) return;
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[key];
  if (key === '/') document.getElementById('search')?.focus();
  else if (step !== undefined) {
    const hits = [...document.querySelectorAll<HTMLElement>('.hits a')];
    const at = hits.indexOf(document.activeElement as HTMLElement);
    hits[Math.max(0, Math.min(hits.length - 1, at + step))]?.focus();
  } else return;
  event.preventDefault();
}

function Found({ one, most }: { readonly one: SearchedDispatch; readonly most: number }) {
  const { taskDir: task, dispatchId: id, project, title, startedAt, hits } = one;
  return (
    <section class="found">
      <h2>
        <a href={addressOf({ kind: 'reader', task, id, at: null })}>{title}</a>
      </h2>
      <p class="dim">
        {project} · {timeText(startedAt)}
        {hits.length > most ? ` · ${countText(hits.length - most)} more` : ''}
      </p>
      <ol class="hits">
        {hits.slice(0, most).map((hit) => (
          <Hit
            key={hit.position}
            hit={hit}
            address={addressOf({ kind: 'reader', task, id, at: hit.position, open: hit.position })}
          />
        ))}
      </ol>
    </section>
  );
}

function Hit({ hit, address }: { readonly hit: SearchedEvent; readonly address: string }) {
  const { position, time, agent, word, parts } = hit;
  return (
    <li>
      <a class="hit" href={address}>
        <span class="at">{position}</span>
        <time>{clockText(time).slice(0, 8)}</time>
        <span class={`agent colour-${colourOf(agent)}`}>{agent}</span>
        <span class="word">{word}</span>
        <span class="text" dir="auto">
          {parts.map(({ text, isWord }, at) => (isWord ? <mark key={at}>{text}</mark> : text))}
        </span>
      </a>
    </li>
  );
}

interface SearchState {
  readonly found: readonly SearchedDispatch[];
  /** How many dispatches were read before. */
  readonly searched: number;
  readonly isRunning: boolean;
  /** Null: it did not reach its end. */
  readonly end: SearchEnd | null;
  readonly problem: string | null;
}

/** Searches as long as the screen is shown, or until `stop`. Another text, task or turn begins again. */
function useSearch(text: string, task: string | null, turn: number): readonly [SearchState, () => void] {
  const [state, setState] = useState(nothing);
  const [source, setSource] = useState<EventSource | null>(null);
  useEffect(() => {
    if (text.trim() === '') {
      setState(nothing);
      return;
    }
    const parameters = new URLSearchParams({ text, ...(task === null ? {} : { task }) });
    const search = new EventSource(`/api/search?${parameters}`);
    setSource(search);
    setState({ ...nothing, isRunning: true });
    const change = (part: Partial<SearchState>) => setState((last) => ({ ...last, ...part }));
    const finish = (part: Partial<SearchState>) => {
      search.close();
      change({ ...part, isRunning: false });
    };
    search.onmessage = ({ data }) => {
      const one = JSON.parse(data) as SearchedDispatch;
      setState((last) => ({ ...last, found: [...last.found, one] }));
    };
    search.addEventListener('searched', ({ data }) => change({ searched: Number(data) }));
    search.addEventListener('done', ({ data }) => finish({ end: JSON.parse(data) as SearchEnd }));
    search.addEventListener('failed', ({ data }) =>
      finish({ problem: (JSON.parse(data) as { message: string }).message }),
    );
    // The browser would begin again, and find everything twice.
    search.onerror = () => finish({ problem: 'The connection was lost before the end of the search.' });
    return () => search.close();
  }, [text, task, turn]);
  const stop = () => {
    source?.close();
    setState((last) => ({ ...last, isRunning: false }));
  };
  return [state, stop];
}
