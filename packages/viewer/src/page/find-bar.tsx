import { useRef } from 'preact/hooks';
import { everything, isEverything, type Query } from './find.ts';
import type { ReaderState } from './reader-state.ts';
import { countText } from './words.ts';

/** Milliseconds without a key after which a text is searched for. */
const typingMs = 200;
const kinds = [
  ['said', 'said'],
  ['message', 'received'],
  ['call', 'calls'],
  ['thought', 'thoughts'],
  ['aside', 'beside calls'],
  ['noise', 'harness records'],
  ['event', 'others'],
] as const;

/** Finds rows by text, agent, kind and failure. Next and previous, or those rows alone. */
export function FindBar({ reader }: { readonly reader: ReaderState }) {
  const timer = useRef<number | undefined>(undefined);
  const { search } = reader;
  const query = search?.query ?? everything;
  // The query may have changed since this was drawn.
  const change = (part: Partial<Query>) => reader.find({ ...(reader.search?.query ?? everything), ...part });
  return (
    <search class="find">
      <input
        type="search"
        id="find"
        aria-label="Find in this dispatch"
        placeholder="Find ( / )"
        onInput={({ currentTarget: { value } }) => {
          clearTimeout(timer.current);
          timer.current = setTimeout(() => change({ text: value }), typingMs);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') reader.next(event.shiftKey ? -1 : 1);
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
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
            {name || 'dispatched agent'}
          </option>
        ))}
      </select>
      <label>
        <input
          type="checkbox"
          checked={query.failed}
          onChange={({ currentTarget }) => change({ failed: currentTarget.checked })}
        />
        failed
      </label>
      {search === null || isEverything(query) ? null : (
        <>
          <output>
            {countText(search.positions.length)} {search.positions.length === 1 ? 'row' : 'rows'}
            {search.isDone ? '' : ` in the first ${countText(search.scanned)} events …`}
          </output>
          <button type="button" aria-label="Previous" onClick={() => reader.next(-1)}>
            ▲
          </button>
          <button type="button" aria-label="Next" onClick={() => reader.next(1)}>
            ▼
          </button>
          <label>
            <input
              type="checkbox"
              checked={reader.showsHitsOnly}
              onChange={({ currentTarget }) => reader.showOnlyHits(currentTarget.checked)}
            />
            only these
          </label>
          {search.problem === null ? null : <p role="alert">{search.problem}</p>}
        </>
      )}
    </search>
  );
}
