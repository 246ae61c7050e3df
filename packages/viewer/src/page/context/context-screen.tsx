import { dispatchedAgent } from '@hansard/views';
import { useEffect, useState } from 'preact/hooks';
import type { ContextAnswer, ContextLine, ContextText } from '../../answers.ts';
import { ask, pathOf, useAnswer } from '../api.ts';
import { isTyping } from '../is-typing.ts';
import { Tabs } from '../lenses/tabs.tsx';
import { addressOf, type ContextPlace } from '../place-in-address.ts';
import { commandPlace, countText, timeText } from '../words.ts';

/** What the model was given in a call, and whether that is what the log recorded. */
export function ContextScreen({ place }: { readonly place: ContextPlace }) {
  const { task, id, call, end } = place;
  const path = `${pathOf(place)}/context/${call}`;
  const { answer, problem } = useAnswer<ContextAnswer>(
    `${path}${end === null ? '' : `?end=${end}`}`,
    () => false,
  );
  useEffect(() => {
    document.title = `What the model was given · ${answer?.title ?? id} · Hansard`;
  });
  const toCall = (position: number) => addressOf({ ...place, call: position, end: null });
  const toEvent = addressOf({ kind: 'reader', task, id, at: call, open: call });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const to = { '[': answer?.previous ?? null, ']': answer?.next ?? null }[event.key] ?? null;
      if (to !== null) location.hash = toCall(to);
      else if (event.key === 'Escape') location.hash = toEvent;
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  return (
    <main class="lens">
      <header>
        <a class="brand" href={addressOf({ kind: 'library', task: null })}>
          Hansard
        </a>
        <h1>{answer?.title ?? id}</h1>
        <Tabs task={task} id={id} shown="context" />
      </header>
      <h2 class="given">What the model was given</h2>
      {problem === null ? null : <p role="alert">{problem}</p>}
      {answer === null && problem === null ? <p aria-busy="true">Reading…</p> : null}
      {answer === null ? null : (
        <>
          <p class="steps">
            <a href={toEvent}>Event {answer.call}</a>
            <span>{answer.agent || dispatchedAgent}</span>
            <time>{timeText(answer.time)} UTC</time>
            {answer.previous === null ? null : <a href={toCall(answer.previous)}>[ Previous call</a>}
            {answer.next === null ? null : <a href={toCall(answer.next)}>Next call ]</a>}
          </p>
          <Given place={place} answer={answer} path={path} />
          <p class="command">
            The same in a terminal:{' '}
            <code>{`hansard context ${commandPlace(place)} ${answer.eventId} --verify`}</code>
          </p>
        </>
      )}
    </main>
  );
}

interface GivenProps {
  readonly place: ContextPlace;
  readonly answer: ContextAnswer;
  readonly path: string;
}

function Given({ place, answer, path }: GivenProps) {
  const { verification, notes, manifest, lines, earlier, newFrom, count } = answer;
  const { isSame, text } = verification;
  return (
    <>
      <p class={`verdict ${isSame === null ? 'note' : isSame ? 'good' : 'bad'}`}>
        {isSame === null ? '' : isSame ? '✓ ' : '✗ '}
        {text}
      </p>
      {notes.map((note) => (
        <p class="note" key={note}>
          {note}
        </p>
      ))}
      {manifest === '' ? null : (
        <details>
          <summary>How it was made from the log</summary>
          <pre class="body">{manifest}</pre>
        </details>
      )}
      {earlier === 0 ? null : (
        <p>
          <a href={addressOf({ ...place, end: earlier })}>Earlier: {countText(earlier)} messages</a>
        </p>
      )}
      <ol class="given">
        {lines.map((line) => (
          <Message
            key={`${path} ${line.number}`}
            line={line}
            path={path}
            isFirstNew={line.number === newFrom}
          />
        ))}
      </ol>
      {newFrom !== null && newFrom > 0 && newFrom === count ? (
        <p class="dim">The call before it was given the same messages.</p>
      ) : null}
    </>
  );
}

interface MessageProps {
  readonly line: ContextLine;
  readonly path: string;
  readonly isFirstNew: boolean;
}

function Message({ line, path, isFirstNew }: MessageProps) {
  const { number, role, head, text, isCut } = line;
  const [whole, setWhole] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const readWhole = () =>
    ask<ContextText>(`${path}/message/${number}`).then(
      (answer) => setWhole(answer.text),
      (error: Error) => setProblem(error.message),
    );
  return (
    <li class={role}>
      {isFirstNew && number > 0 ? <p class="new">New since the previous call</p> : null}
      <h3>
        <span class="number">{number + 1}</span> {head}
      </h3>
      {text === '' ? <p class="dim">No text.</p> : <Marked text={whole ?? text} />}
      {isCut && whole === null ? (
        <button type="button" onClick={() => void readWhole()}>
          Show all of it
        </button>
      ) : null}
      {problem === null ? null : <p role="alert">{problem}</p>}
    </li>
  );
}

/** A text in which markers of redaction are marked. */
function Marked({ text }: { readonly text: string }) {
  return (
    <pre class="body" dir="auto">
      {text
        .split(/(\[REDACTED:[A-Za-z0-9_.-]{1,100}\])/)
        .map((piece, at) => (at % 2 === 1 ? <mark key={at}>{piece}</mark> : piece))}
    </pre>
  );
}
