export { LoggedString } from '@hansard/provider';
export { Agent } from './agents/agent.ts';
export type { SessionDiagnostic } from './log/diagnostic.ts';
export { openSession } from './open-session.ts';
export {
  type ForkOptions,
  forkSession,
  loadSession,
  type PastAgent,
  readSessionState,
} from './past-session.ts';
export { Session } from './session.ts';
export { sessionErrors } from './session-errors.ts';
export type { OpenSessionOptions } from './session-options.ts';
export type { PendingCall, PersonAnswer } from './turn/waiting-calls.ts';
