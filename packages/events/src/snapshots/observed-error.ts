import { shortened } from '../shortened.ts';

/** The fields of an observed error that are kept and restored. */
interface ErrorFields {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: unknown;
  /** Of an AggregateError. */
  readonly errors?: unknown;
  /** Its other properties, such as `code`. */
  readonly properties?: Readonly<Record<string, unknown>>;
}

const longestStack = 10_000;

/** Also an error of another realm, such as a worker's or a `vm` context's. Never throws. */
export function isError(value: unknown): value is Error {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]';
  } catch {
    // A proxy that throws on every access.
    return false;
  }
}

/** Whether the error is reached again from its own cause or properties: such a one cannot be restored. May throw. */
export function isCyclic(error: Error): boolean {
  const done = new Set<unknown>();
  const reaches = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null || done.has(value)) return false;
    done.add(value);
    const children = isError(value)
      ? [...Object.values(value), ...Object.values(ownFields(value))]
      : Object.values(value);
    return children.some((child) => child === error || reaches(child));
  };
  return reaches(error);
}

/** May throw, because the properties of an error may. */
export function fieldsOf(error: Error): ErrorFields {
  const { name, message, stack, cause, errors, ...others }: Record<string, unknown> = {
    ...error,
    ...ownFields(error),
  };
  return {
    name: String(name),
    message: String(message),
    ...(typeof stack === 'string' ? { stack: shortened(stack, longestStack) } : {}),
    ...(Object.hasOwn(error, 'cause') ? { cause } : {}),
    ...(errors === undefined ? {} : { errors }),
    ...(Object.keys(others).length === 0 ? {} : { properties: others }),
  };
}

/** The error as an `Error` with its name, whatever its class was. */
export function errorOf({ name, message, stack, properties, ...links }: ErrorFields): Error {
  const error = new Error(message);
  const hidden = { name, ...(stack === undefined ? {} : { stack }), ...links };
  delete error.stack;
  for (const [key, value] of Object.entries(hidden))
    Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: false });
  for (const [key, value] of Object.entries(properties ?? {}))
    Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: true });
  return error;
}

function ownFields(error: Error): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const { errors } = error as { readonly errors?: unknown };
  return { name, message, stack, cause, errors };
}
