import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ContextScreen } from './context/context-screen.tsx';
import { ConversationScreen } from './conversation/conversation-screen.tsx';
import { isTyping } from './is-typing.ts';
import { LensScreen, TreeScreen } from './lenses/lens-screen.tsx';
import { LibraryScreen } from './library-screen.tsx';
import { WithMarks } from './marks.tsx';
import { parseAddress, type Screen, type TimePlace } from './place-in-address.ts';
import { ReaderScreen } from './reader-screen.tsx';
import { SearchScreen } from './search/search-screen.tsx';
import type { TimeScreen } from './time/time-screen.tsx';

function App() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const onChange = () => setHash(location.hash);
    addEventListener('hashchange', onChange);
    // The address may have changed since the first drawing.
    onChange();
    return () => removeEventListener('hashchange', onChange);
  }, []);
  const screen = parseAddress(hash);
  return (
    <>
      <ScreenOf screen={screen} />
      <Help kind={screen.kind} />
    </>
  );
}

function ScreenOf({ screen }: { readonly screen: Screen }) {
  if (screen.kind === 'library') return <LibraryScreen key={screen.task ?? ''} place={screen} />;
  if (screen.kind === 'search') return <SearchScreen key={screen.task ?? ''} place={screen} />;
  if (screen.kind === 'tree') return <TreeScreen key={screen.task} task={screen.task} />;
  if (screen.kind === 'context') return <ContextScreen key={`${screen.task}/${screen.id}`} place={screen} />;
  if (screen.kind === 'time') return <LateTimeScreen key={`${screen.task}/${screen.id}`} place={screen} />;
  if (screen.kind === 'conversation')
    return (
      <WithMarks name={screen}>
        <ConversationScreen key={`${screen.task}/${screen.id}`} place={screen} />
      </WithMarks>
    );
  if (screen.kind !== 'reader')
    return <LensScreen key={`${screen.kind}/${screen.task}/${screen.id}`} place={screen} />;
  return (
    <WithMarks name={screen}>
      <ReaderScreen key={`${screen.task}/${screen.id}`} screen={screen} />
    </WithMarks>
  );
}

type Keys = readonly (readonly [keys: string, what: string])[];

const keysOfSession: Keys = [
  ['c', 'conversation'],
  ['1', 'events'],
  ['2 3 4', 'dialog, perspective, heard'],
  ['5', 'tree and cost of the task'],
  ['6', 'time'],
];

const keysOf: Readonly<Partial<Record<Screen['kind'], Keys>>> = {
  library: [
    ['/', 'search titles and contents'],
    ['j k', 'next and previous session'],
    ['Enter', 'open the session'],
  ],
  conversation: [
    ['j k', 'next and previous thing that was said or done'],
    ['p P', 'next and previous prompt'],
    ['f F', 'next and previous failure'],
    ['d D', 'next and previous edit'],
    ['g G', 'beginning and end'],
    ['Enter', 'open the event'],
    ['b', 'bookmark, or take the bookmark away'],
    ['h', 'records of the harness and empty thoughts'],
    ['e', 'table of events, from here'],
    ...keysOfSession,
  ],
  reader: [
    ['j k', 'next and previous row'],
    ['g G', 'first and last row'],
    ['Enter', 'open the event, or the rows that a row stands for'],
    ['o', 'fold these again'],
    ['/', 'find'],
    ['n N', 'next and previous row that was found'],
    ['m', 'message to a run'],
    ['Esc', 'close the event'],
    ...keysOfSession,
  ],
  time: [['+ -', 'zoom in and out'], ['← →', 'move'], ['0', 'all'], ...keysOfSession],
  context: [
    ['[ ]', 'call before and after'],
    ['Esc', 'back to the event'],
  ],
  search: [
    ['/', 'words'],
    ['j k', 'next and previous hit'],
  ],
};

/** The keys of a screen, shown by `?`. */
function Help({ kind }: { readonly kind: Screen['kind'] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '?' || isTyping(event.target)) return;
      dialog.current?.showModal();
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <dialog class="help" ref={dialog} aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {(keysOf[kind] ?? keysOfSession).map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}

/** The charts are loaded when they are shown. */
function LateTimeScreen({ place }: { readonly place: TimePlace }) {
  const [Shown, setShown] = useState<typeof TimeScreen | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    import('./time/time-screen.tsx').then(
      (loaded) => setShown(() => loaded.TimeScreen),
      () => setProblem('The charts cannot be loaded: the viewer does not answer.'),
    );
  }, []);
  if (problem !== null) return <p role="alert">{problem}</p>;
  return Shown === null ? <p aria-busy="true">Reading…</p> : <Shown place={place} />;
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
