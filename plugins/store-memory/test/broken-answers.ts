import {
  type DispatchEnvelope,
  type EnvelopeUpdates,
  type ReadEventsOptions,
  storeErrors,
} from '@hansard/provider';
import { MemoryStore } from '../src/memory-store.ts';
import type { BrokenStore } from './broken-store.ts';

/** Stores with wrong answers to an update or to a read of the last events. */
export const brokenAnswers: readonly BrokenStore[] = [
  {
    fault: 'returns the envelope from before an update',
    caseIds: ['envelopes/update-gives-the-envelope', 'open/update-dispatch', 'model/random-steps'],
    create: () =>
      new (class extends MemoryStore {
        override updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates) {
          const { envelope } = this.claimedEnvelope(taskDir, dispatchId);
          super.updateDispatch(taskDir, dispatchId, updates);
          return envelope;
        }

        claimedEnvelope(taskDir: string, dispatchId: string) {
          super.updateDispatch(taskDir, dispatchId, {});
          return super.claimDispatch(taskDir, dispatchId);
        }
      })(),
  },
  {
    fault: 'returns only the fields of an update',
    caseIds: ['envelopes/update-gives-the-envelope', 'open/update-dispatch'],
    create: () =>
      new (class extends MemoryStore {
        override updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates) {
          super.updateDispatch(taskDir, dispatchId, updates);
          return updates as DispatchEnvelope;
        }
      })(),
  },
  {
    fault: 'loses the title of a dispatch',
    caseIds: ['envelopes/title'],
    create: () =>
      new (class extends MemoryStore {
        override createDispatch(taskDir: string, envelope: DispatchEnvelope) {
          super.createDispatch(taskDir, { ...envelope, title: null });
        }
      })(),
  },
  {
    fault: 'returns one of the last events too few',
    caseIds: ['last/tail', 'last/long-dispatch', 'model/random-steps'],
    create: () =>
      new (class extends MemoryStore {
        override readEvents(taskDir: string, dispatchId: string, options: ReadEventsOptions = {}) {
          const { last = 0 } = options;
          return super.readEvents(taskDir, dispatchId, last > 0 ? { last: last - 1 } : options);
        }
      })(),
  },
  {
    fault: 'returns all events for the last 0',
    caseIds: ['last/none'],
    create: () =>
      new (class extends MemoryStore {
        override readEvents(taskDir: string, dispatchId: string, options: ReadEventsOptions = {}) {
          if (options.last !== 0) return super.readEvents(taskDir, dispatchId, options);
          const events = this.getDispatchEvents(taskDir, dispatchId);
          return { events, first: 0, next: events.length - 1 };
        }
      })(),
  },
  {
    fault: 'counts the positions of the last events from 0',
    caseIds: ['last/tail', 'last/none', 'last/next-reads-on'],
    create: () =>
      new (class extends MemoryStore {
        override readEvents(taskDir: string, dispatchId: string, options: ReadEventsOptions = {}) {
          const page = super.readEvents(taskDir, dispatchId, options);
          return options.last === undefined ? page : { ...page, first: 0, next: page.events.length - 1 };
        }
      })(),
  },
  {
    fault: 'fails if fewer events exist than the last that are requested',
    caseIds: ['last/more-than-there-are'],
    create: () =>
      new (class extends MemoryStore {
        override readEvents(taskDir: string, dispatchId: string, options: ReadEventsOptions = {}) {
          const count = this.getDispatchEvents(taskDir, dispatchId).length;
          const after = options.last === undefined ? options.after : count - options.last - 1;
          if (after !== undefined && after < -1) throw storeErrors.error('STORE_INVALID_CURSOR', 'Too many.');
          return super.readEvents(taskDir, dispatchId, options);
        }
      })(),
  },
];
