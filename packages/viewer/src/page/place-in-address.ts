import { everything, kinds, type Query } from './find/search.ts';

/** One dispatch, and what of it is shown. */
export interface ReaderPlace {
  readonly kind: 'reader';
  readonly task: string;
  readonly id: string;
  /** The topmost event. Null: the end, following. */
  readonly at: number | null;
  /** The event that is open beside the rows. */
  readonly open?: number | null;
  readonly query?: Query;
  /** Only the rows that were found are shown. */
  readonly isOnlyHits?: boolean;
}

export const lenses = ['dialog', 'perspective', 'heard'] as const;

/** One dispatch through a lens. */
export interface LensPlace {
  readonly kind: (typeof lenses)[number];
  readonly task: string;
  readonly id: string;
  /** The chosen agents, by their ids. */
  readonly agents: readonly string[];
  /** The line before which lines are shown. Null: the end. */
  readonly end: number | null;
}

/** One dispatch as a conversation. */
export interface ConversationPlace {
  readonly kind: 'conversation';
  readonly task: string;
  readonly id: string;
  /** The topmost event. Null: the beginning, or the end of what runs. */
  readonly at: number | null;
  /** The event that is open beside. */
  readonly open?: number | null;
}

/** When the calls of a dispatch began and ended, and what they used. */
export interface TimePlace {
  readonly kind: 'time';
  readonly task: string;
  readonly id: string;
}

/** The dispatches of a task as trees. */
interface TreePlace {
  readonly kind: 'tree';
  readonly task: string;
}

/** What the model was given in a call. */
export interface ContextPlace {
  readonly kind: 'context';
  readonly task: string;
  readonly id: string;
  /** The position of the call, or of an event of its answer. */
  readonly call: number;
  /** The message before which messages are shown. Null: the end. */
  readonly end: number | null;
}

/** The events with the words of a text. */
export interface SearchPlace {
  readonly kind: 'search';
  readonly text: string;
  /** Null: in all tasks. */
  readonly task: string | null;
}

/** The sessions of the store, or of a task, and what of them is shown. */
export interface LibraryPlace {
  readonly kind: 'library';
  readonly task: string | null;
  readonly filter?: string | undefined;
  /** Only the sessions of this project, model or day. */
  readonly project?: string | undefined;
  readonly model?: string | undefined;
  readonly day?: string | undefined;
  /** `any`, `bookmark`, or `#` and a tag: only the sessions with such a mark. */
  readonly mark?: string | undefined;
  /** A column; `-` before it turns its order round. */
  readonly sort?: string | undefined;
  readonly group?: string | undefined;
}

const libraryFields = ['project', 'model', 'day', 'mark', 'sort', 'group'] as const;

/** What the page shows, as it is in the address after `#`. */
export type Screen =
  | LibraryPlace
  | ReaderPlace
  | ConversationPlace
  | TimePlace
  | LensPlace
  | TreePlace
  | ContextPlace
  | SearchPlace;

export function parseAddress(hash: string): Screen {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?');
  const parts = path.split('/').filter((part) => part !== '');
  const [kind, task, id, lens] = parts.map(decode);
  const fields = new URLSearchParams(query);
  const knownLens = lenses.find((known) => known === lens);
  if (kind === 'd' && task !== undefined && id !== undefined && knownLens !== undefined)
    return { kind: knownLens, task, id, agents: fields.getAll('agent'), end: positionIn(fields, 'end') };
  if (kind === 'search') return { kind, text: fields.get('text') ?? '', task: fields.get('task') };
  const call = positionIn(fields, 'call');
  if (kind === 'd' && task !== undefined && id !== undefined && lens === 'context' && call !== null)
    return { kind: 'context', task, id, call, end: positionIn(fields, 'end') };
  if (kind === 'd' && task !== undefined && id !== undefined && lens === 'conversation')
    return { kind: lens, task, id, at: positionIn(fields, 'at'), open: positionIn(fields, 'open') };
  if (kind === 'd' && task !== undefined && id !== undefined && lens === 'time')
    return { kind: lens, task, id };
  if (kind === 't' && task !== undefined && id === 'tree') return { kind: 'tree', task };
  if (kind === 'd' && task !== undefined && id !== undefined)
    return {
      kind: 'reader',
      task,
      id,
      at: positionIn(fields, 'at'),
      open: positionIn(fields, 'open'),
      query: {
        text: fields.get('text') ?? '',
        agentId: fields.get('agent'),
        kind: kinds.find(([known]) => known === fields.get('kind'))?.[0] ?? null,
        failed: fields.get('failed') === '1',
      },
      isOnlyHits: fields.get('only') === '1',
    };
  return {
    kind: 'library',
    task: kind === 't' && task !== undefined ? task : null,
    filter: fields.get('filter') ?? '',
    ...Object.fromEntries(
      libraryFields.flatMap((name) => (fields.has(name) ? [[name, fields.get(name) ?? '']] : [])),
    ),
  };
}

export function addressOf(screen: Screen): string {
  if (screen.kind === 'library') {
    const path = screen.task === null ? '#/' : `#/t/${encodeURIComponent(screen.task)}`;
    const chosen = libraryFields.map((name) => [name, screen[name] ?? null]);
    return path + queryOf({ filter: screen.filter || null, ...Object.fromEntries(chosen) });
  }
  if (screen.kind === 'tree') return `#/t/${encodeURIComponent(screen.task)}/tree`;
  if (screen.kind === 'search') return `#/search${queryOf({ text: screen.text || null, task: screen.task })}`;
  if (screen.kind === 'context') {
    const { task, id, call, end } = screen;
    const fields = { call: String(call), end: end === null ? null : String(end) };
    return `#/d/${encodeURIComponent(task)}/${encodeURIComponent(id)}/context${queryOf(fields)}`;
  }
  if (screen.kind === 'time')
    return `#/d/${encodeURIComponent(screen.task)}/${encodeURIComponent(screen.id)}/time`;
  if (screen.kind === 'conversation') {
    const { task, id, at, open = null } = screen;
    const fields = { at: at === null ? null : String(at), open: open === null ? null : String(open) };
    return `#/d/${encodeURIComponent(task)}/${encodeURIComponent(id)}/conversation${queryOf(fields)}`;
  }
  if (screen.kind !== 'reader') {
    const path = `#/d/${encodeURIComponent(screen.task)}/${encodeURIComponent(screen.id)}/${screen.kind}`;
    return `${path}${lensQuery(screen)}`;
  }
  const { task, id, at, open = null, query = everything, isOnlyHits = false } = screen;
  const fields = {
    at: at === null ? null : String(at),
    open: open === null ? null : String(open),
    text: query.text || null,
    agent: query.agentId,
    kind: query.kind,
    failed: query.failed ? '1' : null,
    only: isOnlyHits ? '1' : null,
  };
  return `#/d/${encodeURIComponent(task)}/${encodeURIComponent(id)}${queryOf(fields)}`;
}

/** The chosen agents and the end, as the server and the address have them. */
export function lensQuery({ agents, end }: Pick<LensPlace, 'agents' | 'end'>): string {
  const set = new URLSearchParams();
  for (const agent of agents) set.append('agent', agent);
  if (end !== null) set.set('end', String(end));
  return set.size === 0 ? '' : `?${set}`;
}

function queryOf(fields: Readonly<Record<string, string | null>>): string {
  const set = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== null) set.set(name, value);
  return set.size === 0 ? '' : `?${set}`;
}

function positionIn(fields: URLSearchParams, name: string): number | null {
  const text = fields.get(name);
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

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
