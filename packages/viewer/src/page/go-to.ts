import { addressOf, type Screen } from './place-in-address.ts';

/**
 * Puts a screen into the address, and shows it. `push`: the browser's back button returns to the one before. It returns to an entry that was
 * written here, unlike a link, with a state.
 */
export function goTo(screen: Screen, how: 'push' | 'replace'): void {
  const address = addressOf(screen);
  if (how === 'push' && address !== location.hash) history.pushState({ written: true }, '', address);
  else history.replaceState({ written: true }, '', address);
  dispatchEvent(new Event('hashchange'));
}

/** Whether the address is one that `goTo` wrote. */
export function isWritten(): boolean {
  return history.state !== null;
}
