export { LineFile } from './files/line-file.ts';
export { type LiveSessionLog, openLiveSessionLog } from './files/live-session-log.ts';
