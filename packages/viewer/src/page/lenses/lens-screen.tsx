import { dispatchedAgent } from '@hansard/views';
import { useEffect } from 'preact/hooks';
import type { DialogAnswer, HeardAnswer, LensAgent, PerspectiveAnswer } from '../../answers.ts';
import { pathOf } from '../api.ts';
import { goTo } from '../go-to.ts';
import { addressOf, type LensPlace, lensQuery } from '../place-in-address.ts';
import { countText } from '../words.ts';
import { HeardTable } from './heard-table.tsx';
import { Tabs } from './tabs.tsx';
import { TalkList } from './talk-list.tsx';
import { useAnswer } from './use-answer.ts';

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
        <a href={addressOf({ kind: 'library', task: null })}>Hansard</a>
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
  return (
    <fieldset class="choice">
      <legend>{isOne ? 'Agent' : 'Agents: none chosen shows all'}</legend>
      {agents.map(({ id, name }) => (
        <label key={id}>
          <input
            type={isOne ? 'radio' : 'checkbox'}
            name="agent"
            checked={chosen.includes(id)}
            onChange={() => choose(id)}
          />{' '}
          {name || dispatchedAgent}
        </label>
      ))}
    </fieldset>
  );
}
