export { LoggedString } from '@hansard/provider';
export { Agent } from './agents/agent.ts';
export type { AgentCreation, MissedMessage } from './agents/create-agent.ts';
export type { SessionDiagnostic, SessionDiagnosticCode } from './log/diagnostic.ts';
export type { CompactionOptions, ObservationLinks, TranscriptLinks } from './log/log-transcript-entry.ts';
export { openSession, readSessionState } from './open-session.ts';
export { Session } from './session.ts';
export { sessionErrors } from './session-errors.ts';
export type { AgentStart, OpenSessionOptions } from './session-options.ts';
