export { createViewer, type RunningViewer } from './server/create-viewer.ts';
export { readTokenFile } from './server/guard.ts';
export type { OpenText, RunChange, ViewedRuns } from './server/viewed-runs.ts';
export type { ViewedStore } from './server/viewed-store.ts';
export { viewerErrors } from './viewer-errors.ts';
