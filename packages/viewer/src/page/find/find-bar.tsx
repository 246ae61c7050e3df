import { dispatchedAgent } from '@hansard/views';
import { useEffect, useRef } from 'preact/hooks';
import type { ReaderState } from '../reader-state.ts';
import { countText } from '../words.ts';
import { isEverything, kinds, type Query } from './search.ts';

/** Milliseconds without a key after which a text is searched for. */
const typingMs = 200;

interface FindBarProps {
  readonly reader: ReaderState;
  readonly query: Query;
  readonly isOnlyHits: boolean;
  onQuery(query: Query): void;
  onOnlyHits(isOnly: boolean): void;
  onNext(direction: 1 | -1): void;
}

/** Finds rows by text, agent, kind and failure. Next and previous, or those rows alone. */
export function FindBar({ reader, query, isOnlyHits, onQuery, onOnlyHits, onNext }: FindBarProps) {
  const timer = useRef<number | undefined>(undefined);
  const input = useRef<HTMLInputElement>(null);
  const { search } = reader;
  useEffect(() => {
    // The address has another text, and nobody is typing.
    if (timer.current === undefined && input.current !== null) input.current.value = query.text;
  }, [query.text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (part: Partial<Query>) => onQuery({ ...query, ...part });
  const look = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    if (input.current !== null && input.current.value !== query.text) change({ text: input.current.value });
  };
  const latest = useRef(look);
  latest.current = look;
  return (
    <search class="find">
      <input
        type="search"
        id="find"
        aria-label="Find in this session"
        placeholder="Find ( / )"
        ref={input}
        onInput={() => {
          clearTimeout(timer.current);
          // What else is asked may change meanwhile.
          timer.current = window.setTimeout(() => latest.current(), typingMs);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onNext(event.shiftKey ? -1 : 1);
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <Filters reader={reader} query={query} change={change} />
      <label>
        <input
          type="checkbox"
          checked={query.failed}
          onChange={({ currentTarget }) => change({ failed: currentTarget.checked })}
        />
        failed
      </label>
      {search === null || isEverything(query) ? null : (
        <Hits search={search} isOnlyHits={isOnlyHits} onOnlyHits={onOnlyHits} onNext={onNext} />
      )}
    </search>
  );
}

interface FiltersProps extends Pick<FindBarProps, 'reader' | 'query'> {
  change(part: Partial<Query>): void;
}

function Filters({ reader, query, change }: FiltersProps) {
  return (
    <>
      <select
        aria-label="Kind"
        value={query.kind ?? ''}
        onChange={({ currentTarget: { value } }) => change({ kind: value === '' ? null : value })}
      >
        <option value="">every kind</option>
        {kinds.map(([kind, word]) => (
          <option key={kind} value={kind}>
            {word}
          </option>
        ))}
      </select>
      <select
        aria-label="Agent"
        value={query.agentId ?? '*'}
        onChange={({ currentTarget: { value } }) => change({ agentId: value === '*' ? null : value })}
      >
        <option value="*">every agent</option>
        {reader.agents.map(({ id, name }) => (
          <option key={id} value={id}>
            {name || dispatchedAgent}
          </option>
        ))}
      </select>
    </>
  );
}

interface HitsProps extends Pick<FindBarProps, 'isOnlyHits' | 'onOnlyHits' | 'onNext'> {
  readonly search: NonNullable<ReaderState['search']>;
}

function Hits({ search, isOnlyHits, onOnlyHits, onNext }: HitsProps) {
  return (
    <>
      <output>
        {countText(search.positions.length)} {search.positions.length === 1 ? 'row' : 'rows'}
        {search.isDone ? '' : ` in the first ${countText(search.scanned)} events …`}
      </output>
      <button type="button" aria-label="Previous" onClick={() => onNext(-1)}>
        ▲
      </button>
      <button type="button" aria-label="Next" onClick={() => onNext(1)}>
        ▼
      </button>
      <label>
        <input
          type="checkbox"
          checked={isOnlyHits}
          onChange={({ currentTarget }) => onOnlyHits(currentTarget.checked)}
        />
        only these
      </label>
      {search.problem === null ? null : <p role="alert">{search.problem}</p>}
    </>
  );
}
