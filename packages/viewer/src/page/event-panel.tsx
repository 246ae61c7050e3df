import type { CapturedEvent } from '@hansard/events';
import { useEffect, useState } from 'preact/hooks';
import { type DispatchName, readEvent } from './api.ts';
import { timeText } from './words.ts';

interface EventPanelProps {
  readonly name: DispatchName;
  readonly position: number;
  onClose(): void;
}

/** One event, whole: its text, then its fields as JSON. */
export function EventPanel({ name, position, onClose }: EventPanelProps) {
  const [event, setEvent] = useState<CapturedEvent | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isOver = false;
    setProblem(null);
    readEvent(name, position).then(
      (answer) => isOver || setEvent(answer.event),
      (error: Error) => isOver || setProblem(error.message),
    );
    return () => {
      isOver = true;
    };
  }, [name, position]);
  return (
    <aside aria-label={`Event ${position}`}>
      <header>
        <h2>Event {position}</h2>
        <button type="button" onClick={() => void navigator.clipboard.writeText(JSON.stringify(event))}>
          Copy as JSON
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </header>
      {problem === null ? null : <p role="alert">{problem}</p>}
      {event === null ? null : (
        <>
          <p>
            {event.type} · {timeText(event.timestamp)} UTC
          </p>
          {textOf(event) === null ? null : <pre class="body">{textOf(event)}</pre>}
          <pre class="fields">{JSON.stringify(event, null, 2)}</pre>
          <p class="command">
            The same in a terminal: <code>{commandOf(name, position)}</code>
          </p>
        </>
      )}
    </aside>
  );
}

function textOf({ data }: CapturedEvent): string | null {
  const text = data.text ?? data.output;
  return typeof text === 'string' && text !== '' ? text : null;
}

function commandOf({ task, id }: DispatchName, position: number): string {
  const place = `${task.replace(/^([^/]+)\/tasks\/([^/]+)$/, '$1/$2')} ${id}`;
  return position === 0
    ? `hansard events ${place} --json | head -n 1`
    : `hansard tail ${place} --after ${position - 1} --json | head -n 1`;
}
