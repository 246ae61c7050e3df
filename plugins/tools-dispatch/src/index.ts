import { definePlugin } from '@hansard/provider';
import { createDispatchTools } from './create-dispatch-tools.ts';

export { createDispatchTools } from './create-dispatch-tools.ts';

export default definePlugin({
  id: 'tools-dispatch',
  provides: 'ToolProvider',
  create: () => createDispatchTools(),
});
