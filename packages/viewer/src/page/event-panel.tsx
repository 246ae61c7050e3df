import type { CapturedEvent } from '@hansard/events';
import type { RowWords, WordBlock, WordSource, WordSpan } from '@hansard/views';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type EventDetail, type EventLink, shownImages } from '../answers.ts';
import {
  contentPath,
  type DispatchName,
  linePath,
  readEvent,
  readHistory,
  readImage,
  readLine,
} from './api.ts';
import { PlaceMarks } from './marks.tsx';
import { addressOf } from './place-in-address.ts';
import { commandPlace, countText, timeText } from './words.ts';

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
      <PlaceMarks on={{ ...name, position }} />
      {isJson || detail.words === null ? (
        <pre class="fields">{detail.json}</pre>
      ) : (
        <RowDetail name={name} words={detail.words} onShow={onShow} />
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

/** Characters. Of a longer text the beginning is shown, until all of it is asked for. */
const longestText = 50_000;

interface ShownWords {
  readonly name: DispatchName;
  /** Harmless. Nothing of it is taken as HTML. */
  readonly words: RowWords;
  /** Shows another event of the dispatch. */
  onShow(position: number): void;
}

/** A row, whole. */
export function RowDetail({ name, words: { kind, isFailed, spans, blocks }, onShow }: ShownWords) {
  const textOf = (isFigure: boolean) =>
    spans.flatMap(({ label, text }) => ((label === 'figure') === isFigure ? text : []));
  const figures = textOf(true);
  return (
    <>
      <h3 class={isFailed ? 'bad' : ''}>{[...(isFailed ? ['✗'] : []), ...textOf(false)].join(' ')}</h3>
      {figures.length === 0 ? null : <p class="dim">{figures.join(' · ')}</p>}
      {blocks.map((block, at) => (
        <div key={at} class={`block ${block.source}`}>
          {isFirstOutcome(blocks, at) ? '→' : null}
          <Block name={name} block={block} isOpen={kind === 'noise'} onShow={onShow} />
        </div>
      ))}
    </>
  );
}

function isFirstOutcome(blocks: readonly WordBlock[], at: number): boolean {
  const sourceAt = (place: number): WordSource | undefined => blocks[place]?.source;
  return sourceAt(at) === 'outcome' && sourceAt(at - 1) !== 'outcome';
}

/** Bytes. A larger image is a download. */
const largestImage = 8_000_000;

interface MediaProps {
  readonly name: DispatchName;
  readonly block: Extract<WordBlock, { kind: 'media' }>;
}

/** An image, and other content as a download, if the log has the bytes. */
function Media({ name, block: { media, isRemoved, text } }: MediaProps) {
  const { sha256, mediaType = '', size = 0, isKept } = media;
  if (sha256 === undefined || isKept === false || isRemoved === true) return <p class="dim">{text}</p>;
  const path = contentPath(name, sha256);
  const isShown = shownImages.has(mediaType) && size <= largestImage;
  return (
    <figure class="media">
      {isShown ? <LazyImage key={sha256} name={name} sha256={sha256} type={mediaType} label={text} /> : null}
      <figcaption>
        <a href={path} download={media.name ?? sha256.slice(0, 8)} title="Download">
          {text}
        </a>
      </figcaption>
    </figure>
  );
}

interface LazyImageProps {
  readonly name: DispatchName;
  readonly sha256: string;
  readonly type: string;
  readonly label: string;
}

/** Reads its image when it is near the window. */
function LazyImage({ name, sha256, type, label }: LazyImageProps) {
  const place = useRef<HTMLDivElement>(null);
  const [url, setUrl] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isOver = false;
    const near = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        near.disconnect();
        readImage(name, sha256, type).then(
          (read) => isOver || setUrl(read),
          (error: Error) => isOver || setProblem(error.message),
        );
      },
      { rootMargin: '300px' },
    );
    if (place.current !== null) near.observe(place.current);
    return () => {
      isOver = true;
      near.disconnect();
    };
  }, [name.task, name.id, sha256, type]);
  if (problem !== null) return <p class="note">{`Not shown: ${problem}`}</p>;
  if (url === null)
    return (
      <div ref={place} class="dim waiting">
        …
      </div>
    );
  return <img src={url} alt={label} onError={() => setProblem('the bytes are not an image.')} />;
}

interface BlockProps {
  readonly name: DispatchName;
  readonly block: WordBlock;
  readonly isOpen: boolean;
  onShow(position: number): void;
}

function Block({ name, block, isOpen, onShow }: BlockProps) {
  const label = block.label === undefined ? null : <h4>{block.label}</h4>;
  switch (block.kind) {
    case 'text':
    case 'code':
      return (
        <>
          {label}
          <LongText text={block.text} style={block.kind === 'text' && block.isProse ? 'markdown' : 'code'} />
        </>
      );
    case 'table':
      return (
        <dl>
          {block.rows.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      );
    case 'diff':
      return (
        <>
          {label}
          <pre class="diff">
            {block.lines.map(({ kind, text }, at) => {
              const Tag = ({ same: 'span', removed: 'del', added: 'ins' } as const)[kind];
              const mark = { same: ' ', removed: '-', added: '+' }[kind];
              return <Tag key={at}>{`${mark} ${text}\n`}</Tag>;
            })}
          </pre>
        </>
      );
    case 'media':
      return <Media name={name} block={block} />;
    case 'note':
      return (
        <p class={block.tone}>
          <Spans spans={block.spans} onShow={onShow} />
        </p>
      );
    case 'changed':
      return (
        <>
          {label}
          <pre class="body altered" dir="auto">
            {block.parts.map(({ kind, text }, at) => {
              const Tag = ({ same: 'span', removed: 'del', added: 'ins' } as const)[kind];
              return <Tag key={at}>{text}</Tag>;
            })}
          </pre>
        </>
      );
    case 'records':
      return (
        <details open={isOpen}>
          <summary>{block.summary}</summary>
          <ol class="links">
            {block.records.map(({ position, text }) => (
              <li key={position}>
                <Spans spans={[{ label: 'text', text: String(position), position }]} onShow={onShow} /> {text}
              </li>
            ))}
          </ol>
        </details>
      );
  }
}

/** Words of a line. Those about another event lead to it. */
function Spans({ spans, onShow }: { readonly spans: readonly WordSpan[]; onShow(position: number): void }) {
  return (
    <>
      {spans.map(({ text, position }, at) => (
        <>
          {at === 0 ? '' : ' '}
          {position === undefined ? (
            <span key={at}>{text}</span>
          ) : (
            <button key={at} type="button" class="word" onClick={() => onShow(position)}>
              {text}
            </button>
          )}
        </>
      ))}
    </>
  );
}

function LongText({ text, style }: { readonly text: string; readonly style: string }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > longestText;
  return (
    <>
      <pre class={`body ${style}`} dir="auto">
        {isCut ? text.slice(0, longestText) : text}
      </pre>
      {isCut ? (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString('en-GB')} characters
        </button>
      ) : null}
    </>
  );
}
