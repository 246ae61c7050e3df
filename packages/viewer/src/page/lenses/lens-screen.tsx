import { formatDuration } from '@hansard/facts';
import { dispatchedAgent } from '@hansard/views';
import { Fragment } from 'preact';
import { useEffect } from 'preact/hooks';
import type {
  DialogAnswer,
  HeardAnswer,
  LensAgent,
  PerspectiveAnswer,
  TalkLine,
  TreeAnswer,
  TreeLine,
} from '../../answers.ts';
import { pathOf, useAnswer } from '../api.ts';
import { addressOf, goTo, type LensPlace, lensQuery } from '../place-in-address.ts';
import { clockText, colourOf, countText, timeText } from '../words.ts';
import { Tabs } from './tabs.tsx';

/** A lens over a longer log is made again only when somebody asks. */
const longestLive = 5_000;

type LensAnswer = DialogAnswer | PerspectiveAnswer | HeardAnswer;

/** One dispatch through a lens: who said what, what one agent saw, or who heard what. */
export function LensScreen({ place }: { readonly place: LensPlace }) {
  const { kind, task, id, end } = place;
  const isLive = (answer: LensAnswer) => end === null && answer.end - answer.first <= longestLive;
  const path = `${pathOf({ task, id })}/${kind}${lensQuery(place)}`;
  const { answer, problem, again } = useAnswer<LensAnswer>(path, isLive);
  useEffect(() => {
    document.title = `${titles[kind]} · ${answer?.title ?? id} · Hansard`;
  });
  return (
    <main class="lens">
      <header>
        <a class="brand" href={addressOf({ kind: 'library', task: null })}>
          Hansard
        </a>
        <h1>{answer?.title ?? id}</h1>
        <Tabs task={task} id={id} shown={kind} />
        {answer === null ? null : <span class="count">{countText(answer.end)} events</span>}
        {answer === null || isLive(answer) ? null : (
          <button
            type="button"
            onClick={() => (end === null ? again() : goTo({ ...place, end: null }, 'push'))}
          >
            {end === null ? 'Read again' : 'To the end'}
          </button>
        )}
      </header>
      {answer === null || kind === 'heard' ? null : <AgentChoice place={place} agents={answer.agents} />}
      {problem === null ? null : <p role="alert">{problem}</p>}
      {answer === null ? (
        problem === null ? (
          <p aria-busy="true">Reading…</p>
        ) : null
      ) : (
        <LensBody place={place} answer={answer} />
      )}
    </main>
  );
}

const titles = {
  dialog: 'Who said what',
  perspective: 'What one agent saw',
  heard: 'Who heard what',
} as const;

function LensBody({ place, answer }: { readonly place: LensPlace; readonly answer: LensAnswer }) {
  const { task, id } = place;
  const { notes, lines, earlier } = answer;
  const toEvent = (position: number) => addressOf({ kind: 'reader', task, id, at: position, open: position });
  return (
    <>
      {notes.map((note) => (
        <p class="note" key={note}>
          {note}
        </p>
      ))}
      {earlier === 0 ? null : (
        <p>
          <a href={addressOf({ ...place, end: earlier })}>Earlier: {countText(earlier)} lines</a>
        </p>
      )}
      {lines.length === 0 ? <p>{nothing[place.kind]}</p> : null}
      {place.kind === 'heard' ? (
        <HeardTable answer={answer as HeardAnswer} toEvent={toEvent} />
      ) : (
        <TalkList lines={(answer as DialogAnswer).lines} toEvent={toEvent} />
      )}
    </>
  );
}

const nothing = {
  dialog: 'Nothing was said.',
  perspective: 'It has been given nothing yet.',
  heard: 'Nothing was said.',
} as const;

/** Of a dialog any agents, of a perspective one. */
function AgentChoice({
  place,
  agents,
}: {
  readonly place: LensPlace;
  readonly agents: readonly LensAgent[];
}) {
  const isOne = place.kind === 'perspective';
  const chosen = isOne && place.agents.length === 0 ? [agents[0]?.id ?? ''] : place.agents;
  const choose = (id: string) => {
    const others = place.agents.filter((agent) => agent !== id);
    const next = isOne ? [id] : place.agents.includes(id) ? others : [...others, id];
    goTo({ ...place, agents: next, end: null }, 'push');
  };
  if (isOne)
    return (
      <p class="choice">
        <label>
          Agent{' '}
          <select value={chosen[0] ?? ''} onChange={({ currentTarget: { value } }) => choose(value)}>
            {agents.map(({ id, name }) => (
              <option key={id} value={id}>
                {name || dispatchedAgent}
              </option>
            ))}
          </select>
        </label>
      </p>
    );
  return (
    <fieldset class="choice">
      <legend>Agents: none chosen shows all</legend>
      {agents.map(({ id, name }) => (
        <label key={id}>
          <input type="checkbox" name="agent" checked={chosen.includes(id)} onChange={() => choose(id)} />{' '}
          {name || dispatchedAgent}
        </label>
      ))}
    </fieldset>
  );
}

interface HeardTableProps {
  readonly answer: HeardAnswer;
  toEvent(position: number): string;
}

/** A line for each thing that was said, a column for each agent. */
function HeardTable({ answer: { agents, lines }, toEvent }: HeardTableProps) {
  if (lines.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
    <section class="wide" aria-label="Who heard what" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">At</th>
            <th scope="col">Said by</th>
            <th scope="col">Text</th>
            {agents.map(({ id, name }) => (
              <th scope="col" key={id} class={`colour-${colourOf(id)}`}>
                {name || dispatchedAgent}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ position, speaker, text, isCut, cells }) => (
            <tr key={position}>
              <td class="number">
                <a href={toEvent(position)} aria-label={`Event ${position}`}>
                  {position}
                </a>
              </td>
              <td>{speaker || dispatchedAgent}</td>
              <th scope="row" dir="auto">
                {text}
                {isCut ? '…' : ''}
              </th>
              {cells.map((cell, at) => (
                <td key={agents[at]?.id} class={`cell ${cell.split(/[ ,]/, 1)[0]}`}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface TalkListProps {
  readonly lines: readonly TalkLine[];
  toEvent(position: number): string;
}

/** A conversation: what was said and who heard it, or what one agent was given, thought, did and said. */
export function TalkList({ lines, toEvent }: TalkListProps) {
  return (
    <ol class="talk">
      {lines.map(({ position, time, agentId, spans, blocks }, at) => (
        <li key={`${position} ${at}`} class={spans.find(({ label }) => label === 'word')?.text}>
          <p>
            {spans.map(({ label, text }) => (
              <Fragment key={label}>
                {label === 'head' ? (
                  text
                ) : (
                  <b class={label === 'agent' && agentId !== null ? `colour-${colourOf(agentId)}` : ''}>
                    {text}
                  </b>
                )}{' '}
              </Fragment>
            ))}
            <Place position={position} time={time} toEvent={toEvent} />
          </p>
          <div>
            {blocks.map((block, number) =>
              block.kind === 'note' ? (
                <p key={number} class={block.tone}>
                  {block.spans.map(({ text, position: place }, word) => (
                    <Fragment key={word}>
                      {word === 0 ? '' : ' '}
                      {place === undefined || block.tone === 'dim' ? (
                        text
                      ) : (
                        <a href={toEvent(place)}>{text}</a>
                      )}
                    </Fragment>
                  ))}
                </p>
              ) : block.kind === 'text' ? (
                <pre key={number} class={block.source === 'content' ? 'words' : 'body altered'} dir="auto">
                  {block.text}
                </pre>
              ) : null,
            )}
          </div>
        </li>
      ))}
    </ol>
  );
}

interface PlaceProps {
  readonly position: number;
  readonly time: number | null;
  toEvent(position: number): string;
}

/** The position of an event, as a link to it, and its time. */
function Place({ position, time, toEvent }: PlaceProps) {
  return (
    <small>
      <a href={toEvent(position)} aria-label={`Event ${position}`}>
        {position}
      </a>{' '}
      <time>{clockText(time)}</time>
    </small>
  );
}

/** The dispatches of a task as trees, with what each cost, alone and with those below it. It updates itself. */
export function TreeScreen({ task }: { readonly task: string }) {
  const { answer, problem } = useAnswer<TreeAnswer>(`/api/tree?task=${encodeURIComponent(task)}`, () => true);
  useEffect(() => {
    document.title = `Tree · ${task} · Hansard`;
  }, [task]);
  return (
    <main class="library">
      <header>
        <a class="brand" href={addressOf({ kind: 'library', task: null })}>
          Hansard
        </a>
        <h1>{task}</h1>
        <a href={addressOf({ kind: 'library', task })}>Sessions</a>
      </header>
      {problem === null ? null : <p role="alert">{problem}</p>}
      {answer === null ? (
        problem === null ? (
          <p aria-busy="true">Reading…</p>
        ) : null
      ) : (
        <Tree task={task} answer={answer} />
      )}
    </main>
  );
}

function Tree({
  task,
  answer: { lines, isCut, cost, notes },
}: {
  readonly task: string;
  readonly answer: TreeAnswer;
}) {
  if (lines.length === 0) return <p>There are no sessions yet.</p>;
  return (
    <>
      {isCut ? <p class="note">Made from the newest {countText(lines.length)} sessions.</p> : null}
      <table class="tree">
        <thead>
          <tr>
            <th scope="col">Session</th>
            <th scope="col">State</th>
            <th scope="col">Model</th>
            <th scope="col">Turns</th>
            <th scope="col">Tokens in</th>
            <th scope="col">Tokens out</th>
            <th scope="col">Cost</th>
            <th scope="col">With those below</th>
            <th scope="col">Duration</th>
            <th scope="col">Started (UTC)</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <Line key={line.dispatchId} task={task} line={line} />
          ))}
        </tbody>
        {lines.length === 1 || cost === null ? null : (
          <tfoot>
            <tr>
              <th scope="row" colSpan={6}>
                All sessions
              </th>
              <td class="number">{cost}</td>
              <td colSpan={3} />
            </tr>
          </tfoot>
        )}
      </table>
      {notes.map((note) => (
        <p class="dim" key={note}>
          {note}
        </p>
      ))}
    </>
  );
}

function Line({ task, line }: { readonly task: string; readonly line: TreeLine }) {
  const { dispatchId, depth, name, status, model, startedAt, isOrphan } = line;
  const figure = (count: number | null) => (count === null ? '–' : countText(count));
  return (
    <tr>
      <th scope="row" style={{ paddingInlineStart: `${Math.min(depth, 8) * 16 + 8}px` }}>
        {depth === 0 ? '' : '└ '}
        <a href={addressOf({ kind: 'reader', task, id: dispatchId, at: null })}>{name}</a>
        {isOrphan ? <span class="dim"> its parent is not here</span> : null}
      </th>
      <td class={`state ${status}`}>{status}</td>
      <td>{model ?? '–'}</td>
      <td class="number" data-label="turns">
        {figure(line.turns)}
      </td>
      <td class="number" data-label="tokens in">
        {figure(line.inputTokens)}
      </td>
      <td class="number" data-label="tokens out">
        {figure(line.outputTokens)}
      </td>
      <td class="number" data-label="cost">
        {line.cost ?? '–'}
      </td>
      <td class="number" data-label="with those below">
        {line.subtreeCost ?? ''}
      </td>
      <td class="number" data-label="duration">
        {line.durationMs === null ? '–' : formatDuration(line.durationMs)}
      </td>
      <td class="time" data-label="started (UTC)">
        {timeText(startedAt)}
      </td>
    </tr>
  );
}
