import { storeErrors } from '@hansard/provider';
import { decodeLog } from '../reference/damaged-log.ts';
import { keyOf } from '../reference/world.ts';
import type { Change, Mutant } from './mutant.ts';

/** A store that reads the whole events of a damaged log where this holds, and says nothing. */
const silent =
  (isIgnored: (log: ReturnType<typeof decodeLog>) => boolean): Change =>
  (good, world) => {
    const logOf = (taskDir: string, dispatchId: string) => {
      const bytes = world.damaged.get(keyOf(taskDir, dispatchId));
      const log = bytes === undefined ? null : decodeLog(bytes);
      return log !== null && log.damages.length > 0 && isIgnored(log) ? log : null;
    };
    return {
      getDispatchEvents: (taskDir, dispatchId) => [
        ...(logOf(taskDir, dispatchId)?.events ?? good.getDispatchEvents(taskDir, dispatchId)),
      ],
    };
  };

const isCut = ({ damages }: ReturnType<typeof decodeLog>) => damages.every(({ bytes }) => bytes === 0);

/** Stores that pass damage over, or repair it in the wrong way. */
export const damageMutants: readonly Mutant[] = [
  ['skips events with a wrong checksum', 'damage/flipped-bits', silent(() => true)],
  ['reads a cut log as a shorter one', 'damage/cut', silent(isCut)],
  [
    'reads a doubled event twice',
    'damage/doubled',
    (good, world) => ({
      getDispatchEvents: (taskDir, dispatchId) => {
        const bytes = world.damaged.get(keyOf(taskDir, dispatchId));
        const { events, damages } = bytes === undefined ? { events: [], damages: [] } : decodeLog(bytes);
        if (events.length < 6 || damages.length === 0) return good.getDispatchEvents(taskDir, dispatchId);
        return [...events, ...events.slice(-1)];
      },
    }),
  ],
  [
    'reads a log without one of its events',
    'damage/removed',
    silent(({ events, damages }) => events.length < 6 && damages.length > 0),
  ],
  [
    'returns changed bytes as text',
    'damage/flipped-bits',
    (good, world) => ({
      getDispatchEvents: (taskDir, dispatchId) => {
        const bytes = world.damaged.get(keyOf(taskDir, dispatchId));
        if (bytes === undefined) return good.getDispatchEvents(taskDir, dispatchId);
        try {
          return Buffer.from(bytes)
            .toString()
            .trim()
            .split('\n')
            .slice(2)
            .map((line) => JSON.parse(line.slice(9)));
        } catch {
          return good.getDispatchEvents(taskDir, dispatchId);
        }
      },
    }),
  ],
  [
    'fails without a code where a line is not JSON',
    'damage/no-uncoded-error',
    (good) => ({
      readEvents: (taskDir, dispatchId, options) => {
        try {
          return good.readEvents(taskDir, dispatchId, options);
        } catch (error) {
          throw storeErrors.is(error, 'STORE_CORRUPT') ? new Error('Unexpected token') : error;
        }
      },
    }),
  ],
  [
    'does not check the log before the last events',
    'damage/flipped-bits',
    (good, world) => ({
      readEvents: (taskDir, dispatchId, options = {}) => {
        const bytes = world.damaged.get(keyOf(taskDir, dispatchId));
        const log = bytes && decodeLog(bytes);
        if (options.last !== 2 || !log || log.damages.length === 0)
          return good.readEvents(taskDir, dispatchId, options);
        return { events: log.events.slice(-2), first: 4, next: 5 };
      },
    }),
  ],
  [
    'names no file',
    'damage/flipped-bits',
    (good) => ({
      getDispatchEvents: (taskDir, dispatchId) => {
        try {
          return good.getDispatchEvents(taskDir, dispatchId);
        } catch (error) {
          throw storeErrors.is(error, 'STORE_CORRUPT')
            ? storeErrors.error('STORE_CORRUPT', 'It is damaged.')
            : error;
        }
      },
    }),
  ],
  [
    'counts the events after the damage too',
    'damage/counted',
    (good) => ({
      getDispatchEvents: (taskDir, dispatchId) => {
        try {
          return good.getDispatchEvents(taskDir, dispatchId);
        } catch (error) {
          throw storeErrors.is(error, 'STORE_CORRUPT')
            ? storeErrors.error('STORE_CORRUPT', error.message, {
                details: { ...error.details, wholeEvents: 6 },
              })
            : error;
        }
      },
    }),
  ],
  [
    'verifies nothing',
    'damage/counted',
    (good) => ({
      verifyDispatch: (taskDir, dispatchId) => ({ ...good.verifyDispatch(taskDir, dispatchId), damages: [] }),
    }),
  ],
  [
    'verifies the events before the damage',
    'damage/skipped',
    (good) => ({
      verifyDispatch: (taskDir, dispatchId) => {
        const found = good.verifyDispatch(taskDir, dispatchId);
        return { ...found, wholeEvents: found.damages[0]?.eventsBefore ?? found.wholeEvents };
      },
    }),
  ],
  [
    'accepts no loss',
    'damage/accepted',
    (good) => ({
      acceptLoss: (taskDir, dispatchId, notice) => {
        const found = good.verifyDispatch(taskDir, dispatchId);
        if (found.damages.length === 0) good.acceptLoss(taskDir, dispatchId, notice);
        return found;
      },
    }),
  ],
  [
    'reads the events before the damage only',
    'damage/skipped',
    (good) => ({
      readEvents: (taskDir, dispatchId, options = {}) => {
        const page = good.readEvents(taskDir, dispatchId, options);
        const before =
          good.verifyDispatch(taskDir, dispatchId).damages[0]?.eventsBefore ?? page.events.length;
        return options.skipDamaged ? { ...page, events: page.events.slice(0, before) } : page;
      },
    }),
  ],
  [
    'accepts a loss without a notice',
    'damage/accepted',
    (good, world) => ({
      acceptLoss: (taskDir, dispatchId, notice) => {
        const found = good.acceptLoss(taskDir, dispatchId, notice);
        const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
        if (dispatch !== undefined && found.damages.length > 0)
          dispatch.events = dispatch.events.slice(0, -1);
        return found;
      },
    }),
  ],
  [
    'loses the events after the damage',
    'damage/accepted',
    (good, world) => ({
      acceptLoss: (taskDir, dispatchId, notice) => {
        const found = good.acceptLoss(taskDir, dispatchId, notice);
        const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
        if (dispatch !== undefined && found.damages.length > 0)
          dispatch.events = [...dispatch.events.slice(0, found.damages[0]?.eventsBefore), notice];
        return found;
      },
    }),
  ],
  [
    'adds a notice to a whole dispatch',
    'open/accept-loss',
    (good, world) => ({
      acceptLoss: (taskDir, dispatchId, notice) => {
        const found = good.acceptLoss(taskDir, dispatchId, notice);
        world.data.dispatches.get(taskDir)?.get(dispatchId)?.events.push(notice);
        return found;
      },
    }),
  ],
  [
    'hides every task beside a damaged dispatch',
    'damage/others-untouched',
    (good, world) => ({
      listTasks: () =>
        world.damaged.size > 0 &&
        [...world.damaged.values()].some((bytes) => decodeLog(bytes).damages.length > 0)
          ? []
          : good.listTasks(),
    }),
  ],
  [
    'refuses to read other tasks beside a damaged dispatch',
    'damage/others-untouched',
    (good, world) => ({
      findTask: (taskDir) => {
        if (taskDir === 'other/task' && world.damaged.size > 0)
          throw storeErrors.error('STORE_CORRUPT', 'The store is damaged.', { details: { file: 'all' } });
        return good.findTask(taskDir);
      },
    }),
  ],
  [
    'omits dispatches that cannot be read from its listings',
    'damage/listed',
    (good) => ({
      listDispatches: (options) => {
        const page = good.listDispatches(options);
        return { ...page, dispatches: page.dispatches.filter(({ envelope }) => envelope !== null) };
      },
    }),
  ],
  [
    'hides dispatches that cannot be read behind a filter',
    'damage/listed',
    (good) => ({
      listDispatches: (options = {}) => {
        const page = good.listDispatches(options);
        const hides = ({ envelope }: { readonly envelope: object | null }) =>
          envelope !== null || options.status === undefined;
        return { ...page, dispatches: page.dispatches.filter(hides) };
      },
    }),
  ],
  [
    'ends its listing at a dispatch that cannot be read',
    'damage/listed',
    (good) => ({
      listDispatches: (options) => {
        const page = good.listDispatches(options);
        for (const { error } of page.dispatches) if (error !== undefined) throw error;
        return page;
      },
    }),
  ],
];
