import type { CommunicationHost, CommunicationProvider, DispatchStartNotice } from '@hansard/provider';
import { type Clock, systemClock } from '@hansard/provider';
import { createViewer, type RunningViewer, type ViewedStore } from '@hansard/viewer';
import { Runs } from './runs.ts';
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
