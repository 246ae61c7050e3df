import type { DispatchEnvelope } from '@hansard/events';
import type { LiveRows, TreeEntry, WritingMessage } from '../answers.ts';
import { type DispatchName, pathOf } from './api.ts';

export interface LiveListener {
  /** The rows that the events up to `end` began or completed. `first` is the first of these events. */
  onRows(rows: LiveRows, first: number): void;
  onEnvelope(envelope: DispatchEnvelope): void;
  onTree(tree: readonly TreeEntry[]): void;
  /** What agents are writing, of a dispatch that runs in the process of the viewer. */
  onWriting(message: WritingMessage): void;
  /** The viewer does not answer, and why; null: it answers again, and nothing is missing. */
  onConnection(problem: string | null): void;
  /** The rows end, and why. */
  onEnd(message: string): void;
}

/** Milliseconds between attempts to reach a viewer that does not answer. */
const againMs = 1_000;

/** Milliseconds. A page that nobody sees gives its connection back: a browser has six for one address. */
const hiddenMs = 30_000;

/**
 * Follows a dispatch from a position, also over lost connections and a viewer that was ended and started again. It continues after the last
 * event that it has, so that no row is lost or comes twice. Returns the function that ends it.
 */
export function followRows(name: DispatchName, after: number, listener: LiveListener): () => void {
  let position = after;
  let source: EventSource | null = null;
  let hiding: ReturnType<typeof setTimeout> | undefined;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  let isLost = false;
  let isOver = false;
  const close = () => {
    clearTimeout(waiting);
    source?.close();
    source = null;
  };
  const end = (message: string) => {
    stop();
    listener.onEnd(message);
  };
  const lost = async () => {
    close();
    const answer = await whyLost(name);
    // Meanwhile the page can be closed, or hidden and shown again.
    if (isOver || source !== null) return;
    if (answer.isGone) return end(answer.problem);
    if (answer.problem !== '') {
      isLost = true;
      listener.onConnection(answer.problem);
    }
    waiting = setTimeout(open, againMs);
  };
  const open = () => {
    if (source !== null) return;
    clearTimeout(waiting);
    source = new EventSource(`${pathOf(name)}/live?after=${position}`);
    source.onerror = () => void lost();
    // A store that cannot be read is known only after the connection is open.
    source.addEventListener('caught_up', () => {
      if (isLost) listener.onConnection(null);
      isLost = false;
    });
    source.onmessage = ({ data }) => {
      const rows = JSON.parse(data) as LiveRows;
      if (rows.end <= position) return;
      const first = position + 1;
      position = rows.end;
      listener.onRows(rows, first);
    };
    source.addEventListener('envelope', ({ data }) => listener.onEnvelope(JSON.parse(data)));
    source.addEventListener('tree', ({ data }) => listener.onTree(JSON.parse(data)));
    source.addEventListener('writing', ({ data }) => listener.onWriting(JSON.parse(data)));
    source.addEventListener('over', () =>
      end('The run has ended, and its page with it. `hansard view` shows the log.'),
    );
    source.addEventListener('gone', () => end('This dispatch was deleted.'));
    source.addEventListener('reset', () => end('This dispatch was replaced. Load the page again.'));
    source.addEventListener('failed', ({ data }) => {
      close();
      isLost = true;
      listener.onConnection(`${(JSON.parse(data) as { message: string }).message} Trying again.`);
      waiting = setTimeout(open, againMs);
    });
  };
  const onVisibility = () => {
    clearTimeout(hiding);
    if (document.visibilityState === 'visible') open();
    else hiding = setTimeout(close, hiddenMs);
  };
  const stop = () => {
    isOver = true;
    clearTimeout(hiding);
    document.removeEventListener('visibilitychange', onVisibility);
    close();
  };
  document.addEventListener('visibilitychange', onVisibility);
  open();
  return stop;
}

interface Lost {
  /** '': the viewer answers. */
  readonly problem: string;
  /** There is no such dispatch any more. */
  readonly isGone: boolean;
}

/** An event source does not say what was answered. */
async function whyLost(name: DispatchName): Promise<Lost> {
  try {
    const answer = await fetch(pathOf(name));
    if (answer.ok) return { problem: '', isGone: false };
    if (answer.status === 404) return { problem: 'This dispatch was deleted.', isGone: true };
    if (answer.status === 401)
      return {
        problem:
          'The viewer was started again. Open the address that it printed in this browser; this page then continues.',
        isGone: false,
      };
    const { message } = (await answer.json().catch(() => ({}))) as { readonly message?: string };
    const reason = message ?? `The viewer answered ${answer.status}.`;
    return { problem: `${reason} Trying again.`, isGone: false };
  } catch {
    return { problem: 'The viewer does not answer. This page continues when it does.', isGone: false };
  }
}
