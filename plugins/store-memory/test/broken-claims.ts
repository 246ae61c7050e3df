import { type DispatchEnvelope, type EnvelopeUpdates, storeErrors } from '@hansard/provider';
import { MemoryStore } from '../src/memory-store.ts';
import type { BrokenStore, Events } from './broken-store.ts';

/** Stores that break a rule of claiming and releasing. */
export const brokenClaims: readonly BrokenStore[] = [
  {
    fault: 'claims a dispatch when an event is appended to it',
    caseIds: ['claims/append-claims-nothing', 'claims/batch-claims-nothing', 'claims/created-ended'],
    create: () =>
      new (class extends MemoryStore {
        override appendEvents(taskDir: string, dispatchId: string, events: Events) {
          this.claimDispatch(taskDir, dispatchId);
          return super.appendEvents(taskDir, dispatchId, events);
        }
      })(),
  },
  {
    fault: 'claims a dispatch after it has refused the first event',
    caseIds: ['claims/append-claims-nothing', 'claims/batch-claims-nothing'],
    create: () =>
      new (class extends MemoryStore {
        override appendEvents(taskDir: string, dispatchId: string, events: Events) {
          try {
            return super.appendEvents(taskDir, dispatchId, events);
          } finally {
            this.claimDispatch(taskDir, dispatchId);
          }
        }
      })(),
  },
  {
    fault: 'claims a dispatch that an update sets running',
    caseIds: ['claims/update-claims-nothing'],
    create: () =>
      new (class extends MemoryStore {
        override updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates) {
          if (updates.status === 'running') this.claimDispatch(taskDir, dispatchId);
          return super.updateDispatch(taskDir, dispatchId, updates);
        }
      })(),
  },
  {
    fault: 'accepts an empty batch for a dispatch that is not claimed',
    caseIds: ['claims/batch-claims-nothing'],
    create: () =>
      new (class extends MemoryStore {
        override appendEvents(taskDir: string, dispatchId: string, events: Events) {
          return events.length > 0 ? super.appendEvents(taskDir, dispatchId, events) : [];
        }
      })(),
  },
  {
    fault: 'claims each dispatch that it creates',
    caseIds: ['claims/created-ended', 'claims/not-inherited'],
    create: () =>
      new (class extends MemoryStore {
        override createDispatch(taskDir: string, envelope: DispatchEnvelope) {
          super.createDispatch(taskDir, envelope);
          this.claimDispatch(taskDir, envelope.dispatchId);
        }
      })(),
  },
  {
    fault: 'claims no dispatch that it creates',
    caseIds: ['claims/created-running'],
    create: () =>
      new (class extends MemoryStore {
        override createDispatch(taskDir: string, envelope: DispatchEnvelope) {
          super.createDispatch(taskDir, envelope);
          this.releaseDispatch(taskDir, envelope.dispatchId);
        }
      })(),
  },
  {
    fault: 'releases nothing',
    caseIds: ['claims/release', 'open/release-dispatch', 'model/random-steps'],
    create: () =>
      new (class extends MemoryStore {
        override releaseDispatch(taskDir: string, dispatchId: string) {
          this.getDispatchEnvelope(taskDir, dispatchId);
        }
      })(),
  },
  {
    fault: 'releases a dispatch that ends',
    caseIds: ['claims/lasts-beyond-the-end'],
    create: () =>
      new (class extends MemoryStore {
        override updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates) {
          const envelope = super.updateDispatch(taskDir, dispatchId, updates);
          if (envelope.status !== 'running') this.releaseDispatch(taskDir, dispatchId);
          return envelope;
        }
      })(),
  },
  {
    fault: 'releases dispatches with the same id in other tasks',
    caseIds: ['claims/one-dispatch'],
    create: () =>
      new (class extends MemoryStore {
        override releaseDispatch(taskDir: string, dispatchId: string) {
          for (const task of [...this.listTasks().map((listing) => listing.taskDir), taskDir])
            super.releaseDispatch(task, dispatchId);
        }
      })(),
  },
  {
    fault: 'needs as many releases as there were claims',
    caseIds: ['claims/again'],
    create: () => {
      let claims = 0;
      return new (class extends MemoryStore {
        override claimDispatch(taskDir: string, dispatchId: string) {
          claims += 1;
          return super.claimDispatch(taskDir, dispatchId);
        }

        override releaseDispatch(taskDir: string, dispatchId: string) {
          claims -= 1;
          if (claims <= 0) super.releaseDispatch(taskDir, dispatchId);
        }
      })();
    },
  },
  {
    fault: 'refuses the release of what it has not claimed',
    caseIds: ['claims/release-unclaimed', 'dispatches/missing-release-dispatch'],
    create: () =>
      new (class extends MemoryStore {
        override releaseDispatch(taskDir: string, dispatchId: string) {
          this.appendEvents(taskDir, dispatchId, []);
          super.releaseDispatch(taskDir, dispatchId);
        }
      })(),
  },
  {
    fault: 'refuses to claim a dispatch that ended',
    caseIds: ['claims/ended-dispatch', 'claims/created-ended'],
    create: () =>
      new (class extends MemoryStore {
        override claimDispatch(taskDir: string, dispatchId: string) {
          const envelope = this.getDispatchEnvelope(taskDir, dispatchId);
          if (envelope === null || envelope.status === 'running')
            return super.claimDispatch(taskDir, dispatchId);
          throw storeErrors.error('STORE_LOCKED', 'It has ended.');
        }
      })(),
  },
  {
    fault: 'returns the first envelope with each claim',
    caseIds: ['claims/gives-the-envelope'],
    create: () => {
      const created = new Map<string, DispatchEnvelope>();
      return new (class extends MemoryStore {
        override createDispatch(taskDir: string, envelope: DispatchEnvelope) {
          super.createDispatch(taskDir, envelope);
          created.set(envelope.dispatchId, envelope);
        }

        override claimDispatch(taskDir: string, dispatchId: string) {
          const claim = super.claimDispatch(taskDir, dispatchId);
          return { ...claim, envelope: created.get(dispatchId) ?? claim.envelope };
        }
      })();
    },
  },
  {
    fault: 'loses a claim when it has more than a hundred',
    caseIds: ['claims/many'],
    create: () => {
      const used = new Set<string>();
      return new (class extends MemoryStore {
        override appendEvents(taskDir: string, dispatchId: string, events: Events) {
          const positions = super.appendEvents(taskDir, dispatchId, events);
          used.delete(dispatchId);
          const [oldest = dispatchId] = used.add(dispatchId);
          if (used.size > 100) super.releaseDispatch(taskDir, oldest);
          if (used.size > 100) used.delete(oldest);
          return positions;
        }
      })();
    },
  },
];
