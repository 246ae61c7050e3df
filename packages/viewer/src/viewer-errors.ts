import { defineErrors } from '@hansard/events';

/** Why a viewer did not start, or the page of a run could not send something to it. */
export const viewerErrors = defineErrors('viewer', {
  VIEW_TOKEN_NEEDED: {
    when: 'A viewer was to listen at an address that other machines can reach, without a token of its user.',
    advice: 'Give `createViewer` a `token`, or `hansard view` a `--token-file`.',
    details: ['host'],
  },
  VIEW_TOKEN_FILE_UNUSABLE: {
    when: 'The file of the token is not a file, has no token, or can be read by other users of the machine.',
    advice: 'Name a file that does not exist: it is made with a new token.',
    details: ['file'],
  },
  VIEW_PORT_UNUSABLE: {
    when: 'A viewer was to listen at a port that another program listens at, or that the user may not use.',
    advice: 'Give another port above 1023, or none.',
    details: ['port'],
  },
  VIEW_ADDRESS_UNKNOWN: {
    when: 'A viewer was to listen at an address that this machine does not have.',
    advice: 'Give one of the addresses of the machine, 0.0.0.0 for all of them, or none.',
    details: ['host'],
  },
  VIEW_RUN_NOT_HERE: {
    when: 'A message or an abort is for a dispatch that does not run in the process of the viewer, has ended, or takes none now.',
    advice: 'Look at its state. A dispatch that ended takes no messages: start another one.',
    details: ['dispatchId'],
  },
  VIEW_MESSAGE_INVALID: {
    when: 'What was sent to a run is not JSON with a text, a mark names no session or event, or either is larger than 64 KiB.',
    advice: 'Send a shorter text. Load the page again if the session was deleted.',
    details: [],
  },
  VIEW_REQUEST_REFUSED: {
    when: 'Something was sent to a run, or as a mark, that does not come from the page of this viewer.',
    advice: 'Use the page at the printed address. Other programs use `DispatchRun.send` and `abort`.',
    details: [],
  },
});
