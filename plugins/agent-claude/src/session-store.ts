export {
  createSessionStore,
  type MirroredSessions,
  mirroredSessions,
  type SessionStoreOptions,
} from './session-store/create-session-store.ts';
export type { SessionLog } from './session-store/session-events.ts';
