import { definePlugin } from '@hansard/provider';
import { createRunPage } from './create-run-page.ts';

export { createEventStream, type EventStream, type StreamMessage } from './create-event-stream.ts';
export { createRunPage, type RunPage } from './create-run-page.ts';
export { webErrors } from './web-errors.ts';

/** The configuration of the plugin; `plugin.json` says what it means and has the default. */
interface WebConfig {
  readonly port?: number;
}

export default definePlugin({
  id: 'comm-web',
  provides: 'CommunicationProvider',
  create({ port = 0 }: WebConfig) {
    return createRunPage({
      port,
      announce: (address) => process.stderr.write(`The page of this run: ${address}\n`),
    });
  },
});
