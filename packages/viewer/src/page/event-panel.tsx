import type { CapturedEvent } from '@hansard/events';
import type { Row } from '@hansard/views';
import { useEffect, useState } from 'preact/hooks';
import type { EventDetail, EventLink } from '../answers.ts';
import { type DispatchName, linePath, readEvent, readHistory, readLine } from './api.ts';
import { commandPlace } from './command-place.ts';
import { addressOf } from './place-in-address.ts';
import { Parts } from './row-parts.tsx';
import { countText, durationText, timeText } from './words.ts';

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
  const [detail, setDetail] = useState<EventDetail | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isJson, setJson] = useState(false);
  const [copied, setCopied] = useState('');
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
    <aside aria-label={`Event ${position}`}>
      <header>
        <h2>Event {position}</h2>
        <button type="button" aria-pressed={isJson} onClick={() => setJson(!isJson)}>
          JSON
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </header>
      {problem === null ? null : <p role="alert">{problem}</p>}
      {detail === null ? null : (
        <>
          <p>
            {detail.event.type} · {timeText(detail.event.timestamp)} UTC
          </p>
          {detail.isCut ? (
            <p class="note">
              This event has {countText(detail.characters)} characters: its texts are cut here.{' '}
              <a href={linePath(name, position)}>The whole line</a>
            </p>
          ) : null}
          {isJson || detail.row === null ? (
            <pre class="fields">{detail.json}</pre>
          ) : (
            <RowDetail row={detail.row} onShow={onShow} />
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
          <p class="command">
            The same in a terminal: <code>{commandOf(name, position)}</code>
          </p>
          <p class="command">
            All of its causes: <code>{`hansard why ${commandPlace(name)} ${detail.event.id}`}</code>
          </p>
        </>
      )}
    </aside>
  );
}

function RowDetail({ row, onShow }: { readonly row: Row; onShow(position: number): void }) {
  const { content, call, heard = [], missing = [], decisions = [], folded = [], model } = row;
  return (
    <>
      <h3 class={row.isFailed ? 'bad' : ''}>
        {[row.isFailed ? '✗' : '', row.agent.name, row.word, row.head, row.status ?? '']
          .filter(Boolean)
          .join(' ')}{' '}
        {durationText(row.durationMs ?? null)}
      </h3>
      {model === undefined ? null : (
        <p class="dim">
          {model.name} · {model.usage.outputTokens} tokens out
          {model.costUsd === undefined ? '' : ` · $${model.costUsd.toFixed(4)}`}
        </p>
      )}
      <Parts parts={content} />
      {decisions.map(({ position, hook, on, decision, reason, content: changed }) => (
        <section key={position}>
          <p class={decision === 'deny' ? 'bad' : ''}>
            Hook {hook}: {decision} {on.replaceAll('_', ' ')} {reason}
          </p>
          <Parts parts={changed} />
        </section>
      ))}
      {call === undefined ? null : <h3>Outcome</h3>}
      {call === undefined ? null : call.outcome === null ? (
        <p class="dim">There is no result within the next 300 events.</p>
      ) : call.outcome.length === 0 ? (
        <p class="dim">Not recorded.</p>
      ) : (
        <Parts parts={call.outcome} />
      )}
      {heard.length === 0 ? null : <h3>Said, and received</h3>}
      <ul class="heard">
        {heard.map(({ agent, how, position, text, differences = [] }) => (
          <li key={position}>
            <button type="button" onClick={() => onShow(position)}>
              {agent.name || 'dispatched agent'}
            </button>{' '}
            {how === 'same' ? 'the same words' : how}
            {how === 'altered' ? (
              <pre class="body">
                {differences.map(({ kind, text: piece }, at) => {
                  const Tag = kind === 'added' ? 'ins' : kind === 'removed' ? 'del' : 'span';
                  return <Tag key={at}>{piece}</Tag>;
                })}
              </pre>
            ) : text === undefined ? null : (
              <pre class="body">{text}</pre>
            )}
          </li>
        ))}
      </ul>
      {missing.length === 0 ? null : <p class="dim">Could have and did not: {missing.join(', ')}</p>}
      {folded.length === 0 ? null : (
        <details open={row.kind === 'noise'}>
          <summary>{folded.length === 1 ? '1 record' : `${folded.length} records`} of the harness</summary>
          <ol class="links">
            {folded.map(({ position, word, text }) => (
              <li key={position}>
                <button type="button" onClick={() => onShow(position)}>
                  {position}
                </button>{' '}
                {word} {text}
              </li>
            ))}
          </ol>
        </details>
      )}
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

function isOfCall({ event, row }: EventDetail): boolean {
  return event.type === 'agent:inference' || row?.model !== undefined;
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
  return position === 0
    ? `hansard events ${commandPlace(name)} --json | head -n 1`
    : `hansard tail ${commandPlace(name)} --after ${position - 1} --json | head -n 1`;
}
