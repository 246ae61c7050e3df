import { type StoreError, storeErrors } from '@hansard/provider';
import type { Change, Changed, Mutant } from './mutant.ts';

type Codes = readonly StoreError['code'][] | 'all';

/** A store whose errors with these codes are others. */
const failing =
  (codes: Codes, change: (error: StoreError, args: readonly unknown[]) => unknown): Change =>
  (good) =>
    Object.fromEntries(
      Object.entries(good)
        .filter(([, member]) => typeof member === 'function')
        .map(([name, method]) => [
          name,
          (...args: never[]) => {
            try {
              return (method as (...args: never[]) => unknown)(...args);
            } catch (error) {
              if (storeErrors.is(error) && (codes === 'all' || codes.includes(error.code)))
                throw change(error, args);
              throw error;
            }
          },
        ]),
    ) as Changed;

const again = (
  error: StoreError,
  {
    message = error.message,
    details = error.details ?? {},
    isTransient = error.isTransient,
  }: {
    message?: string;
    details?: object;
    isTransient?: boolean;
  },
) => storeErrors.error(error.code, message, { details: { ...details }, isTransient });

const transient = (code: StoreError['code']): Change =>
  failing([code], (error) => again(error, { isTransient: true }));

const withoutDetail = (code: StoreError['code'], key: string): Change =>
  failing([code], (error) =>
    again(error, {
      details: Object.fromEntries(Object.entries(error.details ?? {}).filter(([name]) => name !== key)),
    }),
  );

/** Stores whose refusals are wrong in everything but the code. */
export const errorMutants: readonly Mutant[] = [
  ['says that a locked dispatch is free by itself soon', 'refusals/table', transient('STORE_LOCKED')],
  ['says that a conflict passes', 'refusals/table', transient('STORE_EVENT_CONFLICT')],
  ['says that a closed store opens by itself', 'refusals/closed', transient('STORE_CLOSED')],
  ['says that a missing dispatch comes', 'refusals/table', transient('STORE_DISPATCH_NOT_FOUND')],
  ['says that an existing dispatch goes', 'refusals/table', transient('STORE_DISPATCH_EXISTS')],
  ['says that an invalid cursor passes', 'refusals/table', transient('STORE_INVALID_CURSOR')],
  ['says that an invalid path passes', 'refusals/table', transient('STORE_INVALID_PATH')],
  ['says that what a newer version wrote passes', 'refusals/newer', transient('STORE_NEWER')],
  ['says that damage passes', 'refusals/damaged', transient('STORE_CORRUPT')],
  ['names no dispatch that exists', 'refusals/table', withoutDetail('STORE_DISPATCH_EXISTS', 'dispatchId')],
  ['names no missing dispatch', 'refusals/table', withoutDetail('STORE_DISPATCH_NOT_FOUND', 'dispatchId')],
  [
    'names no task of a missing dispatch',
    'refusals/table',
    withoutDetail('STORE_DISPATCH_NOT_FOUND', 'taskDir'),
  ],
  ['names no event of a conflict', 'refusals/table', withoutDetail('STORE_EVENT_CONFLICT', 'eventId')],
  ['names no cursor', 'refusals/table', withoutDetail('STORE_INVALID_CURSOR', 'after')],
  ['names no owner in the details', 'refusals/claimed-by-another', withoutDetail('STORE_LOCKED', 'owner')],
  [
    'names no path that is refused',
    'refusals/table',
    failing(['STORE_INVALID_PATH'], (error) => again(error, { details: {} })),
  ],
  [
    'names the first event of a batch for a conflict of another one',
    'refusals/table',
    failing(['STORE_EVENT_CONFLICT'], (error, [, , events]) =>
      again(error, { details: { eventId: ([events].flat()[0] as { id: string }).id } }),
    ),
  ],
  [
    'names another dispatch that is missing',
    'refusals/table',
    failing(['STORE_DISPATCH_NOT_FOUND'], (error) =>
      again(error, { details: { taskDir: 'another/task', dispatchId: 'another' } }),
    ),
  ],
  [
    'shows the content of an event in the message of a conflict',
    'refusals/table',
    failing(['STORE_EVENT_CONFLICT'], (error, args) =>
      again(error, { message: `Conflict: ${JSON.stringify(args[2])}` }),
    ),
  ],
  [
    'shows the content of an event in the message of a lock',
    'refusals/table',
    failing(['STORE_LOCKED'], (error, args) =>
      again(error, { message: `${error.message} ${JSON.stringify(args[2])}` }),
    ),
  ],
  [
    'shows the updates of an envelope in the message of a missing dispatch',
    'refusals/table',
    failing(['STORE_DISPATCH_NOT_FOUND'], (error, args) =>
      again(error, { message: `${error.message} ${JSON.stringify(args[2] ?? '')}` }),
    ),
  ],
  [
    'shows the content of an event in the details of a conflict',
    'refusals/table',
    failing(['STORE_EVENT_CONFLICT'], (error, args) =>
      again(error, { details: { ...error.details, events: args[2] } }),
    ),
  ],
  [
    'says nothing in its messages',
    'refusals/table',
    failing('all', (error) => again(error, { message: '' })),
  ],
  [
    'throws plain objects with a code',
    'refusals/table',
    failing('all', ({ code, message }) => ({ code, message })),
  ],
  ['throws strings', 'refusals/table', failing('all', ({ code }) => code)],
  ['throws nothing', 'refusals/table', failing('all', () => undefined)],
  [
    'says that each refusal is an unavailable store',
    'refusals/table',
    failing('all', (error) => storeErrors.error('STORE_UNAVAILABLE', error.message, { isTransient: true })),
  ],
];
