import type { DispatchName } from './api.ts';

/** A dispatch as commands take it. */
export function commandPlace({ task, id }: DispatchName): string {
  return `${task.replace(/^([^/]+)\/tasks\/([^/]+)$/, '$1/$2')} ${id}`;
}
