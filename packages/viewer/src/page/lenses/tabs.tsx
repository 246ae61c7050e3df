import { useEffect } from 'preact/hooks';
import { isTyping } from '../is-typing.ts';
import { addressOf, type Screen } from '../place-in-address.ts';

interface TabsProps {
  readonly task: string;
  readonly id: string;
  readonly shown: Screen['kind'];
}

/** The lenses of a dispatch, as links, and by the keys c and 1 to 6. */
export function Tabs({ task, id, shown }: TabsProps) {
  const place = { task, id, agents: [], end: null };
  const tabs: readonly (readonly [title: string, screen: Screen, key: string])[] = [
    ['Conversation', { kind: 'conversation', task, id, at: null }, 'c'],
    ['Events', { kind: 'reader', task, id, at: null }, '1'],
    ['Dialog', { kind: 'dialog', ...place }, '2'],
    ['Perspective', { kind: 'perspective', ...place }, '3'],
    ['Heard', { kind: 'heard', ...place }, '4'],
    ['Time', { kind: 'time', task, id }, '6'],
    ['Tree', { kind: 'tree', task }, '5'],
  ];
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const tab = tabs.find(([, , key]) => key === event.key);
      if (tab !== undefined) location.hash = addressOf(tab[1]);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  return (
    <nav class="tabs" aria-label="Lenses">
      {tabs.map(([title, screen, key]) => (
        <a
          key={title}
          title={`Key ${key}`}
          href={addressOf(screen)}
          aria-current={screen.kind === shown ? 'page' : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
