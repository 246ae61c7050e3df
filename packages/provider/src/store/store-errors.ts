import { defineErrors, type ErrorOf } from '@hansard/events/hansard-error';

/** The errors of stores. */
export const storeErrors = defineErrors('store', {
  STORE_DISPATCH_EXISTS: {
    when: '`createDispatch` was called with an id that the task already has.',
    advice: 'Create a new id, as `openDispatchStore` does.',
    details: ['taskDir', 'dispatchId'],
  },
  STORE_DISPATCH_NOT_FOUND: {
    when: 'A dispatch was named that does not exist.',
    advice: 'Check the task and the id; `hansard ls TASK` lists the dispatches of a task.',
    details: ['taskDir', 'dispatchId'],
  },
  STORE_EVENT_CONFLICT: {
    when: 'The dispatch has an event with that id and other content. Nothing was written.',
    advice: 'Find out why two events share an id. A retry that sends the very same event is accepted.',
    details: ['eventId'],
  },
  STORE_INVALID_CURSOR: {
    when: '`readEvents` was asked to continue after a position that does not exist (yet), or `listDispatches` after text that is not the `next` of a page.',
    advice: 'Use the `next` of an earlier page of the same dispatch or listing.',
    details: ['after'],
  },
  STORE_INVALID_PATH: {
    when: 'A `taskDir` or `dispatchId` would leave the root, or cannot be a path.',
    advice:
      'Use plain relative names such as `project/tasks/slug`, without dots in front, backslashes or `..`.',
    details: ['taskDir?', 'dispatchId?', 'file?'],
  },
  STORE_LOCKED: {
    when: 'Another process, which the message names, has claimed this dispatch; or an object of this process writes it; or a write was made without a claim.',
    advice:
      'Wait until that process is done, or stop it. In your own process, use the object that writes the dispatch, or end it; open a dispatch with `{ write: true }` before you write to it. The claim of a process that has exited is taken over without your help. A process of another host, boot or PID namespace (a container) cannot be checked: its claim can be taken when it was not renewed for a lease, and `hansard store unlock` ends it at once.',
    details: ['owner', 'expiresInMs?', 'taskDir?', 'dispatchId?', 'file?'],
  },
  STORE_CORRUPT: {
    when: 'Stored data is damaged, and not only in a torn last record; acknowledged events are missing; something that is not a regular file (a folder, a link, a named pipe) is in the place of a file; or a file was renamed, removed or replaced while it was written.',
    advice:
      'Nothing was changed. `hansard store verify` shows what is damaged and how many events are whole; `--accept-loss` makes the dispatch usable without the damaged ones.',
    details: ['file', 'offset?', 'wholeEvents?'],
  },
  STORE_MISPLACED: {
    when: 'The log at this place was written for another task or dispatch, which the message names. A file or a row was copied, renamed or restored under another name, or a task was renamed. Nothing is damaged, and nothing was changed.',
    advice:
      'Rename it back, or keep its new name with `hansard store adopt`. If it is a copy that nobody needs, delete its file or row.',
    details: ['taskDir', 'dispatchId?', 'writtenTaskDir', 'writtenDispatchId?', 'file?'],
  },
  STORE_UNAVAILABLE: {
    when: 'The disk, the database or the network refused: no space, no permission, too busy. The reason is the `cause`.',
    advice:
      'Remove the reason and try again. All events that were acknowledged before are safe. Where the same call may succeed later (`isTransient`), `openDispatchStore` has repeated it for `retryMs`; the message says how long and how often.',
    details: ['file?', 'reason?', 'tries?', 'triedMs?', 'retryBytes?'],
  },
  STORE_NEWER: {
    when: 'A newer version of Hansard wrote an envelope, a task record or a file, and this version cannot read it. Its bytes are whole. Other dispatches can be read.',
    advice: 'Update Hansard. This version changes nothing in what it cannot read.',
    details: ['taskDir?', 'dispatchId?', 'file?'],
  },
  STORE_TOO_LARGE: {
    when: 'A value is larger than this process can hold: the text of an event, an envelope or a task record above 512 million characters, or bytes for which there is no memory.',
    advice:
      'Store large content in a file and its place in the event. Other events of the dispatch can be read one page at a time.',
    details: ['file?'],
  },
  STORE_UNSUPPORTED: {
    when: 'The store does not have the requested capability.',
    advice: 'Check `capabilities` first, or choose another store.',
    details: ['capability'],
  },
  STORE_CONTRACT_VERSION: {
    when: 'The `contract` of a store is not a version of the contracts that this Hansard supports. No method of the store was called.',
    advice:
      'Update the store or Hansard, whichever is older. The author of a store without `contract` adds `contract: 1`.',
    details: ['contract', 'expected'],
  },
  STORE_CLOSED: {
    when: 'The store was closed before.',
    advice: 'Open it again.',
  },
});

export type StoreError = ErrorOf<typeof storeErrors>;

const unreadableCodes: ReadonlySet<unknown> = new Set<StoreError['code']>([
  'STORE_CORRUPT',
  'STORE_MISPLACED',
  'STORE_NEWER',
  'STORE_UNAVAILABLE',
]);

/** Whether an error says that one record cannot be read: it is damaged, misplaced, of a newer version, or its storage fails. Others can be read. */
export function isUnreadable(error: unknown): error is StoreError {
  return storeErrors.is(error) && unreadableCodes.has(error.code);
}
