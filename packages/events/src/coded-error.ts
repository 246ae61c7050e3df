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
}

export interface CodedErrorOptions {
  readonly cause?: unknown;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Whether a value is an error of Hansard, whichever copy of the package made it; with `code`, whether it is that one. */
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

/** Checks whether a value is an error of one family, and with `code`, whether it has that code. */
export type ErrorGuard<Family extends CodedError> = (
  value: unknown,
  code?: Family['code'],
) => value is Family;

/** The guard of a family of errors, by its closed set of codes. */
export function createErrorGuard<Family extends CodedError>(
  codes: readonly Family['code'][],
): ErrorGuard<Family> {
  const family = new Set<string>(codes);
  return (value, code): value is Family => isCodedError(value, code) && family.has(value.code);
}
