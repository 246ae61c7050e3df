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
  readonly rows: readonly ReaderRow[];
}

export const readLast = (name: DispatchName, count: number) =>
  ask<Rows>(`${pathOf(name)}/rows?last=${count}`);

export const readRows = (name: DispatchName, from: number, count: number, signal: AbortSignal) =>
  ask<Rows>(`${pathOf(name)}/rows?from=${from}&n=${count}`, signal);

export const readEvent = (name: DispatchName, position: number) =>
  ask<EventDetail>(`${pathOf(name)}/event/${position}`);

export const readHistory = (name: DispatchName, position: number) =>
  ask<History>(`${pathOf(name)}/history?to=${position}`);

export const readAgents = (name: DispatchName) =>
  ask<{ readonly agents: readonly NamedAgent[] }>(`${pathOf(name)}/agents`);

export const readDispatches = (task: string | null) =>
  ask<{ readonly dispatches: readonly Listing[] }>(
    `/api/dispatches${task === null ? '' : `?task=${encodeURIComponent(task)}`}`,
  );
