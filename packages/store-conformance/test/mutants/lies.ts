import type { CapturedEvent } from '@hansard/provider';
import type { Mutant } from './mutant.ts';
import { appending, later } from './mutant.ts';

/** Stores that lie, answer late, twice or after `close`, or do not answer. */
export const lieMutants: readonly Mutant[] = [
  [
    'answers an append some turns before it has an effect',
    '',
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
    '',
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
    '',
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
    '',
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
    '',
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
    '',
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
    '',
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
    '',
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
    '',
    (good, world) => ({
      close: () => (world.claims.size > 1 ? new Promise<void>(() => {}) : good.close()),
    }),
  ],
  [
    'calls a listener after `close`',
    '',
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
    '',
    (good) => ({
      watch: (scope, onChange) => {
        const stop = good.watch(scope, () => setTimeout(onChange, 20));
        return stop;
      },
    }),
  ],
  [
    'stops every listener with one `stop`',
    '',
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
    '',
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
    '',
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
    '',
    (good) => ({
      findClaim: (taskDir, dispatchId) => {
        const claim = good.findClaim(taskDir, dispatchId);
        return claim === null ? null : { ...claim, isOwn: true };
      },
    }),
  ],
  [
    'says in a list that each claim is its own',
    '',
    (good) => ({
      findClaims: (taskDir, ids) =>
        good.findClaims(taskDir, ids).map((claim) => (claim === null ? null : { ...claim, isOwn: true })),
    }),
  ],
  [
    'names another owner in a list of claims',
    '',
    (good) => ({
      findClaims: (taskDir, ids) =>
        good
          .findClaims(taskDir, ids)
          .map((claim) => (claim === null ? null : { ...claim, owner: 'process 1' })),
    }),
  ],
  [
    'finds each claim once if an id is named twice',
    '',
    (good) => ({ findClaims: (taskDir, ids) => good.findClaims(taskDir, [...new Set(ids)]) }),
  ],
  [
    'has capabilities that change while it is open',
    '',
    (good) => {
      let reads = 0;
      return {
        get capabilities() {
          reads += 1;
          return reads > 3 ? { ...good.capabilities, watch: false } : good.capabilities;
        },
      };
    },
  ],
  [
    'gives the same list of remains for every call, which a caller can change',
    '',
    () => {
      const remains: string[] = [];
      return { removeRemains: () => remains };
    },
  ],
  [
    'verifies one event less than it has',
    '',
    (good) => ({
      verifyDispatch: (taskDir, dispatchId) => {
        const found = good.verifyDispatch(taskDir, dispatchId);
        return { ...found, wholeEvents: Math.max(0, found.wholeEvents - (found.wholeEvents > 3 ? 1 : 0)) };
      },
    }),
  ],
  [
    'verifies the same number of bytes for each dispatch',
    '',
    (good) => ({
      verifyDispatch: (taskDir, dispatchId) => ({ ...good.verifyDispatch(taskDir, dispatchId), bytes: 1 }),
    }),
  ],
  [
    'mixes up the answers of two appends under way',
    '',
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
    '',
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
    '',
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
  [
    'leaves an unhandled rejection behind a refused append',
    '',
    (good) => ({
      appendEvents: (taskDir, dispatchId, events) => {
        try {
          return good.appendEvents(taskDir, dispatchId, events);
        } catch (error) {
          void Promise.reject(error);
          throw error;
        }
      },
    }),
  ],
  [
    'ends the process in `close`',
    '',
    (good) => ({
      close: () => {
        good.close();
        if (process.env.HANSARD_TEST_EXITS === 'yes') process.exit(0);
      },
    }),
  ],
  [
    'keeps a timer after `close`',
    '',
    (good) => {
      const timer = setInterval(() => {}, 100);
      return {
        close: () => {
          timer.refresh();
          good.close();
        },
      };
    },
  ],
];
