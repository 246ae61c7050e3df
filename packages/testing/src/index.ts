export {
  type CanaryGame,
  canariesIn,
  canaryGame,
  canaryMapping,
  canaryPlayers,
  type PlantedWord,
} from './canary-game.ts';
export {
  claudeStreamFixtures,
  corpus,
  exampleNumbers,
  exampleText,
  gameText,
  isCorpusThere,
  skipped,
} from './corpus.ts';
export {
  type IssuedSecret,
  issue,
  issuedSecrets,
  type Lengths,
  nearMisses,
  type SecretText,
} from './issued-secrets.ts';
export { anyEvent, envelope, event } from './made-events.ts';
export { ManualClock, startOfTest } from './manual-clock.ts';
export { type NarrativeCanaries, narrativeCanaries } from './narrative-canaries.ts';
export { type BranchedLog, branchedLog, type WrittenPrompt } from './random-branches.ts';
export { randomFrom } from './random-from.ts';
export { randomLog } from './random-log.ts';
export { countEvents, followDispatch, readEvents } from './read-dispatches.ts';
export { dataOf, ofType, type RecordedActivities, recorded } from './recorded-activities.ts';
export {
  type RosterGame,
  type RosterSaying,
  randomRosterGame,
  rosterGames,
  rosterMapping,
} from './roster-game.ts';
export { sampleEvents } from './sample-events.ts';
export {
  foundIn,
  type SecretCanaries,
  type SecretCanary,
  sampleEventOfEachType,
  secretCanaries,
} from './secret-canaries.ts';
export { appendEvent, appendEvents, createDispatch, updateDispatch } from './written-dispatches.ts';
