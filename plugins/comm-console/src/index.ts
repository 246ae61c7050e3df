import { definePlugin } from '@hansard/provider';
import { createConsole } from './create-console.ts';

export { type ConsoleProvider, createConsole } from './create-console.ts';

/** The configuration of the plugin; `plugin.json` says what each means and has the defaults. */
interface ConsoleConfig {
  readonly color?: 'auto' | 'always' | 'never';
  readonly deltas?: boolean;
}

const colors = { auto: undefined, always: true, never: false } as const;

export default definePlugin({
  id: 'comm-console',
  provides: 'CommunicationProvider',
  create({ color = 'auto', deltas }: ConsoleConfig) {
    return createConsole({
      output: process.stdout,
      input: process.stdin,
      color: colors[color],
      deltas,
    });
  },
});
