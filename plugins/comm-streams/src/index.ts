import { resolve } from 'node:path';
import type { GameMappingInput } from '@hansard/datasets';
import { definePlugin } from '@hansard/provider';
import { createStreamsWriter } from './create-streams-writer.ts';

export { createStreamsWriter, type StreamsWriterOptions } from './create-streams-writer.ts';

/** The configuration of the plugin; `plugin.json` says what each means. */
export interface StreamsConfig {
  readonly folder?: string;
  readonly mapping: GameMappingInput;
  readonly extended?: boolean;
}

export default definePlugin({
  id: 'comm-streams',
  provides: 'CommunicationProvider',
  create: ({ folder = 'streams', mapping, extended = false }: StreamsConfig, { baseDir }) =>
    createStreamsWriter({ folder: resolve(baseDir, folder), mapping, isExtended: extended }),
});
