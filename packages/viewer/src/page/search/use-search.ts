import { useEffect, useState } from 'preact/hooks';
import type { SearchEnd, SearchedDispatch } from '../../answers.ts';

export interface SearchState {
  readonly found: readonly SearchedDispatch[];
  /** How many dispatches were read before. */
  readonly searched: number;
  readonly isRunning: boolean;
  /** Null: it did not reach its end. */
  readonly end: SearchEnd | null;
  readonly problem: string | null;
}

const nothing: SearchState = { found: [], searched: 0, isRunning: false, end: null, problem: null };

/** Searches as long as the screen is shown, or until `stop`. Another text, task or turn begins again. */
export function useSearch(
  text: string,
  task: string | null,
  turn: number,
): readonly [SearchState, () => void] {
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
