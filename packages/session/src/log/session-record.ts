import type { DispatchRef } from '@hansard/dispatch';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import type { SessionLog } from './session-log.ts';

/** What records: the log of a session, and the agents as that log describes them. */
export interface SessionRecord {
  readonly dispatch: DispatchRef;
  readonly log: SessionLog;
  readonly registry: AgentRegistry;
}
