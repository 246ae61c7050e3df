import { defineErrors } from '@hansard/events';

/** The errors of scenarios and of the model that plays them. */
export const scenarioErrors = defineErrors('scenario', {
  SCENARIO_UNREADABLE: {
    when: 'The scenario file is missing or cannot be read.',
    advice: 'Check the path and its permissions.',
    details: ['path'],
  },
  SCENARIO_INVALID: {
    when: 'The file is not YAML, or a turn has a field that a scenario does not know. The message names file, line and path.',
    advice: 'Correct the scenario at that place.',
    details: ['scenario', 'faults'],
  },
  SCENARIO_NO_ANSWER: {
    when: 'An agent was asked for an answer that the scenario does not have. The message names the agent and the turn.',
    advice: 'Add a turn for it.',
    details: ['scenario', 'agent', 'turn'],
  },
  SCENARIO_MODEL_FAILED: {
    when: 'The scenario makes the model fail here (`error:`).',
    advice: 'Remove `error:` from that turn, if the model should answer.',
    details: ['scenario', 'agent', 'turn'],
  },
});
