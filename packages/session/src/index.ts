export { LoggedString } from '@hansard/provider';
export { Agent } from './agents/agent.ts';
export type { SessionDiagnostic } from './log/diagnostic.ts';
export { openSession, readSessionState } from './open-session.ts';
export { Session } from './session.ts';
export { sessionErrors } from './session-errors.ts';
export type { OpenSessionOptions } from './session-options.ts';
