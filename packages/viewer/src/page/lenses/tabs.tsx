import { useEffect } from 'preact/hooks';
import { isTyping } from '../is-typing.ts';
import { addressOf, type Screen } from '../place-in-address.ts';

interface TabsProps {
  readonly task: string;
  readonly id: string;
  readonly shown: Screen['kind'];
}

/** The lenses of a dispatch, as links, and by the keys 1 to 5. */
export function Tabs({ task, id, shown }: TabsProps) {
  const place = { task, id, agents: [], end: null };
  const tabs: readonly (readonly [title: string, screen: Screen])[] = [
    ['Events', { kind: 'reader', task, id, at: null }],
    ['Dialog', { kind: 'dialog', ...place }],
    ['Perspective', { kind: 'perspective', ...place }],
    ['Heard', { kind: 'heard', ...place }],
    ['Tree', { kind: 'tree', task }],
  ];
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const tab = /^[1-5]$/.test(event.key) ? tabs[Number(event.key) - 1] : undefined;
      if (tab !== undefined) location.hash = addressOf(tab[1]);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  return (
    <nav class="tabs" aria-label="Lenses">
      {tabs.map(([title, screen]) => (
        <a key={title} href={addressOf(screen)} aria-current={screen.kind === shown ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
