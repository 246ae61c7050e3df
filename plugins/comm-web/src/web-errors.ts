import { defineErrors } from '@hansard/events';

/** Why a run has no page. */
export const webErrors = defineErrors('comm-web', {
  COMM_WEB_NO_STORE: {
    when: 'The host gives communication providers no store that the page could read.',
    advice: 'Give the store to the hub: `createCommunicationHub(providers, { store })`.',
    details: [],
  },
});
