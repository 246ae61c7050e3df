import {
  type DispatchEnvelope,
  type EnvelopeUpdates,
  type ReadEventsOptions,
  type SearchEventsOptions,
  storeErrors,
  type TaskRecord,
} from '@hansard/provider';
import { MemoryStore } from '../src/memory-store.ts';
import { brokenAnswers } from './broken-answers.ts';
import { brokenClaims } from './broken-claims.ts';
import type { BrokenStore, Events } from './broken-store.ts';

/** The memory store, each time with one fault. */
export const brokenStores: readonly BrokenStore[] = [
  {
    fault: 'was written for another version of the contract',
    caseIds: ['capabilities/contract-version'],
    create: () =>
      new (class extends MemoryStore {
        override readonly contract = 2 as never;
      })(),
  },
  {
    fault: 'drops an event without an error',
    caseIds: ['appends/batch-is-whole', 'appends/each-is-readable'],
    create: () =>
      new (class extends MemoryStore {
        override appendEvents(taskDir: string, dispatchId: string, events: Events) {
          return super.appendEvents(
            taskDir,
            dispatchId,
            events.filter(({ id }) => !id.endsWith('7')),
          );
        }
      })(),
  },
  {
    fault: 'keeps the first half of a refused batch',
    caseIds: ['appends/batch-all-or-nothing', 'appends/batch-conflict-in-itself'],
    create: () =>
      new (class extends MemoryStore {
        override appendEvents(taskDir: string, dispatchId: string, events: Events) {
          return events.flatMap((event) => super.appendEvents(taskDir, dispatchId, [event]));
        }
      })(),
  },
  {
    fault: 'accepts other content under a stored id as a retry',
    caseIds: ['idempotence/conflict', 'idempotence/close-values'],
    create: () =>
      new (class extends MemoryStore {
        override appendEvents(taskDir: string, dispatchId: string, events: Events) {
          try {
            return super.appendEvents(taskDir, dispatchId, events);
          } catch (error) {
            if (!storeErrors.is(error, 'STORE_EVENT_CONFLICT')) throw error;
            return events.map(() => 0);
          }
        }
      })(),
  },
  {
    fault: 'loses a field of an event',
    caseIds: ['values/links'],
    create: () =>
      new (class extends MemoryStore {
        override appendEvents(taskDir: string, dispatchId: string, events: Events) {
          return super.appendEvents(
            taskDir,
            dispatchId,
            events.map(({ via: _, ...rest }) => rest),
          );
        }
      })(),
  },
  {
    fault: 'loses keys named __proto__',
    caseIds: ['values/proto-keys'],
    create: () =>
      new (class extends MemoryStore {
        override appendEvents(taskDir: string, dispatchId: string, events: Events) {
          const copies = events.map((event) => ({ ...event, data: Object.assign({}, event.data) }));
          return super.appendEvents(taskDir, dispatchId, copies);
        }
      })(),
  },
  {
    fault: 'creates a missing dispatch when it is used',
    caseIds: ['dispatches/missing-append-event', 'dispatches/missing-append-events'],
    create: () =>
      new (class extends MemoryStore {
        override appendEvents(taskDir: string, dispatchId: string, events: Events) {
          if (this.getDispatchEnvelope(taskDir, dispatchId) === null)
            this.createDispatch(taskDir, { dispatchId, status: 'running' } as DispatchEnvelope);
          return super.appendEvents(taskDir, dispatchId, events);
        }
      })(),
  },
  {
    fault: 'creates over a dispatch that exists',
    caseIds: ['dispatches/create-twice', 'dispatches/create-at-once'],
    create: () =>
      new (class extends MemoryStore {
        override createDispatch(taskDir: string, envelope: DispatchEnvelope) {
          if (this.getDispatchEnvelope(taskDir, envelope.dispatchId) !== null)
            this.deleteDispatch(taskDir, envelope.dispatchId);
          super.createDispatch(taskDir, envelope);
        }
      })(),
  },
  {
    fault: 'returns the envelope that it keeps, not a copy',
    caseIds: ['reads/copies-get-dispatch-envelope'],
    create: () => {
      const given = new Map<string, DispatchEnvelope | null>();
      return new (class extends MemoryStore {
        override getDispatchEnvelope(taskDir: string, dispatchId: string) {
          const fresh = super.getDispatchEnvelope(taskDir, dispatchId);
          const kept = given.get(dispatchId) ?? fresh;
          given.set(dispatchId, kept);
          return kept;
        }
      })();
    },
  },
  {
    fault: 'returns the newest of the last events first',
    caseIds: ['reads/recent-oldest-first', 'open/get-recent-events'],
    create: () =>
      new (class extends MemoryStore {
        override getRecentEvents(taskDir: string, dispatchId: string, count: number) {
          return super.getRecentEvents(taskDir, dispatchId, count).reverse();
        }
      })(),
  },
  {
    fault: 'ignores the limit of a page',
    caseIds: ['pages/first-and-next', 'pages/default-limit'],
    create: () =>
      new (class extends MemoryStore {
        override readEvents(taskDir: string, dispatchId: string, options: ReadEventsOptions = {}) {
          return super.readEvents(taskDir, dispatchId, { ...options, limit: Number.MAX_SAFE_INTEGER });
        }
      })(),
  },
  {
    fault: 'returns a cursor that is one too great',
    caseIds: ['pages/first-and-next', 'pages/walk', 'model/random-steps'],
    create: () =>
      new (class extends MemoryStore {
        override readEvents(taskDir: string, dispatchId: string, options?: ReadEventsOptions) {
          const page = super.readEvents(taskDir, dispatchId, options);
          return { ...page, next: page.next + 1 };
        }
      })(),
  },
  {
    fault: 'returns an empty page for a cursor after the end',
    caseIds: ['pages/beyond-the-end'],
    create: () =>
      new (class extends MemoryStore {
        override readEvents(taskDir: string, dispatchId: string, options: ReadEventsOptions = {}) {
          const last = this.getDispatchEvents(taskDir, dispatchId).length - 1;
          return super.readEvents(taskDir, dispatchId, {
            ...options,
            after: Math.min(options.after ?? -1, last),
          });
        }
      })(),
  },
  {
    fault: 'loses the nulls of an update',
    caseIds: ['envelopes/update-to-null'],
    create: () =>
      new (class extends MemoryStore {
        override updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates) {
          const kept = Object.entries(updates).filter(([, value]) => value !== null);
          return super.updateDispatch(taskDir, dispatchId, Object.fromEntries(kept));
        }
      })(),
  },
  {
    fault: 'merges a record into the one before',
    caseIds: ['tasks/replaced'],
    create: () =>
      new (class extends MemoryStore {
        override putTask(taskDir: string, task: TaskRecord) {
          super.putTask(taskDir, { ...this.findTask(taskDir), ...task });
        }
      })(),
  },
  {
    fault: 'returns null for a task above its root',
    caseIds: ['paths/find-task'],
    create: () =>
      new (class extends MemoryStore {
        override findTask(taskDir: string) {
          return taskDir.startsWith('../') ? null : super.findTask(taskDir);
        }
      })(),
  },
  {
    fault: 'still works after it was closed',
    caseIds: ['closed/append-event', 'closed/read-events', 'closed/list-tasks'],
    create: () =>
      new (class extends MemoryStore {
        override close() {}
      })(),
  },
  {
    fault: 'finds events with any of the words',
    caseIds: ['search/every-word'],
    create: () =>
      new (class extends MemoryStore {
        override searchEvents(query: string, options?: SearchEventsOptions) {
          return query.split(' ').flatMap((word) => super.searchEvents(word, options));
        }
      })(),
  },
  {
    fault: 'calls listeners that were stopped',
    caseIds: ['watch/stop'],
    create: () =>
      new (class extends MemoryStore {
        override watch(...args: Parameters<MemoryStore['watch']>) {
          super.watch(...args);
          return () => {};
        }
      })(),
  },
  {
    fault: 'deletes nothing',
    caseIds: ['delete/gone', 'delete/begin-again', 'open/delete-dispatch'],
    create: () =>
      new (class extends MemoryStore {
        override deleteDispatch() {}
      })(),
  },
  ...brokenClaims,
  ...brokenAnswers,
];
