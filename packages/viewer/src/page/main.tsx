import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ContextScreen } from './context/context-screen.tsx';
import { ConversationScreen } from './conversation/conversation-screen.tsx';
import { LensScreen, TreeScreen } from './lenses/lens-screen.tsx';
import { LibraryScreen } from './library-screen.tsx';
import { parseAddress } from './place-in-address.ts';
import { ReaderScreen } from './reader-screen.tsx';
import { SearchScreen } from './search/search-screen.tsx';

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
  if (screen.kind === 'library') return <LibraryScreen key={screen.task ?? ''} place={screen} />;
  if (screen.kind === 'search') return <SearchScreen key={screen.task ?? ''} place={screen} />;
  if (screen.kind === 'tree') return <TreeScreen key={screen.task} task={screen.task} />;
  if (screen.kind === 'context') return <ContextScreen key={`${screen.task}/${screen.id}`} place={screen} />;
  if (screen.kind === 'conversation')
    return <ConversationScreen key={`${screen.task}/${screen.id}`} place={screen} />;
  if (screen.kind !== 'reader')
    return <LensScreen key={`${screen.kind}/${screen.task}/${screen.id}`} place={screen} />;
  return <ReaderScreen key={`${screen.task}/${screen.id}`} screen={screen} />;
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
