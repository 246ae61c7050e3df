import type { CapturedEvent, Delta } from '@hansard/events';
import {
  type Clock,
  type CommunicationHost,
  type CommunicationProvider,
  type DeltaNotice,
  type DispatchNotice,
  type DispatchStartNotice,
  type EventNotice,
  systemClock,
} from '@hansard/provider';
import {
  createViewer,
  type OpenText,
  type RunChange,
  type RunningViewer,
  type ViewedRuns,
  type ViewedStore,
} from '@hansard/viewer';
import { webErrors } from './web-errors.ts';

export interface RunPage extends CommunicationProvider, AsyncDisposable {
  close(): Promise<void>;
}

/** Milliseconds that open pages get to receive what is recorded, before the page ends. */
const closeMs = 1_000;

/**
 * The viewer of the store, in the process of a harness: it also shows what agents are writing, sends them messages and stops them. It
 * listens on 127.0.0.1 from `start` to `close`. Its notices only change memory, so that no page can delay a dispatch.
 */
export function createRunPage({
  port = 0,
  announce,
  clock = systemClock,
}: {
  /** Absent, or 0: any port that is free. */
  readonly port?: number;
  /** Receives the address of the first dispatch, when it begins. Anyone with it can read the store, and send messages to the agents. */
  readonly announce: (address: string) => void;
  readonly clock?: Clock;
}): RunPage {
  const runs = new Runs();
  let running: RunningViewer | null = null;
  let closing: Promise<void> | null = null;
  let isAnnounced = false;

  async function end(): Promise<void> {
    let stop = () => {};
    const late = new Promise<void>((resolve) => {
      stop = clock.after(closeMs, resolve);
    });
    await Promise.race([runs.over(), late]);
    stop();
    await running?.close();
  }

  function close(): Promise<void> {
    closing ??= end();
    return closing;
  }

  return {
    contract: 1,

    async start(host: CommunicationHost) {
      runs.host = host;
      running = await createViewer({ store: storeOf(host), runs }).start({ port });
    },

    dispatchStarted(notice: DispatchStartNotice) {
      runs.started(notice);
      if (isAnnounced || running === null) return;
      isAnnounced = true;
      const place = [notice.taskDir, notice.envelope.dispatchId].map(encodeURIComponent).join('/');
      announce(`${running.url}#/d/${place}`);
    },

    eventRecorded: (notice) => runs.eventRecorded(notice),
    deltaReceived: (notice) => runs.deltaReceived(notice),
    dispatchEnded: (notice) => runs.ended(notice),
    close,
    [Symbol.asyncDispose]: close,
  };
}

const methods = ['listTasks', 'listDispatches', 'watch', 'findDispatch'] as const;

function storeOf({ store }: CommunicationHost): ViewedStore {
  if (store !== undefined && isViewedStore(store)) return store;
  throw webErrors.error('COMM_WEB_NO_STORE', 'The host gives no store that the page could read.');
}

function isViewedStore(store: object): store is ViewedStore {
  const found = store as Partial<ViewedStore>;
  return typeof found.capabilities === 'object' && methods.every((name) => typeof found[name] === 'function');
}

/** Characters at the end of a text that are kept at least; twice as many at most. */
export const mostKept = 20_000;

/** The most texts that are open in a dispatch; a further one ends the one that began first. */
export const mostTexts = 32;

const kinds: Readonly<Partial<Record<Delta['type'], OpenText['kind']>>> = {
  'delta:text': 'text',
  'delta:thinking': 'thinking',
};

/** The events after which an agent no longer writes these texts: they are recorded, or never will be. */
const endedBy: Readonly<Record<string, readonly OpenText['kind'][]>> = {
  'agent:thinking': ['thinking'],
  'agent:text': ['thinking', 'text'],
  'agent:tool_call': ['thinking', 'text'],
  'agent:terminated': ['thinking', 'text'],
  'harness:error': ['thinking', 'text'],
  'harness:model_retried': ['thinking', 'text'],
};

type Dispatch = Parameters<ViewedRuns['controls']>[0];

type Listener = (change: RunChange) => void;

/** The dispatches that run in this process, for a viewer. */
export class Runs implements ViewedRuns {
  /** Null: nothing can be sent yet. */
  host: CommunicationHost | null = null;
  readonly #running = new Map<string, RunTexts>();
  readonly #listeners = new Map<string, Set<Listener>>();
  #lastKey = 0;
  #onUnwatched = () => {};

  controls(dispatch: Dispatch): ReturnType<ViewedRuns['controls']> {
    if (!this.#running.has(keyOf(dispatch)) || this.host === null) return null;
    return this.host.accepts(dispatch.dispatchId);
  }

  texts(dispatch: Dispatch): readonly OpenText[] {
    return this.#running.get(keyOf(dispatch))?.open() ?? [];
  }

  watch(dispatch: Dispatch, onChange: Listener): () => void {
    const key = keyOf(dispatch);
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(onChange));
    return () => {
      listeners.delete(onChange);
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key);
      if (this.#listeners.size === 0) this.#onUnwatched();
    };
  }

  async send({ dispatchId, ...dispatch }: Dispatch, text: string): Promise<boolean> {
    if (this.host === null || !this.#running.has(keyOf({ dispatchId, ...dispatch }))) return false;
    return this.host.deliver({ text, dispatchId });
  }

  abort(dispatch: Dispatch): boolean {
    if (this.host === null || !this.#running.has(keyOf(dispatch))) return false;
    return this.host.abort(dispatch.dispatchId, 'aborted on the page');
  }

  started(notice: DispatchNotice): void {
    this.#textsOf(notice);
    this.#emit(dispatchOf(notice), { kind: 'changed' });
  }

  deltaReceived(notice: DeltaNotice): void {
    this.#textsOf(notice).add(notice.delta);
  }

  eventRecorded(notice: EventNotice): void {
    this.#textsOf(notice).recorded(notice.event);
    // A conversation takes messages from some event on.
    this.#emit(dispatchOf(notice), { kind: 'changed' });
  }

  ended(notice: DispatchNotice): void {
    this.#textsOf(notice).endAll();
    const dispatch = dispatchOf(notice);
    this.#running.delete(keyOf(dispatch));
    this.#emit(dispatch, { kind: 'changed' });
  }

  /** Resolves when no page watches a dispatch any more, after each was asked to end. */
  async over(): Promise<void> {
    if (this.#listeners.size === 0) return;
    const unwatched = new Promise<void>((resolve) => {
      this.#onUnwatched = resolve;
    });
    for (const listeners of [...this.#listeners.values()])
      for (const listener of [...listeners]) listener({ kind: 'over' });
    await unwatched;
  }

  #textsOf(notice: DispatchNotice): RunTexts {
    const dispatch = dispatchOf(notice);
    const key = keyOf(dispatch);
    const known = this.#running.get(key);
    if (known !== undefined) return known;
    const texts = new RunTexts(
      () => {
        this.#lastKey += 1;
        return this.#lastKey;
      },
      (change) => this.#emit(dispatch, change),
    );
    this.#running.set(key, texts);
    return texts;
  }

  #emit(dispatch: Dispatch, change: RunChange): void {
    for (const listener of [...(this.#listeners.get(keyOf(dispatch)) ?? [])]) listener(change);
  }
}

function dispatchOf({ taskDir, envelope }: DispatchNotice): Dispatch {
  return { taskDir, dispatchId: envelope.dispatchId };
}

function keyOf({ taskDir, dispatchId }: Dispatch): string {
  return JSON.stringify([taskDir, dispatchId]);
}

interface Growing {
  readonly key: number;
  readonly agentId: string;
  readonly kind: OpenText['kind'];
  readonly messageId: string | undefined;
  start: number;
  text: string;
}

/** The texts that the agents of one dispatch are writing: at most one of each kind for an agent. */
export class RunTexts {
  readonly #nextKey: () => number;
  readonly #onChange: (change: RunChange) => void;
  /** In the order in which they began. */
  readonly #open = new Map<string, Growing>();

  constructor(nextKey: () => number, onChange: (change: RunChange) => void) {
    this.#nextKey = nextKey;
    this.#onChange = onChange;
  }

  open(): readonly OpenText[] {
    return [...this.#open.values()].map(({ key, agentId, kind, start, text }) => ({
      key,
      agentId,
      kind,
      start,
      text,
    }));
  }

  add({ type, agentId = '', messageId, text }: Delta): void {
    const kind = kinds[type];
    if (kind === undefined || text === '') return;
    const slot = `${kind} ${agentId}`;
    // Another message of the agent: the one before was not recorded.
    if (this.#open.get(slot)?.messageId !== messageId) this.#end(slot, null);
    const growing = this.#open.get(slot) ?? this.#begin(slot, { agentId, kind, messageId });
    growing.text += text;
    if (growing.text.length > 2 * mostKept) {
      growing.start += growing.text.length - mostKept;
      growing.text = growing.text.slice(-mostKept);
    }
    this.#onChange({ kind: 'changed' });
  }

  recorded({ id, type, agentId = '' }: CapturedEvent): void {
    for (const kind of endedBy[type] ?? []) this.#end(`${kind} ${agentId}`, id);
  }

  endAll(): void {
    for (const slot of [...this.#open.keys()]) this.#end(slot, null);
  }

  #begin(slot: string, text: Pick<Growing, 'agentId' | 'kind' | 'messageId'>): Growing {
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size >= mostTexts) this.#end(oldest, null);
    const growing: Growing = { ...text, key: this.#nextKey(), start: 0, text: '' };
    this.#open.set(slot, growing);
    return growing;
  }

  #end(slot: string, eventId: string | null): void {
    const growing = this.#open.get(slot);
    if (growing === undefined) return;
    this.#open.delete(slot);
    this.#onChange({ kind: 'ended', key: growing.key, eventId });
  }
}
