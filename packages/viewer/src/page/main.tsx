import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { LibraryScreen } from './library-screen.tsx';
import { parseAddress } from './place-in-address.ts';
import { ReaderScreen } from './reader-screen.tsx';

function App() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const onChange = () => setHash(location.hash);
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  const screen = parseAddress(hash);
  if (screen.kind === 'library')
    return <LibraryScreen key={screen.task ?? ''} task={screen.task} filter={screen.filter ?? ''} />;
  return <ReaderScreen key={`${screen.task}/${screen.id}`} screen={screen} />;
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
