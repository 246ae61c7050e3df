export { createViewer, type Viewer } from './server/create-viewer.ts';
export type { OpenText, RunChange, ViewedRuns } from './server/run/viewed-runs.ts';
export type { RunningViewer, StartOptions } from './server/start-viewer.ts';
export { readTokenFile } from './server/token-file.ts';
export type { ViewedStore } from './server/viewed-store.ts';
export { viewerErrors } from './viewer-errors.ts';
