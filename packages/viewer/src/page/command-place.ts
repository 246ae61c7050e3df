import type { DispatchName } from './api.ts';

/** A session as commands take it: one word. */
export function commandPlace({ task, id }: DispatchName): string {
  return `${task.replace(/^([^/]+)\/tasks\/([^/]+)$/, '$1/$2')}/${id}`;
}
