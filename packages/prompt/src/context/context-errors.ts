import { defineErrors } from '@hansard/events/plain';

/** The errors of context rendering. */
export const contextErrors = defineErrors('context', {
  CONTEXT_BUDGET_TOO_SMALL: {
    when: 'The system prompts and the newest message of an agent take more tokens than the budget of its `faded` context minus its reserve. The model is not asked.',
    advice: 'Raise the budget to the number in the message, or lower the reserve.',
    details: ['budget', 'reserve', 'needed', 'systemPrompts', 'newest'],
  },
  CONTEXT_MANIFEST_UNKNOWN: {
    when: 'The recorded context of a model call cannot be rendered again: another version wrote it, its token counter is not available, or the log lacks an event that it names.',
    advice:
      'Use the version that recorded it, or give that counter; `hansard context SESSION EVENT --policy full` shows what the model could have seen.',
    details: ['eventId?', 'counter?'],
  },
});
