import type { LogImporterProvider } from '@hansard/provider';
import { claudeImporters } from './claude-importers.ts';
import { gameImporters } from './game-importers.ts';
import { sessionImporters } from './session-importers.ts';

/** The importers of the formats that Hansard knows, in the order in which they look at a file. */
export const logImporters: readonly LogImporterProvider[] = [
  ...claudeImporters,
  ...sessionImporters,
  ...gameImporters,
];
