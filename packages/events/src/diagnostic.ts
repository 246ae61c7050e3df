/**
 * Something unusual in a log or in a source that was read. Reading continues after it. The code says what it is, the
 * message says it in words, and the other fields say where.
 */
export interface Diagnostic<Code extends string = string> {
  readonly code: Code;
  readonly message: string;
  /** The source file. */
  readonly file?: string;
  /** The line of the source, from 1. */
  readonly line?: number;
  /** The event of the log that it is about. */
  readonly eventId?: string;
  /** The position of that event. */
  readonly position?: number;
}
