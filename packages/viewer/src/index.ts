export { createViewer, type Viewer, type ViewerOptions } from './server/create-viewer.ts';
export type { RunningViewer, StartOptions } from './server/start-viewer.ts';
export type { ViewedStore } from './server/viewed-store.ts';
