import type { CapturedEvent, DispatchStoreProvider, JsonValue } from '@hansard/provider';
import type { ReferenceStore } from '../reference/reference-store.ts';
import type { World } from '../reference/world.ts';

/** The methods of a broken store that differ from those of the good one. It is called for each opening of the store. */
export type Change = (good: ReferenceStore, world: World) => Partial<DispatchStoreProvider>;

/** A deliberately broken store: its fault, the case that names the fault, and the smallest change of a good store. */
export type Mutant = readonly [fault: string, caseId: string, change: Change];

export type Events = readonly CapturedEvent[];
type Append = (taskDir: string, dispatchId: string, events: Events) => void | Promise<void>;

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
