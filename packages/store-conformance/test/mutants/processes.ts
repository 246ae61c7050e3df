import type { CapturedEvent, DispatchEnvelope } from '@hansard/provider';
import type { ReferenceStore } from '../reference/reference-store.ts';
import { keyOf, type Medium } from '../reference/world.ts';
import type { Append, Changed } from './mutant.ts';

type ProcessChange = (good: ReferenceStore, medium: Medium) => Changed;

/** Appends that are kept in memory, and written later. */
const buffering =
  (size: number): ProcessChange =>
  (good) => {
    let waiting: Parameters<ReferenceStore['appendEvents']>[2][number][] = [];
    const appendEvents: Append = (taskDir, dispatchId, events) => {
      waiting.push(...events);
      if (waiting.length < size) return;
      good.appendEvents(taskDir, dispatchId, waiting);
      waiting = [];
    };
    return {
      appendEvents,
      appendEvent: (taskDir, dispatchId, event) => appendEvents(taskDir, dispatchId, [event]),
    };
  };

const onAppend =
  (
    before: (good: ReferenceStore, medium: Medium, key: string, place: [string, string]) => void,
  ): ProcessChange =>
  (good, medium) => ({
    appendEvent: (taskDir, dispatchId, event) => {
      before(good, medium, keyOf(taskDir, dispatchId), [taskDir, dispatchId]);
      good.appendEvent(taskDir, dispatchId, event);
    },
    appendEvents: (taskDir, dispatchId, events) => {
      before(good, medium, keyOf(taskDir, dispatchId), [taskDir, dispatchId]);
      good.appendEvents(taskDir, dispatchId, events);
    },
  });

const onClaim =
  (before: (medium: Medium, key: string, good: ReferenceStore) => void): ProcessChange =>
  (good, medium) => ({
    claimDispatch: (taskDir, dispatchId) => {
      before(medium, keyOf(taskDir, dispatchId), good);
      return good.claimDispatch(taskDir, dispatchId);
    },
  });

/** Stores with faults that only several processes show. */
export const processMutants: ReadonlyArray<readonly [fault: string, caseId: string, change: ProcessChange]> =
  [
    ['acknowledges events that it writes later', 'killed/while-appending', buffering(6)],
    [
      'writes the events of a batch one by one',
      'killed/while-appending',
      (good) => ({
        appendEvents: (taskDir, dispatchId, events) => {
          for (const event of events.slice(0, -1)) good.appendEvent(taskDir, dispatchId, event);
          const until = performance.now() + 30;
          while (performance.now() < until) good.findTask(taskDir);
          good.appendEvents(taskDir, dispatchId, events);
        },
      }),
    ],
    [
      'shows a batch to other processes while it is written',
      'processes/reader-beside-writer',
      (good) => ({
        appendEvents: (taskDir, dispatchId, events) => {
          for (const event of events) {
            good.appendEvent(taskDir, dispatchId, event);
            const until = performance.now() + 5;
            while (performance.now() < until) good.findTask(taskDir);
          }
        },
      }),
    ],
    [
      'writes envelopes later',
      'killed/while-updating',
      (good) => {
        let waiting: object = {};
        return {
          updateDispatch: (taskDir, dispatchId, updates) => {
            const { cost } = updates;
            const merged = { ...good.getDispatchEnvelope(taskDir, dispatchId), ...waiting, ...updates };
            if (cost && cost % 60 === 59) return good.updateDispatch(taskDir, dispatchId, merged);
            waiting = updates;
            return merged as never;
          },
        };
      },
    ],
    [
      'writes new dispatches later',
      'killed/while-creating',
      (good) => {
        const waiting: Parameters<ReferenceStore['createDispatch']>[1][] = [];
        return {
          createDispatch: (taskDir, envelope) => {
            if (envelope.dispatchId.startsWith('D') && waiting.push(envelope) < 150) return;
            for (const one of waiting.splice(0)) good.createDispatch(taskDir, one);
            if (!envelope.dispatchId.startsWith('D')) good.createDispatch(taskDir, envelope);
          },
        };
      },
    ],
    [
      'keeps the claim of a killed process',
      'killed/claim-is-free',
      onClaim((medium, key) => {
        medium.use(({ claims }) => {
          const claim = claims.get(key);
          if (claim !== undefined && claim.owner !== process.pid)
            claims.set(key, { ...claim, owner: process.ppid });
        });
      }),
    ],
    [
      'takes every claim of another process',
      'processes/one-taker',
      onClaim((medium, key) => medium.use(({ claims }) => void claims.delete(key))),
    ],
    [
      'lets each process write what any has claimed',
      'processes/one-taker',
      onAppend((good, medium, key, place) => {
        medium.use(({ claims }) => void claims.delete(key));
        good.claimDispatch(...place);
      }),
    ],
    [
      'accepts appends to what another process has claimed',
      'processes/racing-writers',
      onAppend((good, medium, key, place) => {
        medium.use(({ claims }) => void claims.delete(key));
        good.claimDispatch(...place);
      }),
    ],
    [
      'writes the log as it was when it opened, with its own events',
      'processes/racing-writers',
      (good, medium) => {
        let known: readonly CapturedEvent[] | null = null;
        const appendEvents: Append = (taskDir, dispatchId, events) => {
          good.appendEvents(taskDir, dispatchId, events);
          medium.use(({ data }) => {
            const dispatch = data.dispatches.get(taskDir)?.get(dispatchId);
            if (dispatch === undefined) return;
            known ??= dispatch.events.slice(0, -events.length);
            known = [...known, ...events];
            dispatch.events = [...known];
          });
        };
        return {
          appendEvents,
          appendEvent: (taskDir, dispatchId, event) => appendEvents(taskDir, dispatchId, [event]),
        };
      },
    ],
    [
      'names itself as the owner',
      'processes/owner-named',
      (good) => ({
        claimDispatch: (taskDir, dispatchId) => {
          try {
            return good.claimDispatch(taskDir, dispatchId);
          } catch (error) {
            (error as Error).message = `It belongs to process ${process.pid}.`;
            throw error;
          }
        },
      }),
    ],
    [
      'judges an owner by its last write',
      'processes/running-owner-keeps-its-claim',
      (good, medium) => {
        const since = new Map<string, number>();
        return {
          claimDispatch: (taskDir, dispatchId) => {
            const key = keyOf(taskDir, dispatchId);
            const first = since.get(key) ?? performance.now();
            since.set(key, first);
            if (performance.now() - first > 1_000) medium.use(({ claims }) => void claims.delete(key));
            return good.claimDispatch(taskDir, dispatchId);
          },
        };
      },
    ],
    [
      'never takes over from a stopped process',
      'processes/stopped-past-its-lease',
      onClaim((medium, key) =>
        medium.use(({ claims, beats }) => {
          const token = claims.get(key)?.token ?? '';
          beats.set(token, (beats.get(token) ?? 0) + 1);
        }),
      ),
    ],
    [
      'takes over from a stopped process too early',
      'processes/stopped-past-its-lease',
      (good, medium) => {
        let attempts = 0;
        return {
          claimDispatch: (taskDir, dispatchId) => {
            attempts += 1;
            if (attempts > 1) medium.use(({ claims }) => void claims.delete(keyOf(taskDir, dispatchId)));
            return good.claimDispatch(taskDir, dispatchId);
          },
        };
      },
    ],
    [
      'lets a process that continues write on',
      'processes/stopped-past-its-lease',
      (good, medium) => {
        let own = false;
        return {
          ...onAppend((_, __, key, place) => {
            if (!own) return;
            medium.use(({ claims }) => void claims.delete(key));
            good.claimDispatch(...place);
          })(good, medium),
          claimDispatch: (taskDir, dispatchId) => {
            const claim = good.claimDispatch(taskDir, dispatchId);
            own = true;
            return claim;
          },
        };
      },
    ],
    [
      'gives a dispatch that was rewritten back to its stopped owner',
      'processes/stopped-and-rewritten',
      (good, medium) => ({
        rewriteDispatch: (taskDir, dispatchId, rewrite) => {
          const key = keyOf(taskDir, dispatchId);
          const stopped = medium.use(({ claims }) => claims.get(key));
          const rewritten = good.rewriteDispatch(taskDir, dispatchId, rewrite);
          if (stopped !== undefined) medium.use(({ claims }) => void claims.set(key, stopped));
          return rewritten;
        },
      }),
    ],
    [
      'never rewrites the dispatch of a stopped process',
      'processes/stopped-and-rewritten',
      (good) => ({
        rewriteDispatch: (taskDir, dispatchId, rewrite) => {
          const claim = good.findClaim(taskDir, dispatchId);
          if (claim !== null && !claim.isOwn) good.appendEvents(taskDir, dispatchId, []);
          return good.rewriteDispatch(taskDir, dispatchId, rewrite);
        },
      }),
    ],
    [
      'creates a deleted dispatch again when its stopped owner continues',
      'processes/stopped-and-deleted',
      (good) => {
        let last: DispatchEnvelope | null = null;
        return {
          appendEvent: (taskDir, dispatchId, event) => {
            last = good.getDispatchEnvelope(taskDir, dispatchId) ?? last;
            if (last !== null && good.getDispatchEnvelope(taskDir, dispatchId) === null)
              good.createDispatch(taskDir, last);
            good.appendEvent(taskDir, dispatchId, event);
          },
        };
      },
    ],
    [
      'judges owners by their process id alone',
      'processes/another-namespace',
      onClaim((medium, key) =>
        medium.use(({ claims }) => {
          const { owner = 0 } = claims.get(key) ?? {};
          try {
            if (owner > 0) process.kill(owner, 0);
          } catch {
            claims.delete(key);
          }
        }),
      ),
    ],
    [
      'refuses an append to a full disk without a code',
      'killed/full-disk',
      (good) => {
        const appendEvents: Append = (taskDir, dispatchId, events) => {
          try {
            good.appendEvents(taskDir, dispatchId, events);
          } catch {
            throw new Error('EFBIG');
          }
        };
        return {
          appendEvents,
          appendEvent: (taskDir, dispatchId, event) => appendEvents(taskDir, dispatchId, [event]),
        };
      },
    ],
    [
      'shows the claims of other processes as free',
      'processes/claim-seen',
      (good) => ({
        findClaim: (taskDir, dispatchId) => {
          const claim = good.findClaim(taskDir, dispatchId);
          return claim?.isOwn ? claim : null;
        },
      }),
    ],
    [
      'breaks the claims of its own process only',
      'processes/broken-by-another',
      () => ({ breakClaim: () => {} }),
    ],
    [
      'has stopped owners run for ever',
      'processes/stopped-claim-expires',
      (good) => ({
        findClaim: (taskDir, dispatchId) => {
          const claim = good.findClaim(taskDir, dispatchId);
          return claim && { ...claim, state: 'running', expiresInMs: null };
        },
      }),
    ],
    [
      'reports only what its own process changes',
      'processes/watched',
      (good) => {
        let isOwn = false;
        return {
          appendEvent: (taskDir, dispatchId, event) => {
            isOwn = true;
            good.appendEvent(taskDir, dispatchId, event);
          },
          watch: (scope, onChange) => good.watch(scope, () => isOwn && onChange()),
        };
      },
    ],
    [
      'reports only for dispatches what another process changes',
      'processes/watched',
      (good) => ({
        watch: (scope, onChange) => good.watch(scope, () => scope.dispatchId !== undefined && onChange()),
      }),
    ],
  ];
