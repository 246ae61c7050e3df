import type { DispatchEnvelope } from '@hansard/events';
import type { EventDetail, History, NamedAgent, ReaderRow } from '../answers.ts';

export interface DispatchName {
  readonly task: string;
  readonly id: string;
}

export interface Listing {
  readonly taskDir: string;
  readonly dispatchId: string | null;
  readonly envelope: DispatchEnvelope | null;
  readonly lastActiveAt: string | null;
  readonly error?: string;
}

/** An answer of the server that is not the one that was asked for. The message is for people. */
class Refused extends Error {}

export function pathOf({ task, id }: DispatchName): string {
  return `/api/d/${encodeURIComponent(task)}/${encodeURIComponent(id)}`;
}

export async function ask<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  const answer = await fetch(path, signal === undefined ? {} : { signal }).catch((cause) => {
    throw new Refused('The viewer does not answer.', { cause });
  });
  if (answer.ok) return (await answer.json()) as Answer;
  const text = await answer.text();
  throw new Refused(messageIn(text) ?? `The viewer answered ${answer.status}.`);
}

function messageIn(text: string): string | null {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : null;
  } catch {
    return text === '' ? null : text;
  }
}

export interface Rows {
  readonly first: number;
  readonly size: number;
  /** The position of the last event that the rows are made from. */
  readonly end: number;
  readonly rows: readonly ReaderRow[];
}

export const readLast = (name: DispatchName, count: number) =>
  ask<Rows>(`${pathOf(name)}/rows?last=${count}`);

export const readRows = (name: DispatchName, from: number, count: number, signal: AbortSignal) =>
  ask<Rows>(`${pathOf(name)}/rows?from=${from}&n=${count}`, signal);

export const readEvent = (name: DispatchName, position: number) =>
  ask<EventDetail>(`${pathOf(name)}/event/${position}`);

export const linePath = (name: DispatchName, position: number) => `${pathOf(name)}/event/${position}/line`;

/** An event as one line of JSON, whole. */
export async function readLine(name: DispatchName, position: number): Promise<string> {
  const answer = await fetch(linePath(name, position));
  if (!answer.ok) throw new Refused(`The viewer answered ${answer.status}.`);
  return answer.text();
}

export const readHistory = (name: DispatchName, position: number) =>
  ask<History>(`${pathOf(name)}/history?to=${position}`);

export const readAgents = (name: DispatchName) =>
  ask<{ readonly agents: readonly NamedAgent[] }>(`${pathOf(name)}/agents`);

interface ListingPage {
  readonly dispatches: readonly Listing[];
  readonly next: string | null;
}

/** The newest dispatches, in this number of pages; `next` is null if these are all. */
export async function readDispatches(task: string | null, pages: number): Promise<ListingPage> {
  const dispatches: Listing[] = [];
  let next: string | null = null;
  for (let page = 0; page < pages; page += 1) {
    const query = new URLSearchParams();
    if (task !== null) query.set('task', task);
    if (next !== null) query.set('after', next);
    const answer: ListingPage = await ask<ListingPage>(`/api/dispatches?${query}`);
    dispatches.push(...answer.dispatches);
    next = answer.next;
    if (next === null) break;
  }
  return { dispatches, next };
}
