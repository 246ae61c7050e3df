/**
 * Something unusual in a log or in a source that was read. Reading continues after it. The code names the kind, the
 * message describes it, and the other fields give the place.
 */
export interface Diagnostic<Code extends string = string> {
  readonly code: Code;
  readonly message: string;
  /** The source file. */
  readonly file?: string;
  /** The line of the source, from 1. */
  readonly line?: number;
  /** The id of the event of the log. */
  readonly eventId?: string;
  /** The position of that event. */
  readonly position?: number;
}
