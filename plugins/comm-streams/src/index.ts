import { resolve } from 'node:path';
import type { GameMappingInput } from '@hansard/datasets';
import type { SessionFormatId } from '@hansard/formats';
import { definePlugin } from '@hansard/provider';
import { createStreamsWriter } from './create-streams-writer.ts';

export { createStreamsWriter, type StreamsWriterOptions } from './create-streams-writer.ts';

/** The configuration of the plugin; `plugin.json` says what each means. */
export interface StreamsConfig {
  readonly folder?: string;
  readonly mapping?: GameMappingInput;
  readonly sessionLogs?: readonly SessionFormatId[];
  readonly extended?: boolean;
}

export default definePlugin({
  id: 'comm-streams',
  provides: 'CommunicationProvider',
  create: ({ folder = 'streams', extended = false, ...written }: StreamsConfig, { baseDir }) =>
    createStreamsWriter({ folder: resolve(baseDir, folder), isExtended: extended, ...written }),
});
