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
  issue,
  issuedSecrets,
  type Lengths,
  nearMisses,
  type SecretText,
} from './issued-secrets.ts';
export type { IssuedSecret } from './issued-tokens.ts';
export {
  anyEvent,
  dataOf,
  envelope,
  event,
  ofType,
  type RecordedActivities,
  randomFrom,
  randomLog,
  recorded,
  sampleEvents,
} from './made-events.ts';
export { ManualClock, startOfTest } from './manual-clock.ts';
export { type NarrativeCanaries, narrativeCanaries } from './narrative-canaries.ts';
export { type BranchedLog, branchedLog, writtenMessages } from './random-branches.ts';
export {
  type RosterGame,
  type RosterSaying,
  randomRosterGame,
  rosterGames,
  rosterMapping,
} from './roster-game.ts';
export {
  foundIn,
  type SecretCanaries,
  type SecretCanary,
  sampleEventOfEachType,
  secretCanaries,
} from './secret-canaries.ts';
export { secretSyntaxes } from './secret-syntaxes.ts';
export {
  appendEvent,
  appendEvents,
  countEvents,
  createDispatch,
  followDispatch,
  readEvents,
  updateDispatch,
} from './written-dispatches.ts';
