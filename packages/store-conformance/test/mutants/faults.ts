import { type CapturedEvent, storeErrors } from '@hansard/provider';
import type { Machine } from '../reference/machine.ts';
import type { ReferenceStore } from '../reference/reference-store.ts';
import type { World } from '../reference/world.ts';
import type { Append, Changed } from './mutant.ts';

type FaultChange = (good: ReferenceStore, machine: Machine, world: World) => Changed;

/** Both appends of a store. */
const appending =
  (change: (good: ReferenceStore, machine: Machine, world: World) => Append): FaultChange =>
  (good, machine, world) => {
    const appendEvents = change(good, machine, world);
    return {
      appendEvents,
      appendEvent: (taskDir, dispatchId, event) => appendEvents(taskDir, dispatchId, [event]),
    };
  };

/** What a store does when the system refuses an append. It may store something else, or throw something else. */
const whenRefused = (
  refused: (
    stored: { events: CapturedEvent[] },
    events: readonly CapturedEvent[],
    error: unknown,
  ) => 'acknowledge' | 'fail',
): FaultChange =>
  appending((good, machine, world) => (taskDir, dispatchId, events) => {
    try {
      machine.call();
    } catch (error) {
      const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
      if (dispatch !== undefined && refused(dispatch, events, error) === 'acknowledge') return;
      throw error;
    }
    good.appendEvents(taskDir, dispatchId, events);
  });

const locked = () => storeErrors.error('STORE_LOCKED', 'Another opening has claimed it.');

/** A store whose errors say something else about a repetition. */
const refusing = (isTransient: boolean): FaultChange =>
  appending((good, machine) => (taskDir, dispatchId, events) => {
    try {
      machine.call();
    } catch (error) {
      throw storeErrors.error('STORE_UNAVAILABLE', String(error), { isTransient });
    }
    good.appendEvents(taskDir, dispatchId, events);
  });

/** A store that locks a dispatch for ever when the system refuses this method. */
const lockedAfter =
  (method: 'claimDispatch' | 'releaseDispatch'): FaultChange =>
  (good, machine) => {
    const stuck = new Set<string>();
    const needing = (dispatchId: string) => {
      try {
        machine.call();
      } catch (error) {
        stuck.add(dispatchId);
        throw error;
      }
    };
    return {
      claimDispatch: (taskDir, dispatchId) => {
        if (stuck.has(dispatchId)) throw locked();
        if (method === 'claimDispatch') needing(dispatchId);
        return good.claimDispatch(taskDir, dispatchId);
      },
      releaseDispatch: (taskDir, dispatchId) => {
        if (method === 'releaseDispatch') needing(dispatchId);
        good.releaseDispatch(taskDir, dispatchId);
      },
    };
  };

/** Appends that look at the place of the file only where `looks` says so. `since` is the time since the opening. */
const lookingAtItsFile = (looks: (count: number) => boolean): FaultChange =>
  appending((good, machine) => {
    let count = 0;
    return (taskDir, dispatchId, events) => {
      count += machine.isDisplaced ? 1 : 0;
      if (looks(count)) machine.assertInPlace();
      good.appendEvents(taskDir, dispatchId, events);
    };
  });

/** Stores that do the wrong thing when the system refuses a call, the power is lost, or their file is moved. */
export const faultMutants: ReadonlyArray<readonly [fault: string, caseId: string, change: FaultChange]> = [
  ['acknowledges an append that the system refused', 'faults/append', whenRefused(() => 'acknowledge')],
  [
    'stores a part of an event when a write was short',
    'faults/append',
    whenRefused((dispatch, events) => {
      const [first] = events;
      if (first !== undefined) dispatch.events.push({ ...first, data: { text: 'x' } });
      return 'fail';
    }),
  ],
  [
    'fails without a code when the system refuses an append',
    'faults/append',
    whenRefused((_, __, error) => {
      throw new Error(`EIO: ${error}`);
    }),
  ],
  [
    'refuses every write after one that failed',
    'faults/append',
    appending((good, machine) => {
      let failure: unknown = null;
      return (taskDir, dispatchId, events) => {
        if (failure !== null) throw failure;
        try {
          machine.call();
        } catch (error) {
          failure = error;
          throw error;
        }
        good.appendEvents(taskDir, dispatchId, events);
      };
    }),
  ],
  [
    'writes the events of a batch with one call each',
    'faults/batch',
    appending((good, machine) => (taskDir, dispatchId, events) => {
      for (const event of events) {
        machine.call();
        good.appendEvents(taskDir, dispatchId, [event]);
      }
    }),
  ],
  [
    'gives up a claim when the system refuses a batch',
    'faults/batch',
    appending((good, machine) => (taskDir, dispatchId, events) => {
      try {
        machine.call();
      } catch (error) {
        good.releaseDispatch(taskDir, dispatchId);
        throw error;
      }
      good.appendEvents(taskDir, dispatchId, events);
    }),
  ],
  [
    'cuts acknowledged events to make space on a full disk',
    'faults/full-disk',
    whenRefused((dispatch) => {
      dispatch.events.pop();
      return 'fail';
    }),
  ],
  [
    'writes half of an update that the system refuses',
    'faults/update',
    (good, machine) => ({
      updateDispatch: (taskDir, dispatchId, updates) => {
        try {
          machine.call();
        } catch (error) {
          good.updateDispatch(taskDir, dispatchId, { cost: updates.cost ?? 0 });
          throw error;
        }
        return good.updateDispatch(taskDir, dispatchId, updates);
      },
    }),
  ],
  [
    'rewrites the envelope although the system refuses',
    'faults/rewrite',
    (good, machine) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) => {
        try {
          machine.call();
        } catch (error) {
          const envelope = good.getDispatchEnvelope(taskDir, dispatchId);
          if (envelope !== null) good.updateDispatch(taskDir, dispatchId, rewrite.envelope(envelope));
          throw error;
        }
        return good.rewriteDispatch(taskDir, dispatchId, rewrite);
      },
    }),
  ],
  [
    'keeps the id of a dispatch that it could not create',
    'faults/create',
    (good, machine) => {
      const kept = new Set<string>();
      return {
        createDispatch: (taskDir, envelope) => {
          if (kept.has(envelope.dispatchId)) throw storeErrors.error('STORE_DISPATCH_EXISTS', 'It exists.');
          try {
            machine.call();
          } catch (error) {
            kept.add(envelope.dispatchId);
            throw error;
          }
          good.createDispatch(taskDir, envelope);
        },
      };
    },
  ],
  [
    'leaves a new dispatch without its fields when the system refuses a call',
    'faults/create',
    (good, machine) => ({
      createDispatch: (taskDir, envelope) => {
        good.createDispatch(taskDir, { ...envelope, role: '' });
        machine.call();
        good.updateDispatch(taskDir, envelope.dispatchId, envelope);
      },
    }),
  ],
  ['asks nobody to repeat a call for which there was no descriptor', 'faults/transient', refusing(false)],
  ['asks to repeat a call while the disk is full', 'faults/transient', refusing(true)],
  ['locks a dispatch when a claim fails', 'faults/claim', lockedAfter('claimDispatch')],
  ['locks its own process out when a release fails', 'faults/release', lockedAfter('releaseDispatch')],
  [
    'does not wait for the disk',
    'power/appends',
    appending((good) => (taskDir, dispatchId, events) => good.appendEvents(taskDir, dispatchId, events)),
  ],
  [
    'waits for the disk at every second append',
    'power/appends',
    appending((good, machine) => {
      let count = 0;
      return (taskDir, dispatchId, events) => {
        good.appendEvents(taskDir, dispatchId, events);
        count += 1;
        if (count % 2 === 1) machine.sync();
      };
    }),
  ],
  [
    'waits for the events of a new dispatch, and not for its name',
    'power/new-dispatches',
    appending((good, machine) => (taskDir, dispatchId, events) => {
      good.appendEvents(taskDir, dispatchId, events);
      machine.sync();
      machine.forget(taskDir, dispatchId);
    }),
  ],
  [
    'does not wait for the record of a task',
    'power/new-dispatches',
    (good) => ({ putTask: (taskDir, task) => good.putTask(taskDir, task) }),
  ],
  ['writes to a file that was moved', 'displaced/while-writing', lookingAtItsFile(() => false)],
  [
    'reports a moved file once, and writes on',
    'displaced/while-writing',
    lookingAtItsFile((count) => count === 1),
  ],
  [
    'looks at its file with every hundredth append, and not when it closes',
    'displaced/at-close',
    (good, machine, world) => ({
      ...lookingAtItsFile((count) => count % 100 === 99)(good, machine, world),
      close: good.close,
    }),
  ],
];
