import { defineErrors, type ErrorOf } from './hansard-error.ts';

/** The errors of the vocabulary. */
export const eventErrors = defineErrors('event', {
  EVENT_INVALID: {
    when: 'A value is not an event: a field is missing or wrong, or it has both `substance` and `cause`.',
    advice: 'Correct the field that the message names.',
    details: ['path?', 'value?'],
  },
  EVENT_NOT_JSON: {
    when: 'An event contains a value that JSON cannot hold unchanged: NaN, a Date, a function.',
    advice: 'Pass observed values through `snapshot`, or turn the value into text first.',
    details: ['path', 'value'],
  },
  EVENT_EPHEMERAL: {
    when: 'A streaming delta (`delta:*`) was passed as an event.',
    advice: 'Publish it to communication providers; record the finished text instead.',
  },
  EVENT_ENVELOPE_INVALID: {
    when: 'An envelope, or a change to one, has a missing or wrong field.',
    advice: 'Correct the field that the message names.',
    details: ['path', 'value'],
  },
  EVENT_TASK_INVALID: {
    when: 'A task record has a missing or wrong field.',
    advice: 'Correct the field that the message names.',
    details: ['path', 'value'],
  },
});

export type EventError = ErrorOf<typeof eventErrors>;
