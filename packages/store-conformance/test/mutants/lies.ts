import type { CapturedEvent } from '@hansard/provider';
import type { Mutant } from './mutant.ts';
import { appending, later } from './mutant.ts';

/** Stores that lie, answer late, twice or after `close`, or do not answer. */
export const lieMutants: readonly Mutant[] = [
  [
    'answers an append some turns before it has an effect',
    'answers/at-once',
    appending((good) => (taskDir, dispatchId, events) => {
      const positions = events.map(
        (_, index) => good.readEvents(taskDir, dispatchId, { last: 0 }).first + index,
      );
      const copy = structuredClone(events);
      // The first refusal is one, but only if something is wrong at once.
      good.appendEvents(taskDir, dispatchId, []);
      void later().then(() => {
        try {
          good.appendEvents(taskDir, dispatchId, copy);
        } catch {
          // Nobody hears it.
        }
      });
      return positions;
    }),
  ],
  [
    'answers an update some turns before it has an effect',
    'answers/at-once',
    (good) => ({
      updateDispatch: (taskDir, dispatchId, updates) => {
        const before = good.updateDispatch(taskDir, dispatchId, {});
        const copy = structuredClone(updates);
        void later().then(() => {
          try {
            good.updateDispatch(taskDir, dispatchId, copy);
          } catch {
            // Nobody hears it.
          }
        });
        return { ...before, ...copy };
      },
    }),
  ],
  [
    'answers a deletion some turns before it has an effect',
    'answers/at-once',
    (good) => ({
      deleteDispatch: (taskDir, dispatchId) => {
        good.readEvents(taskDir, dispatchId, { last: 0 });
        void later().then(() => {
          try {
            good.deleteDispatch(taskDir, dispatchId);
          } catch {
            // Nobody hears it.
          }
        });
      },
    }),
  ],
  [
    'answers a release some turns before it has an effect',
    'answers/at-once',
    (good) => ({
      releaseDispatch: async (taskDir, dispatchId) => {
        void later().then(() => {
          try {
            good.releaseDispatch(taskDir, dispatchId);
          } catch {
            // Nobody hears it.
          }
        });
      },
    }),
  ],
  [
    'answers `close` before what is under way has ended, which is then written',
    'closed/create-dispatch',
    (good) => {
      const waiting: Promise<unknown>[] = [];
      return {
        appendEvents: async (taskDir, dispatchId, events) => {
          const answer = later()
            .then(later)
            .then(() => good.appendEvents(taskDir, dispatchId, events));
          waiting.push(answer.catch(() => {}));
          return answer;
        },
        close: () => {
          void Promise.all(waiting).then(() => good.close());
        },
      };
    },
  ],
  [
    'never answers what is under way when it is closed',
    'answers/closed-under-way',
    (good) => {
      let isClosed = false;
      return {
        readEvents: async (taskDir, dispatchId, options) => {
          await later();
          if (isClosed) return new Promise(() => {});
          return good.readEvents(taskDir, dispatchId, options);
        },
        close: () => {
          isClosed = true;
          good.close();
        },
      };
    },
  ],
  [
    'never answers a second `close` that is made during the first',
    'answers/closed-under-way',
    (good) => {
      let calls = 0;
      return {
        close: async () => {
          calls += 1;
          if (calls === 2) return new Promise<void>(() => {});
          await later();
          good.close();
          calls = 3;
        },
      };
    },
  ],
  [
    'does not close while somebody watches',
    'answers/closed-under-way',
    (good) => {
      let watched = 0;
      return {
        watch: (scope, onChange) => {
          const stop = good.watch(scope, onChange);
          watched += 1;
          return () => {
            watched -= 1;
            stop();
          };
        },
        close: () => (watched > 0 ? new Promise<void>(() => {}) : good.close()),
      };
    },
  ],
  [
    'does not close while a dispatch is claimed',
    'answers/closed-under-way',
    (good, world) => ({
      close: () => (world.claims.size > 1 ? new Promise<void>(() => {}) : good.close()),
    }),
  ],
  [
    'calls a listener after `close`',
    'answers/listeners',
    (good) => {
      let last = () => {};
      return {
        watch: (scope, onChange) => {
          last = onChange;
          return good.watch(scope, onChange);
        },
        close: () => {
          good.close();
          setImmediate(() => last());
        },
      };
    },
  ],
  [
    'calls a listener for the change before it was stopped',
    'answers/listeners',
    (good) => ({
      watch: (scope, onChange) => {
        const stop = good.watch(scope, () => setTimeout(onChange, 20));
        return stop;
      },
    }),
  ],
  [
    'stops every listener with one `stop`',
    'watch/stop',
    (good) => {
      const stops: (() => void)[] = [];
      return {
        watch: (scope, onChange) => {
          stops.push(good.watch(scope, onChange));
          return () => {
            for (const stop of stops) stop();
          };
        },
      };
    },
  ],
  [
    'has one listener for each function, which the first `stop` ends',
    'answers/listeners',
    (good) => {
      const known = new Map<() => void, () => void>();
      return {
        watch: (scope, onChange) => {
          if (!known.has(onChange)) known.set(onChange, good.watch(scope, onChange));
          return () => {
            known.get(onChange)?.();
            known.delete(onChange);
          };
        },
      };
    },
  ],
  [
    'throws the error of a listener at the writer',
    'watch/appends',
    (good) => {
      const listeners = new Set<() => void>();
      return {
        watch: (scope, onChange) => {
          const stop = good.watch(scope, () => {});
          listeners.add(onChange);
          return () => {
            listeners.delete(onChange);
            stop();
          };
        },
        appendEvents: (taskDir, dispatchId, events) => {
          const answer = good.appendEvents(taskDir, dispatchId, events);
          for (const listener of listeners) listener();
          return answer;
        },
      };
    },
  ],
  [
    'says that each claim is its own',
    'claims/state',
    (good) => ({
      findClaim: (taskDir, dispatchId) => {
        const claim = good.findClaim(taskDir, dispatchId);
        return claim === null ? null : { ...claim, isOwn: true };
      },
    }),
  ],
  [
    'says in a list that each claim is its own',
    'claims/states',
    (good) => ({
      findClaims: (taskDir, ids) =>
        good.findClaims(taskDir, ids).map((claim) => (claim === null ? null : { ...claim, isOwn: true })),
    }),
  ],
  [
    'names another owner in a list of claims',
    'claims/states',
    (good) => ({
      findClaims: (taskDir, ids) =>
        good
          .findClaims(taskDir, ids)
          .map((claim) => (claim === null ? null : { ...claim, owner: 'process 1' })),
    }),
  ],
  [
    'finds each claim once if an id is named twice',
    'claims/states',
    (good) => ({ findClaims: (taskDir, ids) => good.findClaims(taskDir, [...new Set(ids)]) }),
  ],
  [
    'has capabilities that change while it is open',
    'answers/constant-capabilities',
    (good) => {
      let reads = 0;
      return {
        capabilities: {
          ...good.capabilities,
          get watch() {
            reads += 1;
            return reads <= 6;
          },
        },
      };
    },
  ],
  [
    'gives the same list of remains for every call, which a caller can change',
    'closed/remove-remains',
    () => {
      const remains: string[] = [];
      return { removeRemains: () => remains };
    },
  ],
  [
    'verifies one event less than it has',
    'damage/counted',
    (good) => ({
      verifyDispatch: (taskDir, dispatchId) => {
        const found = good.verifyDispatch(taskDir, dispatchId);
        return { ...found, wholeEvents: Math.max(0, found.wholeEvents - (found.wholeEvents > 3 ? 1 : 0)) };
      },
    }),
  ],
  [
    'verifies the same number of bytes for each dispatch',
    'answers/checked-bytes',
    (good) => ({
      verifyDispatch: (taskDir, dispatchId) => ({ ...good.verifyDispatch(taskDir, dispatchId), bytes: 1 }),
    }),
  ],
  [
    'mixes up the answers of two appends under way',
    'answers/own-answers',
    (good) => {
      let waiting: ((answer: readonly number[]) => void) | null = null;
      let other: readonly number[] = [];
      return {
        appendEvents: async (taskDir, dispatchId, events) => {
          const answer = good.appendEvents(taskDir, dispatchId, events);
          if (waiting !== null) {
            waiting(answer);
            waiting = null;
            return other;
          }
          other = answer;
          return new Promise((resolve) => {
            waiting = resolve;
            setImmediate(() => resolve(answer));
          });
        },
      };
    },
  ],
  [
    'never answers the third of three reads at the same time',
    'answers/several-at-once',
    (good) => {
      let under = 0;
      return {
        readEvents: async (taskDir, dispatchId, options) => {
          under += 1;
          if (under > 2) return new Promise(() => {});
          await later();
          under -= 1;
          return good.readEvents(taskDir, dispatchId, options);
        },
      };
    },
  ],
  [
    'stops answering after twenty calls that it refused',
    'answers/several-at-once',
    (good) => {
      let refusals = 0;
      return {
        getDispatchEvents: (taskDir, dispatchId) => {
          if (refusals >= 20) return new Promise<CapturedEvent[]>(() => {});
          try {
            return good.getDispatchEvents(taskDir, dispatchId);
          } catch (error) {
            refusals += 1;
            throw error;
          }
        },
      };
    },
  ],
];
