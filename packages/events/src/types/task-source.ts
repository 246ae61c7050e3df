import type { DispatchEnvelope, TaskRecord } from './envelope.ts';
import type { CapturedEvent } from './event.ts';

/** The dispatches of a task with their events: the source of every export. */
export interface TaskSource {
  readonly taskDir: string;
  /** Null for a task without a record. */
  readonly task: TaskRecord | null;
  /** The dispatches to export, ordered by their start, so that a parent precedes its workers. */
  readonly envelopes: readonly DispatchEnvelope[];
  /** Every dispatch of the task, for references to those that are not exported. Absent: `envelopes`. */
  readonly relatives?: readonly DispatchEnvelope[];
  /**
   * The events of a dispatch that are copied from another one of `envelopes`, with that other dispatch. Null or
   * absent: none.
   */
  copiedEvents?(dispatchId: string): Promise<ReadonlyMap<string, string> | null>;
  /** The events of one of the dispatches, in append order. An export may read them more than once. */
  readEvents(dispatchId: string): AsyncIterable<CapturedEvent>;
}

/** A text that is written piece by piece. */
export interface TextSink {
  /** Resolves when more can be written. */
  write(text: string): Promise<void>;
}

/** A new file of an export. */
export interface FileSink extends TextSink {
  /** Resolves when more can be written. A text is written as UTF-8. */
  write(piece: string | Uint8Array): Promise<void>;
  /** Called once, after the last text. Resolves when the file is whole. */
  end(): Promise<void>;
}
