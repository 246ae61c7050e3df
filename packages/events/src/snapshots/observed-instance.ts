import { shortened } from '../shortened.ts';

/** How instances of a class are copied and shown. */
export interface SnapshotType<T extends object = object> {
  /** The name that the log has for it, usually that of the class. */
  readonly name: string;
  readonly is: (value: object) => value is T;
  /** What is kept: any value that `snapshot` takes. It is copied at once. */
  readonly copy: (value: T) => unknown;
  /** The text that models and people are shown. It is recorded, at most 2,000 characters. Absent: the name with the copy. */
  readonly show?: (value: T) => string;
}

/** What was observed of an instance of a class: data, and no method. */
export class ObservedInstance {
  readonly className: string;
  /** Its own enumerable fields, or what its registered type has copied. */
  readonly data: unknown;
  /** The text of its registered type; null: it has none. */
  readonly text: string | null;

  constructor({ className, data, text = null }: InstanceFields) {
    this.className = className;
    this.data = data;
    this.text = text;
  }
}

export interface InstanceFields {
  readonly className: string;
  readonly data: unknown;
  readonly text?: string | null;
}

/** An instance with more objects, or with more instances inside each other, is kept as its printed form. */
const mostObjects = 1_000;
const deepest = 8;
const longestText = 2_000;

const types: SnapshotType[] = [];

/**
 * Registers how instances of a class are copied into the log and shown. The type that was registered last is asked first.
 * @returns a function that takes the registration back
 */
export function registerSnapshotType<T extends object>(type: SnapshotType<T>): () => void {
  const registered = type as unknown as SnapshotType;
  types.unshift(registered);
  return () => {
    const at = types.indexOf(registered);
    if (at >= 0) types.splice(at, 1);
  };
}

/**
 * What is kept of an instance of a class: what its registered type says, or its own enumerable fields. Null if the instance has no
 * data, leads back to itself, or is too large or too deep. Never throws: a field whose getter throws holds the result of `onThrow`.
 */
export function instanceFields(value: object, onThrow: (error: unknown) => unknown): InstanceFields | null {
  try {
    const registered = types.find((type) => type.is(value));
    if (registered !== undefined) {
      const { name: className, copy, show } = registered;
      const data = copy(value);
      const text = show === undefined ? {} : { text: shortened(show(value), longestText) };
      return isTree(data, value) ? { className, data, ...text } : null;
    }
    const className = classOf(value);
    if (className === null || !isTree(value, null)) return null;
    return { className, data: fieldsOf(value, onThrow) };
  } catch {
    // A proxy, or a function of a registered type, threw.
    return null;
  }
}

/** A handle of the runtime has only fields with getters. */
function isData({ enumerable, get }: PropertyDescriptor): boolean {
  return enumerable === true && get === undefined;
}

/** The class name of an instance that has data. Null for any other object. */
function classOf(value: object): string | null {
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  const isOne =
    typeof name === 'string' &&
    name !== '' &&
    Object.values(Object.getOwnPropertyDescriptors(value)).some(isData);
  return isOne ? name : null;
}

function fieldsOf(value: object, onThrow: (error: unknown) => unknown): Record<string, unknown> {
  const fields: [string, unknown][] = Object.keys(value).map((key) => {
    try {
      return [key, (value as Record<string, unknown>)[key]];
    } catch (error) {
      return [key, onThrow(error)];
    }
  });
  // `fromEntries` makes `__proto__` a field.
  return Object.fromEntries(fields);
}

/** Whether a value leads to few objects, and to none that contains it. Getters are not called. */
function isTree(root: unknown, container: object | null): boolean {
  const around = new Set<object>(container === null ? [] : [container]);
  let objects = 0;
  const walk = (value: unknown, depth: number): boolean => {
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return true;
    objects += 1;
    if (objects > mostObjects || depth > deepest || around.has(value)) return false;
    around.add(value);
    const isWhole = childrenOf(value).every((child) => walk(child, depth + 1));
    around.delete(value);
    return isWhole;
  };
  return walk(root, 0);
}

function childrenOf(value: object): readonly unknown[] {
  if (value instanceof Map) return [...value.keys(), ...value.values()];
  if (value instanceof Set) return [...value];
  return Object.values(Object.getOwnPropertyDescriptors(value))
    .filter(({ enumerable }) => enumerable)
    .map(({ value: child }) => child as unknown);
}
