import type { DispatchLog, DispatchRef } from '@hansard/dispatch';
import { type CapturedEvent, type HansardError, isPlainObject } from '@hansard/events';
import { neutraliseControls } from '@hansard/events/plain';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { SSEStreamingApi } from 'hono/streaming';
import type { EndedWriting, RunControls, WritingMessage, WritingPiece } from '../answers.ts';
import { viewerErrors } from '../viewer-errors.ts';

/** A text that an agent is writing. It is not in the log. */
export interface OpenText {
  /** Unique in the process. */
  readonly key: number;
  /** Empty: the dispatched agent. */
  readonly agentId: string;
  readonly kind: 'text' | 'thinking';
  /** How many characters before `text` are not kept. */
  readonly start: number;
  readonly text: string;
}

export type RunChange =
  /** The texts, whether it runs, or what can be done with it. */
  | { readonly kind: 'changed' }
  /** A text ended: it is in this event now. Null: it never will be in the log. */
  | { readonly kind: 'ended'; readonly key: number; readonly eventId: string | null }
  /** The viewer will be closed soon. A page that has everything should close its connection. */
  | { readonly kind: 'over' };

/** The dispatches that run in the process of the viewer. What it keeps is bounded. */
export interface ViewedRuns {
  /** What can be done with it now. Null: it does not run in this process. */
  controls(dispatch: DispatchRef): RunControls | null;
  texts(dispatch: DispatchRef): readonly OpenText[];
  /** Calls back after each change of a dispatch, until the returned function is called. */
  watch(dispatch: DispatchRef, onChange: (change: RunChange) => void): () => void;
  /** Delivers a message of the user. False: it does not run here, or takes none. Fails as `CommunicationHost.deliver` does. */
  send(dispatch: DispatchRef, text: string): Promise<boolean>;
  /** Stops it for the user. False: it does not run here, or cannot be stopped. */
  abort(dispatch: DispatchRef): boolean;
}

/** Milliseconds. Pieces that come within this time share a message. */
const gatherMs = 50;
/** The number of latest events whose ids are known, with their positions. */
const mostPositions = 1_000;

interface Ended {
  readonly key: number;
  readonly eventId: string | null;
}

interface SentWritingOptions {
  readonly stream: Pick<SSEStreamingApi, 'writeSSE'>;
  readonly runs: ViewedRuns;
  readonly log: DispatchLog;
}

/**
 * Sends a page what agents are writing: `writing`, first with all open texts, then with what came since. A text that is in the log now is
 * sent as ended, with the position of its event, so that the page shows it until it has that row: neither twice nor not at all.
 * One message at a time is under way: of a slow page nothing is kept but how far each text was sent.
 */
export class SentWriting {
  readonly #stream: SentWritingOptions['stream'];
  readonly #runs: ViewedRuns;
  readonly #log: DispatchLog;
  /** How far each open text was sent. */
  readonly #sentTo = new Map<number, number>();
  readonly #positions = new Map<string, number>();
  /** The texts that were sent, and ended with an event. */
  #ended: Ended[] = [];
  #isFirst = true;
  #controls = '';
  #timer: NodeJS.Timeout | null = null;
  #queued: Promise<void> | null = null;
  #sending: Promise<void> = Promise.resolve();
  /** The position of the last event that was given to the page. */
  #reached = -1;
  /** Where the log ended when the viewer began to close; null: it does not close. */
  #end: number | null = null;
  #unwatch = () => {};
  /** Called after the viewer began to close. */
  onOver: () => void = () => {};

  constructor({ stream, runs, log }: SentWritingOptions) {
    this.#stream = stream;
    this.#runs = runs;
    this.#log = log;
  }

  /** `after`: the position of the last event that the page has. */
  start(after: number): Promise<void> {
    this.#reached = after;
    this.#unwatch = this.#runs.watch(this.#log, (change) => this.#changed(change));
    return this.flush();
  }

  /** Called with each event before its row is sent. */
  followed({ id }: CapturedEvent, position: number): void {
    this.#positions.set(id, position);
    for (const oldest of this.#positions.keys()) {
      if (this.#positions.size <= mostPositions) break;
      this.#positions.delete(oldest);
    }
    if (this.#ended.some(({ eventId }) => eventId === id)) this.#gather();
  }

  /** The rows up to a position will be sent before anything else. */
  reached(position: number): void {
    this.#reached = Math.max(this.#reached, position);
  }

  /** Whether the viewer closes and the page has everything. */
  get isOver(): boolean {
    return this.#end !== null && this.#reached >= this.#end;
  }

  /** Sends what changed. */
  flush(): Promise<void> {
    this.#stopTimer();
    this.#queued ??= this.#sending.then(() => {
      this.#queued = null;
      return this.#send();
    });
    this.#sending = this.#queued;
    return this.#queued;
  }

  /** Nothing more is gathered. */
  stop(): void {
    this.#stopTimer();
    this.#unwatch();
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #changed(change: RunChange): void {
    if (change.kind === 'over') {
      void this.#close();
      return;
    }
    if (change.kind === 'ended' && this.#sentTo.delete(change.key)) this.#ended.push(change);
    this.#gather();
  }

  async #close(): Promise<void> {
    try {
      this.#end = (await this.#log.last(0)).first - 1;
    } catch {
      // The following says why the log cannot be read.
      this.#end = -1;
    }
    this.onOver();
  }

  #gather(): void {
    this.#timer ??= setTimeout(() => void this.flush(), gatherMs);
  }

  async #send(): Promise<void> {
    const isFirst = this.#isFirst;
    const controls = this.#runs.controls(this.#log);
    const given = JSON.stringify(controls);
    const texts = this.#runs.texts(this.#log).flatMap((text) => this.#pieceOf(text));
    const ended = this.#takeEnded();
    if (!isFirst && given === this.#controls && texts.length === 0 && ended.length === 0) return;
    this.#isFirst = false;
    this.#controls = given;
    const message: WritingMessage = { isFirst, controls, texts, ended };
    await this.#stream.writeSSE({ event: 'writing', data: JSON.stringify(message) });
  }

  #takeEnded(): EndedWriting[] {
    const waiting: Ended[] = [];
    const ended = this.#ended.flatMap((one): EndedWriting[] => {
      if (one.eventId === null) return [{ key: one.key, position: null }];
      const position = this.#positions.get(one.eventId);
      if (position !== undefined) return [{ key: one.key, position }];
      waiting.push(one);
      return [];
    });
    this.#ended = waiting;
    return ended;
  }

  /** What the page does not have of a text. */
  #pieceOf({ key, agentId, kind, start, text }: OpenText): WritingPiece[] {
    const end = start + text.length;
    const from = Math.max(start, this.#sentTo.get(key) ?? 0);
    if (this.#sentTo.get(key) === end) return [];
    this.#sentTo.set(key, end);
    return [{ key, agentId, kind, from, end, text: neutraliseControls(text.slice(from - start)) }];
  }
}

/** The most bytes that are sent to a run at once. */
const mostBytes = 64 * 1024;

/** The paths below `/api/d/:task/:id` that take a POST. */
export const runPath = /^\/api\/d\/[^/]+\/[^/]+\/(?:message|abort)$/;

/**
 * What can be sent to a run, below `/api/d/:task/:id`:
 *
 *     POST /message  { "text": "…" }  a message of the user
 *     POST /abort    {}               ends it as aborted
 */
export function runRoutes(runs: ViewedRuns, most = mostBytes): Hono {
  const app = new Hono();
  const limit = bodyLimit({
    maxSize: most,
    onError: (context) =>
      context.json({ code: 'VIEW_MESSAGE_INVALID', message: `A message has at most ${most} bytes.` }, 413),
  });

  app.post('/message', limit, async (context) => {
    const { text } = await bodyOf(context);
    if (typeof text !== 'string' || text.trim() === '')
      throw viewerErrors.error('VIEW_MESSAGE_INVALID', 'A message needs a "text" that is not empty.');
    const dispatch = dispatchOf(context);
    if (!(await runs.send(dispatch, text)))
      throw notHere(dispatch, 'takes no messages now, or does not run here.');
    return context.json({});
  });

  app.post('/abort', limit, async (context) => {
    await bodyOf(context);
    const dispatch = dispatchOf(context);
    if (!runs.abort(dispatch)) throw notHere(dispatch, 'does not run here, or cannot be stopped from here.');
    return context.json({});
  });

  return app;
}

function notHere({ dispatchId }: DispatchRef, why: string): HansardError {
  return viewerErrors.error('VIEW_RUN_NOT_HERE', `The dispatch ${dispatchId} ${why}`, {
    details: { dispatchId },
  });
}

function dispatchOf(context: Context): DispatchRef {
  const { task = '', id = '' } = context.req.param() as Record<string, string>;
  return { taskDir: task, dispatchId: id };
}

/** What was sent, as a JSON object. @throws VIEW_MESSAGE_INVALID */
export async function bodyOf(context: Context): Promise<Readonly<Record<string, unknown>>> {
  const value: unknown = await context.req.json().catch((cause: unknown) => {
    throw viewerErrors.error('VIEW_MESSAGE_INVALID', 'What was sent is not JSON.', { cause });
  });
  if (isPlainObject(value)) return value;
  throw viewerErrors.error('VIEW_MESSAGE_INVALID', 'What was sent must be a JSON object.');
}
