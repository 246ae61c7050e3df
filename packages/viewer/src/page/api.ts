import { useEffect, useState } from 'preact/hooks';
import type { EventDetail, History, LibraryLine, NamedAgent, ReaderRow } from '../answers.ts';
import { pageSize } from '../page-cache.ts';

export interface DispatchName {
  readonly task: string;
  readonly id: string;
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

/** Sends something to the server. Null: it was received; otherwise why not, for people. */
export async function post(path: string, body: object): Promise<string | null> {
  try {
    const answer = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hansard': 'page' },
      body: JSON.stringify(body),
    });
    if (answer.ok) return null;
    const { code, message } = (await answer.json().catch(() => ({}))) as { code?: string; message?: string };
    return [code, message ?? `The viewer answered ${answer.status}.`].filter(Boolean).join(': ');
  } catch {
    return 'The viewer does not answer.';
  }
}

export interface Rows {
  readonly first: number;
  readonly size: number;
  /** The position of the last event that the rows are made from. */
  readonly end: number;
  readonly rows: readonly ReaderRow[];
}

/** `open`: the positions of the folds that are open, or `all`. */
export const readLast = (name: DispatchName, count: number, open: string) =>
  ask<Rows>(`${pathOf(name)}/rows?last=${count}&open=${open}`);

const readRows = (name: DispatchName, from: number, count: number, open: string, signal: AbortSignal) =>
  ask<Rows>(`${pathOf(name)}/rows?from=${from}&n=${count}&open=${open}`, signal);

export const readEvent = (name: DispatchName, position: number) =>
  ask<EventDetail>(`${pathOf(name)}/event/${position}`);

export const linePath = (name: DispatchName, position: number) => `${pathOf(name)}/event/${position}/line`;

export const contentPath = (name: DispatchName, sha256: string, type = '') =>
  `${pathOf(name)}/content/${sha256}?type=${encodeURIComponent(type)}`;

/** An image of a log as a data URL, the only kind of image that the page's policy allows. */
export async function readImage(name: DispatchName, sha256: string, type: string): Promise<string> {
  const answer = await fetch(contentPath(name, sha256, type));
  if (!answer.ok)
    throw new Refused(answer.status === 404 ? 'not in the log' : `The viewer answered ${answer.status}.`);
  const bytes = await answer.blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Refused('The image cannot be read.'));
    reader.readAsDataURL(bytes);
  });
}

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
  readonly dispatches: readonly LibraryLine[];
  readonly next: string | null;
}

/** A page of dispatches, newest first, after the place that the page before it names. */
export function readDispatches(task: string | null, after: string | null): Promise<ListingPage> {
  const query = new URLSearchParams();
  if (task !== null) query.set('task', task);
  if (after !== null) query.set('after', after);
  return ask<ListingPage>(`/api/dispatches?${query}`);
}

/** Answers to a question that is asked again before it is answered. An answer to an earlier question never replaces a later one. */
export class LatestAnswer<Answer> {
  #asked = 0;
  #answered = 0;

  /** Null: a later question has been answered already. */
  async of(answer: Promise<Answer>): Promise<Answer | null> {
    this.#asked += 1;
    const number = this.#asked;
    const given = await answer;
    if (number < this.#answered) return null;
    this.#answered = number;
    return given;
  }
}

interface Asked<Answer> {
  /** Null: it is read for the first time. */
  readonly answer: Answer | null;
  readonly problem: string | null;
  again(): void;
}

/** An answer of the server, asked for again when the store changes, as long as `isLive` says so of the last answer. A null path is not asked for. */
export function useAnswer<Answer>(path: string | null, isLive: (answer: Answer) => boolean): Asked<Answer> {
  const [asked, setAsked] = useState<{ path: string; answer: Answer } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [turn, setTurn] = useState(0);
  const answer = asked?.path === path ? asked.answer : null;
  const follows = answer !== null && isLive(answer);
  useEffect(() => {
    if (path === null) return;
    const asking = new AbortController();
    ask<Answer>(path, asking.signal).then(
      (answer) => {
        if (asking.signal.aborted) return;
        setAsked({ path, answer });
        setProblem(null);
      },
      (error: Error) => {
        if (!asking.signal.aborted) setProblem(error.message);
      },
    );
    return () => asking.abort();
  }, [path, turn]);
  const again = () => setTurn((last) => last + 1);
  useEffect(() => {
    if (!follows) return;
    const changes = new EventSource('/api/changes');
    changes.onmessage = again;
    // A connection begins: what changed before it is not reported.
    changes.addEventListener('hello', again);
    return () => changes.close();
  }, [path, follows]);
  return { answer, problem, again };
}

interface PageListener {
  /** As of `readLast`, when rows are asked for. */
  open(): string;
  onRows(rows: Rows): void;
  onError(error: unknown): void;
}

/** Pages that are further away are no longer waited for. */
const nearPages = 2;

/** The most pages of a request. The server reads the events around a request, which cost more than a second page. */
const mostPages = 3;

/** Reads pages of rows, each once at a time, those that follow each other together. */
export class PageReader {
  readonly #name: DispatchName;
  readonly #listener: PageListener;
  readonly #reading = new Map<number, AbortController>();

  constructor(name: DispatchName, listener: PageListener) {
    this.#name = name;
    this.#listener = listener;
  }

  /** Reads pages. `shown`: those in the window. */
  read(pages: readonly number[], shown: readonly number[]): void {
    const isNear = (page: number) => shown.some((near) => Math.abs(page - near) <= nearPages);
    const needed = new Set([...this.#reading].filter(([page]) => isNear(page)).map(([, reading]) => reading));
    for (const reading of this.#reading.values()) if (!needed.has(reading)) reading.abort();
    const runs: number[][] = [];
    for (const page of pages
      .filter((wanted) => !this.#reading.has(wanted))
      .sort((one, other) => one - other)) {
      const run = runs.at(-1);
      if (run !== undefined && run.at(-1) === page - 1 && run.length < mostPages) run.push(page);
      else runs.push([page]);
    }
    for (const run of runs) void this.#read(run);
  }

  /** What is being read is no longer wanted. */
  close(): void {
    for (const reading of this.#reading.values()) reading.abort();
    this.#reading.clear();
  }

  async #read(run: readonly number[]): Promise<void> {
    const reading = new AbortController();
    const [first = 0] = run;
    for (const page of run) this.#reading.set(page, reading);
    const done = () => {
      for (const page of run) if (this.#reading.get(page) === reading) this.#reading.delete(page);
    };
    try {
      const count = run.length * pageSize;
      const rows = await readRows(this.#name, first * pageSize, count, this.#listener.open(), reading.signal);
      done();
      if (!reading.signal.aborted) this.#listener.onRows(rows);
    } catch (error) {
      done();
      if (!reading.signal.aborted) this.#listener.onError(error);
    }
  }
}
