import type { DispatchEnvelope } from '@hansard/events';
import type { LiveRows, TreeEntry } from '../answers.ts';
import { type DispatchName, pathOf } from './api.ts';

export interface LiveListener {
  /** The rows that the events up to `end` began or completed. `first` is the first of these events. */
  onRows(rows: LiveRows, first: number): void;
  onEnvelope(envelope: DispatchEnvelope): void;
  onTree(tree: readonly TreeEntry[]): void;
  /** The rows end, and why. */
  onEnd(message: string): void;
}

/** Milliseconds. A page that nobody sees gives its connection back: a browser has six for one address. */
const hiddenMs = 30_000;

/** Follows a dispatch from a position, also over lost connections. Returns the function that ends it. */
export function followRows(name: DispatchName, after: number, listener: LiveListener): () => void {
  let position = after;
  let source: EventSource | null = null;
  let timer: number | undefined;
  const close = () => {
    source?.close();
    source = null;
  };
  const end = (message: string) => {
    stop();
    listener.onEnd(message);
  };
  const open = () => {
    if (source !== null) return;
    source = new EventSource(`${pathOf(name)}/live?after=${position}`);
    source.onmessage = ({ data }) => {
      const rows = JSON.parse(data) as LiveRows;
      if (rows.end <= position) return;
      const first = position + 1;
      position = rows.end;
      listener.onRows(rows, first);
    };
    source.addEventListener('envelope', ({ data }) => listener.onEnvelope(JSON.parse(data)));
    source.addEventListener('tree', ({ data }) => listener.onTree(JSON.parse(data)));
    source.addEventListener('gone', () => end('This dispatch was deleted.'));
    source.addEventListener('reset', () => end('This dispatch was replaced. Load the page again.'));
    source.addEventListener('failed', ({ data }) => end((JSON.parse(data) as { message: string }).message));
  };
  const onVisibility = () => {
    clearTimeout(timer);
    if (document.visibilityState === 'visible') open();
    else timer = setTimeout(close, hiddenMs);
  };
  const stop = () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', onVisibility);
    close();
  };
  document.addEventListener('visibilitychange', onVisibility);
  open();
  return stop;
}
