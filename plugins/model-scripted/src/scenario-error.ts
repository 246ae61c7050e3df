import { CodedError, createErrorGuard, type ErrorGuard } from '@hansard/events';

/** The errors of scenarios and of the model that plays them. When each one is thrown, and what to do: `docs/errors.md`. */
export const scenarioErrorCodes = [
  'SCENARIO_UNREADABLE',
  'SCENARIO_INVALID',
  'SCENARIO_NO_ANSWER',
  'SCENARIO_MODEL_FAILED',
] as const;

export type ScenarioErrorCode = (typeof scenarioErrorCodes)[number];

export class ScenarioError extends CodedError<ScenarioErrorCode> {}

export const isScenarioError: ErrorGuard<ScenarioError> = createErrorGuard(scenarioErrorCodes);
