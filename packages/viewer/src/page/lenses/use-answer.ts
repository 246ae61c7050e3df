import { useEffect, useState } from 'preact/hooks';
import { ask } from '../api.ts';

export interface Asked<Answer> {
  /** Null: it is read for the first time. */
  readonly answer: Answer | null;
  readonly problem: string | null;
  again(): void;
}

/** An answer of the server, asked for again when the store changes, as long as `isLive` says so of the last answer. */
export function useAnswer<Answer>(path: string, isLive: (answer: Answer) => boolean): Asked<Answer> {
  const [asked, setAsked] = useState<{ path: string; answer: Answer } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [turn, setTurn] = useState(0);
  const answer = asked?.path === path ? asked.answer : null;
  const follows = answer !== null && isLive(answer);
  useEffect(() => {
    const asking = new AbortController();
    ask<Answer>(path, asking.signal).then(
      (answer) => {
        if (asking.signal.aborted) return;
        setAsked({ path, answer });
        setProblem(null);
      },
      (error: Error) => {
        if (!asking.signal.aborted) setProblem(error.message);
      },
    );
    return () => asking.abort();
  }, [path, turn]);
  const again = () => setTurn((last) => last + 1);
  useEffect(() => {
    if (!follows) return;
    const changes = new EventSource('/api/changes');
    changes.onmessage = again;
    // A connection begins: what changed before it is not reported.
    changes.addEventListener('hello', again);
    return () => changes.close();
  }, [path, follows]);
  return { answer, problem, again };
}
