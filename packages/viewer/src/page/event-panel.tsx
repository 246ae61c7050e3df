import type { CapturedEvent } from '@hansard/events';
import { useEffect, useState } from 'preact/hooks';
import type { EventDetail, EventLink } from '../answers.ts';
import { type DispatchName, linePath, readEvent, readHistory, readLine } from './api.ts';
import { commandPlace } from './command-place.ts';
import { addressOf } from './place-in-address.ts';
import { RowDetail } from './row-words.tsx';
import { countText, timeText } from './words.ts';

interface EventPanelProps {
  readonly name: DispatchName;
  readonly position: number;
  /** Changes when the row of the event does. */
  readonly version: string;
  /** Shows another event of the dispatch. */
  onShow(position: number): void;
  onClose(): void;
}

/** One event: its row, whole, what it came from and brought about, and its fields as JSON. */
export function EventPanel({ name, position, version, onShow, onClose }: EventPanelProps) {
  const { detail, problem } = useEvent(name, position, version);
  const [isJson, setJson] = useState(false);
  // Until an event is read, the one before it stays, under its own number.
  const shown = problem === null && detail !== null ? detail.position : position;
  return (
    <aside aria-label={`Event ${shown}`}>
      <header>
        <h2>Event {shown}</h2>
        <button type="button" aria-pressed={isJson} onClick={() => setJson(!isJson)}>
          JSON
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </header>
      {problem === null ? null : <p role="alert">{problem}</p>}
      {detail?.position === shown ? (
        <Detail name={name} detail={detail} isJson={isJson} onShow={onShow} />
      ) : null}
    </aside>
  );
}

function useEvent(name: DispatchName, position: number, version: string) {
  const [detail, setDetail] = useState<EventDetail | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isOver = false;
    setProblem(null);
    readEvent(name, position).then(
      (answer) => isOver || setDetail(answer),
      (error: Error) => isOver || setProblem(error.message),
    );
    return () => {
      isOver = true;
    };
  }, [name, position, version]);
  return { detail, problem };
}

interface DetailProps {
  readonly name: DispatchName;
  readonly detail: EventDetail;
  readonly isJson: boolean;
  onShow(position: number): void;
}

function Detail({ name, detail, isJson, onShow }: DetailProps) {
  const { position } = detail;
  return (
    <>
      <p>
        {detail.event.type} · {timeText(detail.event.timestamp)} UTC
        {detail.model === null ? '' : ` · ${detail.model}`}
      </p>
      {detail.isCut ? (
        <p class="note">
          This event has {countText(detail.characters)} characters: its texts are cut here.{' '}
          <a href={linePath(name, position)}>The whole line</a>
        </p>
      ) : null}
      {isJson || detail.words === null ? (
        <pre class="fields">{detail.json}</pre>
      ) : (
        <RowDetail words={detail.words} onShow={onShow} />
      )}
      <Links title="Because of" links={detail.causes} onShow={onShow} />
      <Links title="Brought about" links={detail.effects} onShow={onShow} />
      {isOfCall(detail) ? (
        <p>
          <a href={addressOf({ kind: 'context', ...name, call: position, end: null })}>
            What the model was given
          </a>
        </p>
      ) : null}
      <Copying name={name} detail={detail} />
      <p class="command">
        The same in a terminal: <code>{commandOf(name, position)}</code>
      </p>
      <p class="command">
        All of its causes: <code>{`hansard why ${commandPlace(name)} ${position}`}</code>
      </p>
    </>
  );
}

interface CopyingProps {
  readonly name: DispatchName;
  readonly detail: EventDetail;
}

/** Copies an event in several forms, and says what was copied until another event is shown. */
function Copying({ name, detail }: CopyingProps) {
  const { position } = detail;
  const [copied, setCopied] = useState('');
  useEffect(() => setCopied(''), [name, position]);
  const copy = async (what: string, text: string | Promise<string>) => {
    try {
      await navigator.clipboard.writeText(await text);
      setCopied(`${what} copied.`);
    } catch (error) {
      setCopied(`${what} not copied: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  return (
    <>
      <h3>Copy</h3>
      <p class="buttons">
        <button
          type="button"
          onClick={() =>
            copy(
              'Text',
              wholeEvent(name, detail).then((event) => textOf(event, detail.json)),
            )
          }
        >
          Text
        </button>
        <button
          type="button"
          onClick={() =>
            copy(
              'JSON line',
              wholeEvent(name, detail).then((event) => JSON.stringify(event)),
            )
          }
        >
          JSON line
        </button>
        <button
          type="button"
          onClick={() =>
            copy(
              'History',
              readHistory(name, position).then(({ text }) => text),
            )
          }
        >
          History up to here
        </button>
        <output>{copied}</output>
      </p>
    </>
  );
}

interface LinksProps {
  readonly title: string;
  readonly links: readonly EventLink[];
  onShow(position: number): void;
}

function Links({ title, links, onShow }: LinksProps) {
  if (links.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="links">
        {links.map(({ kind, position, text }) => (
          <li key={`${kind} ${position ?? text}`}>
            {position === null ? (
              <span>{text} is not near this event</span>
            ) : (
              <button type="button" onClick={() => onShow(position)}>
                {position}
              </button>
            )}{' '}
            {position === null ? '' : text} <span class="dim">{kind}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function isOfCall({ event, model }: EventDetail): boolean {
  return event.type === 'agent:inference' || model !== null;
}

/** The event as recorded, also where it is shown cut. */
async function wholeEvent(
  name: DispatchName,
  { position, isCut, event }: EventDetail,
): Promise<CapturedEvent> {
  return isCut ? (JSON.parse(await readLine(name, position)) as CapturedEvent) : event;
}

/** What is copied as text: the content as recorded. */
function textOf({ data }: CapturedEvent, json: string): string {
  const text = data.text ?? data.output ?? data.error;
  return typeof text === 'string' && text !== '' ? text : json;
}

function commandOf(name: DispatchName, position: number): string {
  return `hansard show ${commandPlace(name)} ${position} -n 1 --raw --json`;
}
