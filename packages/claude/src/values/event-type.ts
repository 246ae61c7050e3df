import { type EventType, eventDataSchemas } from '@hansard/events';
import { RecentMap } from './recent-map.ts';

const longestAction = 80;
const actions = new RecentMap<string>(100);

/** The event type for a kind without an event type of its own: its name in lower snake case. */
export function unknownEventType(category: 'agent' | 'system' | 'user', word: string): EventType {
  let action = actions.get(word);
  if (action === undefined) {
    action = toAction(word);
    actions.set(word, action);
  }
  return `${category}:${action}`;
}

function toAction(word: string): string {
  const snake = word
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '_')
    .slice(0, longestAction);
  return /^[a-z]/.test(snake) ? snake : `x_${snake}`;
}

export function isKnownEventType(type: EventType): boolean {
  return Object.hasOwn(eventDataSchemas, type);
}
