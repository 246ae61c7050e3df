import type { DispatchEnvelope } from '@hansard/events';
import { formatCost, formatDuration, formatTokens } from '@hansard/facts';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { SessionTime, Span, ToolFigures } from '../../answers.ts';
import { pathOf, useAnswer } from '../api.ts';
import { Head } from '../conversation/conversation-screen.tsx';
import { isTyping } from '../is-typing.ts';
import { addressOf, type TimePlace } from '../place-in-address.ts';
import { clockText, countText } from '../words.ts';
import { endOf, firstFrom, type Lane, lanesOf, ShownTime } from './shown-time.ts';

/** A longer log is drawn again only when the page is loaded again. */
const longestLive = 5_000;

/** When the calls of a session began and ended, what each call of a model used, and how its tools did. */
export function TimeScreen({ place }: { readonly place: TimePlace }) {
  const { task, id } = place;
  const { answer: about, problem: unknown } = useAnswer<{ readonly envelope: DispatchEnvelope }>(
    pathOf({ task, id }),
    () => false,
  );
  const { answer, problem } = useAnswer<SessionTime>(
    `${pathOf({ task, id })}/time`,
    ({ end }) => end <= longestLive && about?.envelope.status === 'running',
  );
  useEffect(() => {
    document.title = `Time · ${about?.envelope.title ?? id} · Hansard`;
  });
  return (
    <main class="time">
      <Head place={place} shown="time" envelope={about?.envelope ?? null} problem={problem ?? unknown} />
      {answer === null ? (
        <p aria-busy="true">{problem === null ? 'Reading…' : ''}</p>
      ) : (
        <div class="charts">
          {answer.first > 0 || answer.isCut ? (
            <p class="notice">
              Made from the last {countText(answer.end - answer.first)} of {countText(answer.end)} events,
              with at most 20,000 calls.
            </p>
          ) : null}
          <Waterfall place={place} time={answer} />
          <Tokens place={place} time={answer} />
          <Tools tools={answer.tools} />
          <Longest place={place} spans={answer.spans} />
        </div>
      )}
    </main>
  );
}

function eventAddress({ task, id }: TimePlace, position: number): string {
  return addressOf({ kind: 'reader', task, id, at: position, open: position });
}

interface ChartProps {
  readonly place: TimePlace;
  readonly time: SessionTime;
}

interface View {
  /** In the time that is shown, as is the other. */
  readonly from: number;
  readonly to: number;
}

const rowPx = 16;
const axisPx = 22;
/** Milliseconds that fill the window at the most. */
const leastView = 50;

/** The calls and the model calls of each agent on a time axis. The wheel zooms, dragging moves. */
function Waterfall({ place, time }: ChartProps) {
  const { lanes, left } = useMemo(() => lanesOf(time), [time]);
  const [isShortened, setShortened] = useState(true);
  const shown = useMemo(() => new ShownTime(time.spans, isShortened), [time, isShortened]);
  const [view, setView] = useState<View>({ from: 0, to: shown.total });
  const [hover, setHover] = useState<Span | null>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => setView({ from: 0, to: shown.total }), [shown]);
  const width = useWidth(canvas);
  const height = axisPx + Math.max(1, lanes.length) * rowPx + 4;
  const zoom = (factor: number, at = 0.5) => setView((last) => zoomed(last, factor, at, shown.total));
  const move = (part: number) => setView((last) => moved(last, part, shown.total));
  const all = () => setView({ from: 0, to: shown.total });
  const colours = useColours(canvas);
  useLayoutEffect(() => {
    if (canvas.current !== null && colours !== null && width > 0)
      drawWaterfall(canvas.current, {
        lanes,
        markers: time.spans,
        shown,
        view,
        width,
        height,
        hover,
        colours,
      });
  }, [lanes, shown, view, width, height, hover, colours]);
  useWheel(canvas, zoom, move);
  useKeys({
    '+': () => zoom(0.5),
    '-': () => zoom(2),
    ArrowLeft: () => move(-0.2),
    ArrowRight: () => move(0.2),
    '0': all,
  });
  const spanAt = (event: MouseEvent) => spanUnder(event, { lanes, shown, view, width });
  const calls = time.spans.filter(({ kind }) => kind === 'call' || kind === 'model').length;
  return (
    <section class="chart wide-chart" aria-label="When what ran">
      <WaterfallHead
        shown={shown}
        isShortened={isShortened}
        onShorten={() => setShortened(!isShortened)}
        onZoom={zoom}
        onAll={all}
      />
      <div class="scrolls tall">
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${countText(calls)} calls of tools and models on a time axis. The tables below have their figures.`}
          style={{ height: `${height}px` }}
          onMouseMove={(event) => setHover(spanAt(event))}
          onMouseLeave={() => setHover(null)}
          onClick={(event) => {
            const span = spanAt(event);
            if (span !== null) location.hash = eventAddress(place, span.position);
          }}
        />
      </div>
      <Legend spans={time.spans} left={left} hover={hover} />
    </section>
  );
}

interface WaterfallHeadProps {
  readonly shown: ShownTime;
  readonly isShortened: boolean;
  onShorten(): void;
  onZoom(factor: number): void;
  onAll(): void;
}

function WaterfallHead({ shown, isShortened, onShorten, onZoom, onAll }: WaterfallHeadProps) {
  return (
    <header>
      <h2>When what ran</h2>
      <label>
        <input type="checkbox" checked={isShortened} onChange={onShorten} /> shorten gaps
        {shown.idleMs === 0 ? '' : ` (${formatDuration(shown.idleMs)} without a call)`}
      </label>
      <span class="zoom">
        <button type="button" title="Key +" onClick={() => onZoom(0.5)}>
          Zoom in
        </button>
        <button type="button" title="Key -" onClick={() => onZoom(2)}>
          Zoom out
        </button>
        <button type="button" title="Key 0" onClick={onAll}>
          All
        </button>
      </span>
    </header>
  );
}

interface LegendProps {
  readonly spans: readonly Span[];
  /** How many spans have no row. */
  readonly left: number;
  readonly hover: Span | null;
}

/** What is below the mouse, otherwise what the colours mean and what is not drawn. */
function Legend({ spans, left, hover }: LegendProps) {
  if (hover !== null) {
    const { start, text, durationMs, isFailed } = hover;
    const duration = durationMs === null ? 'duration not recorded' : formatDuration(durationMs);
    return (
      <p class="legend dim">{`${clockText(start).slice(0, 8)} ${text} · ${duration}${isFailed ? ' · failed' : ''}`}</p>
    );
  }
  const untimed = spans.filter(({ kind, durationMs }) => kind === 'call' && durationMs === null).length;
  return (
    <p class="legend dim">
      <i class="model" /> model <i class="call" /> tool <i class="failed" /> failed <i class="prompt" />{' '}
      prompt
      {left === 0 ? '' : ` · ${countText(left)} that overlap more are not drawn`}
      {untimed === 0 ? '' : ` · the duration of ${countText(untimed)} calls is not recorded: each is a line`}
    </p>
  );
}

function zoomed({ from, to }: View, factor: number, at: number, total: number): View {
  const size = Math.min(total, Math.max(Math.min(leastView, total), (to - from) * factor));
  const start = Math.max(0, Math.min(total - size, from + (to - from) * at - size * at));
  return { from: start, to: start + size };
}

function moved({ from, to }: View, part: number, total: number): View {
  const size = to - from;
  const start = Math.max(0, Math.min(total - size, from + size * part));
  return { from: start, to: start + size };
}

function useWidth(canvas: { readonly current: HTMLCanvasElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const parent = canvas.current?.parentElement;
    if (parent == null) return;
    const observer = new ResizeObserver(() => setWidth(parent.clientWidth));
    observer.observe(parent);
    setWidth(parent.clientWidth);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** The colours of the theme. Null: the canvas is not drawn yet. */
function useColours(canvas: { readonly current: HTMLCanvasElement | null }): Colours | null {
  const [colours, setColours] = useState<Colours | null>(null);
  useLayoutEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const onChange = () => setColours(canvas.current === null ? null : coloursOf(canvas.current));
    onChange();
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  return colours;
}

/** The wheel zooms with Control or sideways moves; dragging moves. */
function useWheel(
  canvas: { readonly current: HTMLCanvasElement | null },
  zoom: (factor: number, at: number) => void,
  move: (part: number) => void,
): void {
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    let from: number | null = null;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX / box.width);
      else zoom(1.0015 ** event.deltaY, (event.clientX - box.left) / box.width);
    };
    const onDown = (event: PointerEvent) => {
      from = event.clientX;
    };
    const onMove = (event: PointerEvent) => {
      if (from === null || event.buttons === 0) return;
      move((from - event.clientX) / element.clientWidth);
      from = event.clientX;
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    element.addEventListener('pointerdown', onDown);
    element.addEventListener('pointermove', onMove);
    return () => {
      element.removeEventListener('wheel', onWheel);
      element.removeEventListener('pointerdown', onDown);
      element.removeEventListener('pointermove', onMove);
    };
  }, []);
}

function useKeys(keys: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const act = keys[event.key];
      if (act === undefined) return;
      act();
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}

/** A canvas for its size on the screen, empty, and the colours of the page. */
function penOf(canvas: HTMLCanvasElement, width: number, height: number) {
  const scale = devicePixelRatio;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  const pen = canvas.getContext('2d');
  if (pen === null) return null;
  pen.scale(scale, scale);
  pen.font = '11px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  return pen;
}

const colourNames = [
  'front',
  'dim',
  'line',
  'raised',
  'bar',
  'call',
  'bad',
  'notice',
  'link',
  'bar-dim',
] as const;

type Colours = Readonly<Record<(typeof colourNames)[number], string>>;

/** The colours of the charts in the theme that is shown. */
function coloursOf(element: Element): Colours {
  const probe = element.ownerDocument.createElement('i');
  element.parentElement?.append(probe);
  const colours = colourNames.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(colours) as Colours;
}

interface Drawing {
  readonly lanes: readonly Lane[];
  readonly markers: readonly Span[];
  readonly shown: ShownTime;
  readonly view: View;
  readonly width: number;
  readonly height: number;
  readonly hover: Span | null;
  readonly colours: Colours;
}

/** Draws what is in the view: at most one rectangle for each pixel of a row. */
function drawWaterfall(canvas: HTMLCanvasElement, drawing: Drawing): void {
  const { lanes, markers, shown, view, width, height, hover, colours } = drawing;
  const pen = penOf(canvas, width, height);
  if (pen === null) return;
  const scale = width / (view.to - view.from);
  const x = (time: number) => (shown.of(time) - view.from) * scale;
  pen.fillStyle = colours.raised;
  for (const { at, width: size } of shown.gaps) {
    const [left, right] = [(at - view.from) * scale, (at + size - view.from) * scale];
    if (right > 0 && left < width) pen.fillRect(left, axisPx, Math.max(1, right - left), height - axisPx);
  }
  drawAxis(pen, { shown, view, width, height, colours });
  const [first, last] = [shown.at(view.from), shown.at(view.to)];
  for (const [row, { kind, spans, agent }] of lanes.entries()) {
    const y = axisPx + row * rowPx;
    let drawnTo = Number.NEGATIVE_INFINITY;
    for (let at = firstFrom(spans, first); at < spans.length; at += 1) {
      const span = spans[at];
      if (span === undefined || span.start > last) break;
      const left = x(span.start);
      const right = Math.max(left + 1, x(endOf(span)));
      // What is within a pixel that has a colour already is not seen, unless it failed.
      if (right <= drawnTo && !span.isFailed) continue;
      pen.fillStyle = span.isFailed ? colours.bad : kind === 'model' ? colours.bar : colours.call;
      pen.fillRect(left, y + 2, right - left, rowPx - 4);
      drawnTo = Math.ceil(right);
      if (right - left > 60) {
        pen.fillStyle = colours.front;
        pen.fillText(fitted(span.text, right - Math.max(0, left) - 8), Math.max(0, left) + 4, y + rowPx / 2);
      }
      if (span === hover) {
        pen.strokeStyle = colours.front;
        pen.strokeRect(left - 0.5, y + 1.5, right - left + 1, rowPx - 3);
      }
    }
    if (row === 0 || lanes[row - 1]?.agent !== agent) {
      pen.strokeStyle = colours.line;
      pen.beginPath();
      pen.moveTo(0, y - 0.5);
      pen.lineTo(width, y - 0.5);
      pen.stroke();
      if (agent !== '') {
        pen.fillStyle = colours.dim;
        pen.fillText(fitted(agent, 160), 4, y + rowPx / 2);
      }
    }
  }
  for (const { kind, start } of markers) {
    if (kind !== 'prompt' && kind !== 'compaction') continue;
    const left = x(start);
    if (left < 0 || left > width) continue;
    pen.fillStyle = kind === 'prompt' ? colours.link : colours.notice;
    pen.fillRect(left, axisPx - 6, 1.5, height - axisPx + 6);
  }
}

/** About as much of a text as a number of pixels shows. */
function fitted(text: string, pixels: number): string {
  const most = Math.floor(pixels / 6);
  return text.length <= most ? text : most < 4 ? '' : `${[...text].slice(0, most - 1).join('')}…`;
}

/** Milliseconds between the times of an axis. */
const steps = [
  1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000, 30_000, 60_000, 300_000, 600_000, 1_800_000, 3_600_000,
  21_600_000, 86_400_000,
];

const pixelsOfTime = 90;

function drawAxis(
  pen: CanvasRenderingContext2D,
  {
    shown,
    view,
    width,
    height,
    colours,
  }: Pick<Drawing, 'shown' | 'view' | 'width' | 'height'> & {
    readonly colours: ReturnType<typeof coloursOf>;
  },
): void {
  const perTime = ((view.to - view.from) / width) * pixelsOfTime;
  const step = steps.find((one) => one >= perTime) ?? 86_400_000;
  let lastX = Number.NEGATIVE_INFINITY;
  for (let pixel = 0; pixel < width; pixel += pixelsOfTime / 3) {
    const place = view.from + (pixel / width) * (view.to - view.from);
    const time = Math.ceil(shown.at(place) / step) * step;
    const left = ((shown.of(time) - view.from) / (view.to - view.from)) * width;
    if (left < lastX + pixelsOfTime * 0.7 || left < 0 || left > width - 40) continue;
    lastX = left;
    pen.strokeStyle = colours.line;
    pen.beginPath();
    pen.moveTo(left + 0.5, axisPx - 4);
    pen.lineTo(left + 0.5, height);
    pen.stroke();
    pen.fillStyle = colours.dim;
    pen.fillText(clockText(time).slice(0, step < 1_000 ? 12 : 8), left + 3, 9);
  }
}

/** The span below the mouse. Null: none. */
function spanUnder(
  event: MouseEvent,
  { lanes, shown, view, width }: Pick<Drawing, 'lanes' | 'shown' | 'view' | 'width'>,
): Span | null {
  const lane = lanes[Math.floor((event.offsetY - axisPx) / rowPx)];
  if (lane === undefined || event.offsetY < axisPx) return null;
  const perPixel = (view.to - view.from) / width;
  const place = view.from + event.offsetX * perPixel;
  const span = lane.spans[firstFrom(lane.spans, shown.at(Math.max(0, place - perPixel)))];
  if (span === undefined) return null;
  return shown.of(span.start) <= place + perPixel ? span : null;
}

const tokensPx = 120;

/** What each call of a model used: tokens from the cache, other input, and output. */
function Tokens({ place, time: { calls, spans } }: ChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(canvas);
  const colours = useColours(canvas);
  const [hover, setHover] = useState<number | null>(null);
  const compactions = useMemo(
    () => spans.filter(({ kind }) => kind === 'compaction').map(({ position }) => position),
    [spans],
  );
  useLayoutEffect(() => {
    if (canvas.current !== null && colours !== null && width > 0)
      drawTokens(canvas.current, { calls, compactions, width, hover, colours });
  }, [calls, compactions, width, hover, colours]);
  if (calls.length === 0)
    return (
      <section class="chart">
        <h2>Tokens of each model call</h2>
        <p class="dim">No call of a model is recorded with its tokens.</p>
      </section>
    );
  const callAt = (event: MouseEvent) =>
    Math.min(calls.length - 1, Math.max(0, Math.floor((event.offsetX / width) * calls.length)));
  const call = hover === null ? undefined : calls[hover];
  const known = calls.filter(({ costUsd }) => costUsd !== null);
  const cost = known.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  return (
    <section class="chart wide-chart" aria-label="Tokens of each model call">
      <header>
        <h2>Tokens of each model call</h2>
        <span class="dim">
          {countText(calls.length)} calls
          {known.length === 0
            ? ', no cost is recorded for a call'
            : `, ${formatCost(cost)} recorded for ${countText(known.length)} of them`}
        </span>
      </header>
      <div class="scrolls">
        <canvas
          ref={canvas}
          role="img"
          aria-label={`The tokens of ${countText(calls.length)} model calls, in order.`}
          style={{ height: `${tokensPx}px` }}
          onMouseMove={(event) => setHover(callAt(event))}
          onMouseLeave={() => setHover(null)}
          onClick={(event) => {
            const chosen = calls[callAt(event)];
            if (chosen !== undefined) location.hash = eventAddress(place, chosen.position);
          }}
        />
      </div>
      <p class="legend dim">
        {call === undefined ? (
          <>
            <i class="cached" /> from the cache <i class="model" /> other input <i class="call" /> output{' '}
            <i class="compaction" /> compaction
          </>
        ) : (
          `event ${call.position}: ${formatTokens(call.cachedTokens)} from the cache, ${formatTokens(call.inputTokens)} other input, ${formatTokens(call.outputTokens)} out${call.costUsd === null ? '' : `, ${formatCost(call.costUsd)}`}`
        )}
      </p>
    </section>
  );
}

interface TokenDrawing {
  readonly calls: SessionTime['calls'];
  readonly compactions: readonly number[];
  readonly width: number;
  readonly hover: number | null;
  readonly colours: Colours;
}

/** A column for each call, or for each pixel the largest of its calls. */
function drawTokens(
  canvas: HTMLCanvasElement,
  { calls, compactions, width, hover, colours }: TokenDrawing,
): void {
  const pen = penOf(canvas, width, tokensPx);
  if (pen === null) return;
  const all = ({ inputTokens, cachedTokens, outputTokens }: SessionTime['calls'][number]) =>
    inputTokens + cachedTokens + outputTokens;
  const most = Math.max(1, ...calls.map(all));
  const columns = Math.min(calls.length, Math.floor(width));
  const size = width / columns;
  const gap = size > 5 ? 1 : 0;
  for (let column = 0; column < columns; column += 1) {
    const own = calls.slice(
      Math.floor((column * calls.length) / columns),
      Math.max(1, Math.floor(((column + 1) * calls.length) / columns)),
    );
    const [first] = own;
    if (first === undefined) continue;
    const largest = own.reduce((one, other) => (all(other) > all(one) ? other : one), first);
    let y = tokensPx;
    for (const [tokens, colour] of [
      [largest.cachedTokens, colours['bar-dim']],
      [largest.inputTokens, colours.bar],
      [largest.outputTokens, colours.call],
    ] as const) {
      const part = (tokens / most) * (tokensPx - 16);
      pen.fillStyle = colour;
      pen.fillRect(column * size, y - part, Math.min(40, size - gap), part);
      y -= part;
    }
  }
  pen.fillStyle = colours.dim;
  pen.fillText(`${formatTokens(most)} tokens`, 2, 7);
  pen.fillStyle = colours.notice;
  for (const position of compactions) {
    const at = calls.findIndex((call) => call.position > position);
    if (at !== -1) pen.fillRect((at / calls.length) * width - 1, 14, 2, tokensPx);
  }
  if (hover !== null) {
    pen.strokeStyle = colours.front;
    pen.strokeRect(
      (hover / calls.length) * width + 0.5,
      14,
      Math.max(2, width / calls.length - 1),
      tokensPx - 15,
    );
  }
}

/** How often each tool was called, how often it failed, and how long it took. */
function Tools({ tools }: { readonly tools: readonly ToolFigures[] }) {
  if (tools.length === 0) return null;
  const most = Math.max(...tools.map(({ totalMs }) => totalMs));
  const duration = (ms: number | null) => (ms === null ? '–' : formatDuration(ms));
  return (
    <section class="chart">
      <h2>Tools</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
      <section class="scrolls" aria-label="Tools" tabIndex={0}>
        <table class="figures-table">
          <thead>
            <tr>
              <th scope="col">Tool</th>
              <th scope="col">Calls</th>
              <th scope="col">Failed</th>
              <th scope="col">p50</th>
              <th scope="col">p95</th>
              <th scope="col">Together</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {tools.map(({ name, count, failed, timed, p50, p95, totalMs }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{countText(count)}</td>
                <td class={failed > 0 ? 'bad' : 'dim'}>
                  {failed === 0 ? '' : `${countText(failed)} (${Math.round((failed / count) * 100)} %)`}
                </td>
                <td>{duration(p50)}</td>
                <td>{duration(p95)}</td>
                <td title={timed < count ? `The duration of ${count - timed} calls is not recorded.` : ''}>
                  {timed === 0 ? '–' : duration(totalMs)}
                  {timed > 0 && timed < count ? '+' : ''}
                </td>
                <td class="share">
                  <i style={{ width: `${most === 0 ? 0 : (totalMs / most) * 100}%` }} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

const mostLongest = 8;

/** The calls that took longest, with links. */
function Longest({ place, spans }: { readonly place: TimePlace; readonly spans: readonly Span[] }) {
  const longest = useMemo(
    () =>
      spans
        .filter(({ durationMs }) => (durationMs ?? 0) > 0)
        .toSorted((one, other) => (other.durationMs ?? 0) - (one.durationMs ?? 0))
        .slice(0, mostLongest),
    [spans],
  );
  if (longest.length === 0) return null;
  return (
    <section class="chart">
      <h2>Longest</h2>
      <ol class="longest">
        {longest.map(({ position, kind, text, durationMs, isFailed }) => (
          <li key={`${position} ${kind}`}>
            <b>{formatDuration(durationMs ?? 0)}</b>{' '}
            <a href={eventAddress(place, position)} class={isFailed ? 'bad' : ''} dir="auto">
              {text}
            </a>{' '}
          </li>
        ))}
      </ol>
    </section>
  );
}
