// Exports without schemas, so that a page that shows events does not load zod.

export {
  bytesIn,
  contentLabel,
  formatBytes,
  isMediaPart,
  isRemovedContent,
  mediaPartsIn,
} from './content/content-label.ts';
export { eventErrors } from './event-errors.ts';
export { defineErrors } from './hansard-error.ts';
export { findNotJson, freezeDeep, isPlainObject } from './json/json.ts';
export { matchesEventType } from './matches-event-type.ts';
export { neutraliseControls, neutraliseControlsInLine } from './neutralise-controls.ts';
export { isDataOf, isPlainEnvelope, isPlainEvent, isPlainTask, isReadableAs } from './plain/is-readable.ts';
export { shortened } from './shortened.ts';
export { shownEvent } from './shown-event.ts';
export { ObservedInstance } from './snapshots/observed-instance.ts';
export { PrintedForm, reviveSnapshot, snapshotText } from './snapshots/snapshot.ts';
export { isEventOf, newEvent } from './types/new-event.ts';
