import type { EventDataSchemas, IdSource } from '@hansard/events';
import type { Clock, StoreError } from '@hansard/provider';
import type { EventDiagnostic } from '../intake/event-intake.ts';
import type { RedactorSource } from '../redaction/store-redaction.ts';
import type { DispatchRef } from './dispatch-ref.ts';

/** A store that does not answer. */
export interface StoreOutage {
  /** That of the first call that failed. It is `isTransient`. */
  readonly error: StoreError;
  /** How long each call is repeated, in milliseconds. */
  readonly retryMs: number;
}

export interface DispatchStoreOptions {
  readonly clock?: Clock;
  /** Mints dispatch and event ids. Absent: ULIDs that only grow (D5). */
  readonly createId?: IdSource;
  /**
   * Schemas for the data of further event types, by type. The types of Hansard keep theirs. A narrative keeps the whole data of such
   * a type, or the fields that its schema names: `.meta({ narrative: ['move', 'turn'] })`.
   */
  readonly schemas?: EventDataSchemas;
  /** Receives what is unusual in recorded events, once for each type. Absent: a warning of the process (`process.emitWarning`). */
  readonly onDiagnostic?: (diagnostic: EventDiagnostic) => void;
  /**
   * Removes secrets from events, envelopes, task records and deltas before they are recorded or published: `createRedactor` of
   * `@hansard/redaction`. A function is called once, before the first write. Each replaced secret is counted in the field
   * `redactions` of its event. Absent: nothing is removed.
   */
  readonly redact?: RedactorSource;
  /** Receives each dispatch when it is opened or read, such as to look for its malformed events after an error. */
  readonly onRead?: (dispatch: DispatchRef) => void;
  /** How often a follower looks for new events in a store that cannot watch, in milliseconds. Absent: 250. */
  readonly pollIntervalMs?: number;
  /**
   * How long a call of the store is repeated after an error that is `isTransient`, in milliseconds: after 50, 100, 200 … up to
   * 2,000. The events of a dispatch keep their order meanwhile. Absent: 30,000. 0: never.
   */
  readonly retryMs?: number;
  /** Called when the store does not answer and calls are repeated, and with null when it answers again. What it throws is ignored. */
  readonly onOutage?: (outage: StoreOutage | null) => void;
  /** How many bytes of events, as JSON, wait behind calls that are being repeated. Beyond it an append fails. Absent: 64 MB. */
  readonly retryBytes?: number;
}
