import { definePlugin } from '@hansard/provider';
import { createAgentHook } from './create-agent-hook.ts';

export { type AgentHookConfig, createAgentHook } from './create-agent-hook.ts';

export default definePlugin({
  id: 'hook-agent',
  provides: 'HookProvider',
  create: createAgentHook,
});
