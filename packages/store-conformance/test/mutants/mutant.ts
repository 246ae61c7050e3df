import type { CapturedEvent, DispatchStoreProvider, JsonValue } from '@hansard/provider';
import type { ReferenceStore } from '../reference/reference-store.ts';
import type { World } from '../reference/world.ts';

type Appends = 'appendEvent' | 'appendEvents';

/** A method that appends. If it returns nothing, {@link withPositions} answers with the positions that the log has. */
export type Append = (taskDir: string, dispatchId: string, events: Events) => unknown;

/** The methods of a broken store that differ from those of the good one. */
export type Changed = Omit<Partial<DispatchStoreProvider>, Appends> & {
  readonly appendEvent?: (taskDir: string, dispatchId: string, event: CapturedEvent) => unknown;
  readonly appendEvents?: Append;
};

/** It is called for each opening of the store. */
export type Change = (good: ReferenceStore, world: World) => Changed;

/** A deliberately broken store: its fault, the case that names the fault, and the smallest change of a good store. */
export type Mutant = readonly [fault: string, caseId: string, change: Change];

export type Events = readonly CapturedEvent[];

/** The log of a dispatch, as it is stored now. */
type StoredLog = (taskDir: string, dispatchId: string) => Events;

/** A good store with a change. Appends that return nothing answer with the positions that `log` has afterwards. */
export function withPositions(
  good: DispatchStoreProvider,
  changed: Changed,
  log: StoredLog,
): DispatchStoreProvider {
  const { appendEvent, appendEvents, ...others } = changed;
  const positionOf = (taskDir: string, dispatchId: string, { id }: CapturedEvent) =>
    log(taskDir, dispatchId).findIndex((event) => event.id === id);
  return {
    ...good,
    ...others,
    ...(appendEvent !== undefined && {
      appendEvent: (taskDir: string, dispatchId: string, event: CapturedEvent) =>
        whenDone(appendEvent(taskDir, dispatchId, event), (answer) =>
          answer === undefined ? positionOf(taskDir, dispatchId, event) : [answer].flat()[0],
        ) as number,
    }),
    ...(appendEvents !== undefined && {
      appendEvents: (taskDir: string, dispatchId: string, events: Events) => {
        const given = [...events];
        return whenDone(
          appendEvents(taskDir, dispatchId, events),
          (answer) => answer ?? given.map((event) => positionOf(taskDir, dispatchId, event)),
        ) as number[];
      },
    }),
  };
}

export const logIn =
  ({ data }: World): StoredLog =>
  (taskDir, dispatchId) =>
    data.dispatches.get(taskDir)?.get(dispatchId)?.events ?? [];

function whenDone(answer: unknown, next: (answer: unknown) => unknown): unknown {
  return answer instanceof Promise ? answer.then(next) : next(answer);
}

/** A store whose two appends both do this. */
export function appending(append: (good: ReferenceStore, world: World) => Append): Change {
  return (good, world) => {
    const appendEvents = append(good, world);
    return {
      appendEvents,
      appendEvent: (taskDir, dispatchId, event) => appendEvents(taskDir, dispatchId, [event]),
    };
  };
}

/** A store that changes each event before it stores it. */
export function storing(change: (event: CapturedEvent) => CapturedEvent): Change {
  return appending(
    (good) => (taskDir, dispatchId, events) =>
      good.appendEvents(
        taskDir,
        dispatchId,
        events.map((event) => change(structuredClone(event))),
      ),
  );
}

/** A store that changes the values in the data of each event before it stores it, the innermost first. */
export function storingValues(change: (value: JsonValue) => JsonValue): Change {
  return storing((event) => ({ ...event, data: deep(event.data, change) as CapturedEvent['data'] }));
}

export const storingTexts = (change: (text: string) => string): Change =>
  storingValues((value) => (typeof value === 'string' ? change(value) : value));

export const storingNumbers = (change: (value: number) => number): Change =>
  storingValues((value) => (typeof value === 'number' ? change(value) : value));

type Entries = ReadonlyArray<readonly [string, JsonValue]>;

/** A store that changes the entries of each object in the data of an event. */
export const storingEntries = (change: (entries: Entries) => Entries): Change =>
  storingValues((value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(change(Object.entries(value) as Entries))
      : value,
  );

function deep(value: JsonValue, change: (value: JsonValue) => JsonValue): JsonValue {
  if (Array.isArray(value)) return change(value.map((item) => deep(item, change)));
  if (typeof value !== 'object' || value === null) return change(value);
  return change(
    Object.fromEntries(Object.entries(value).map(([key, item]) => [key, deep(item as JsonValue, change)])),
  );
}

/** Lets other calls run first. */
export const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
