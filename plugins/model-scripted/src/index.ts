import { resolve } from 'node:path';
import { definePlugin } from '@hansard/provider';
import { openScriptedModel } from './open-scripted-model.ts';

export { openScriptedModel } from './open-scripted-model.ts';
export { readScenario } from './read-scenario.ts';
export type { Scenario, ScenarioInput, ScriptedTurn } from './scenario.ts';
export { scenarioErrors } from './scenario-errors.ts';

export default definePlugin({
  id: 'model-scripted',
  provides: 'LanguageModelProvider',
  create({ scenario }: { scenario: string }, { baseDir }) {
    return openScriptedModel({ path: resolve(baseDir, scenario) });
  },
});
