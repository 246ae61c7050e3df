import { definePlugin } from '@hansard/provider';
import { createLimitsHook } from './create-limits-hook.ts';

export { createLimitsHook, type LimitsConfig } from './create-limits-hook.ts';

export default definePlugin({
  id: 'hook-limits',
  provides: 'HookProvider',
  create: createLimitsHook,
});
