export {
  createSessionStore,
  type MirroredSessions,
  mirroredSessions,
} from './session-store/create-session-store.ts';
