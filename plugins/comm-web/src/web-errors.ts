import { defineErrors } from '@hansard/events';

/** Why a run has no page. */
export const webErrors = defineErrors('comm-web', {
  COMM_WEB_NO_STORE: {
    when: 'The host gives communication providers no store that the page could read.',
    advice: 'Give the store to the hub: `createCommunicationHub(providers, { store })`.',
    details: [],
  },
  COMM_WEB_PORT_IN_USE: {
    when: 'Another program listens at the configured port.',
    advice: 'Configure another `port`, or none.',
    details: ['port'],
  },
});
