const brand = Symbol.for('hansard.error');

/** Some engines do not have it. */
const { captureStackTrace } = Error as { captureStackTrace?: (error: Error, above: object) => void };

/**
 * Every error that Hansard and its plugins throw on purpose. `defineErrors` declares the codes of a family and makes its
 * errors; `family.is` and `isHansardError` recognise them, also those of another copy of this package.
 */
export class HansardError<Code extends string = string> extends Error {
  /** The name of the family that declares the code, such as `store`. */
  readonly family: string;
  /** Stable between major versions, with a row in `docs/errors.md`. */
  readonly code: Code;
  /** Plain data for programs. */
  readonly details: Readonly<Record<string, unknown>>;
  /**
   * Whether the same call may be repeated after a while: the storage refused or did not answer for a reason that passes by itself, and
   * the call had its whole effect or none. The facade of `@hansard/dispatch` repeats it if the code is STORE_UNAVAILABLE.
   */
  readonly isTransient: boolean;
  /** What to do about this error: as a rule what its family declares for the code. */
  declare readonly advice: string;

  constructor(family: ErrorFamily<Code>, code: Code, message: string, options: HansardErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HansardError';
    this.family = family.name;
    this.code = code;
    this.details = options.details ?? {};
    this.isTransient = options.isTransient ?? false;
    // Not enumerable: a printed error does not list them.
    Object.defineProperties(this, {
      [brand]: { value: true },
      advice: { value: options.advice ?? family.rows[code].advice },
    });
  }
}

export interface HansardErrorOptions {
  /** The error that led to this one. */
  readonly cause?: unknown;
  readonly details?: Readonly<Record<string, unknown>>;
  /** Absent: false. */
  readonly isTransient?: boolean;
  /** What to do in this case. Absent: what the family declares for the code. */
  readonly advice?: string;
}

/** One code of a family, in Markdown. `docs/errors.md` and the `hansard` command print it. */
export interface ErrorRow {
  /** When an error of this code is thrown. */
  readonly when: string;
  /** What to do about it. */
  readonly advice: string;
  /** The fields of `details`. An optional one ends with `?`. */
  readonly details?: readonly string[];
}

/** A closed set of error codes. */
export interface ErrorFamily<Code extends string> {
  readonly name: string;
  readonly rows: Readonly<Record<Code, ErrorRow>>;
  /** Makes an error of the family. */
  error(code: Code, message: string, options?: HansardErrorOptions): HansardError<Code>;
  /** Whether a value is an error of this family, and with `code`, whether it has that code. */
  is(value: unknown, code?: Code): value is HansardError<Code>;
}

/** The errors of a family, as a type. */
export type ErrorOf<Family> = Family extends ErrorFamily<infer Code> ? HansardError<Code> : never;

/**
 * Declares a family of errors: each code, when it occurs and what to do about it.
 * @param name Unique among all families. A plugin of your own takes its id.
 */
export function defineErrors<Code extends string>(
  name: string,
  rows: Readonly<Record<Code, ErrorRow>>,
): ErrorFamily<Code> {
  const family: ErrorFamily<Code> = {
    name,
    rows,
    error(code, message, options) {
      const error = new HansardError(family, code, message, options);
      // The stack begins where the error was made, and not here.
      captureStackTrace?.(error, family.error);
      return error;
    },
    is: (value, code): value is HansardError<Code> =>
      isHansardError(value) && value.family === name && (code === undefined || value.code === code),
  };
  return family;
}

/** Whether a value is an error of Hansard or of one of its plugins, of any family. */
export function isHansardError(value: unknown): value is HansardError {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[brand] === true;
}
