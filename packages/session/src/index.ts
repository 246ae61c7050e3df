export { LoggedString } from '@hansard/provider';
export { Agent } from './agents/agent.ts';
export type { AgentCreation } from './agents/create-agent.ts';
export { createPeerSession, createSession, loadSession } from './create-session.ts';
export type { SessionDiagnostic, SessionDiagnosticCode } from './log/diagnostic.ts';
export type { CompactionOptions } from './log/log-compaction.ts';
export type { ObservationLinks } from './log/log-output.ts';
export type { TranscriptLinks } from './log/log-transcript-entry.ts';
export { readSessionState } from './read-session-state.ts';
export { Session } from './session.ts';
export { sessionErrors } from './session-errors.ts';
export type {
  LoadSessionOptions,
  PeerSessionOptions,
  SessionOptions,
  SessionRunOptions,
} from './session-options.ts';
