import { definePlugin } from '@hansard/provider';
import { createSessionTools } from './create-session-tools.ts';

export { createSessionTools } from './create-session-tools.ts';

export default definePlugin({
  id: 'tools-session',
  provides: 'ToolProvider',
  create: () => createSessionTools(),
});
