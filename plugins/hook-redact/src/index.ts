import { definePlugin } from '@hansard/provider';
import { createRedactHook } from './create-redact-hook.ts';

export { createRedactHook, type RedactPattern } from './create-redact-hook.ts';

export default definePlugin({
  id: 'hook-redact',
  provides: 'HookProvider',
  create: createRedactHook,
});
