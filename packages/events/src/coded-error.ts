const brand = Symbol.for('hansard.coded-error');

/**
 * The base of every error that Hansard throws on purpose. Its `code` is stable between major versions and has a row
 * in `docs/errors.md`; its `details` are plain data for programs; its `cause` is the error that led to it.
 */
export class CodedError<Code extends string = string> extends Error {
  readonly code: Code;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: Code, message: string, options: CodedErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.details = options.details ?? {};
    Object.defineProperty(this, brand, { value: true });
  }

  /** What to do about an error of this code, as its family declares it. */
  get advice(): string | undefined {
    return undefined;
  }
}

export interface CodedErrorOptions {
  readonly cause?: unknown;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Whether a value is an error of Hansard, from any copy of the package; with `code`, whether it has that code. */
export function isCodedError<Code extends string = string>(
  value: unknown,
  code?: Code,
): value is CodedError<Code> {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value as Record<symbol, unknown>)[brand] === true &&
    (code === undefined || (value as CodedError).code === code)
  );
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

/** Checks whether a value is an error of one family, and with `code`, whether it has that code. */
export type ErrorGuard<Family extends CodedError> = (
  value: unknown,
  code?: Family['code'],
) => value is Family;

/** A closed set of codes, with its error class and guard. */
export interface ErrorFamily<Code extends string> {
  readonly rows: Readonly<Record<Code, ErrorRow>>;
  readonly codes: readonly Code[];
  /** The class that the class of the family extends. Its errors have the `advice` of their row. */
  readonly Base: new (
    code: Code,
    message: string,
    options?: CodedErrorOptions,
  ) => CodedError<Code>;
  readonly guard: ErrorGuard<CodedError<Code>>;
}

/** The codes of a family, as a type. */
export type ErrorCodeOf<Family> = Family extends ErrorFamily<infer Code> ? Code : never;

/** Declares a family of errors: each code, when it occurs and what to do about it. */
export function defineErrors<Code extends string>(rows: Readonly<Record<Code, ErrorRow>>): ErrorFamily<Code> {
  class Base extends CodedError<Code> {
    override get advice(): string {
      return rows[this.code].advice;
    }
  }
  const guard: ErrorGuard<CodedError<Code>> = (value, code): value is CodedError<Code> =>
    isCodedError(value, code) && Object.hasOwn(rows, value.code);
  return { rows, codes: Object.keys(rows) as Code[], Base, guard };
}
