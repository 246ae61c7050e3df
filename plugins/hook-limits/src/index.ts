import {
  definePlugin,
  type HookDecision,
  type HookProvider,
  type HookQuestion,
  type ToolCallQuestion,
} from '@hansard/provider';

export default definePlugin({
  id: 'hook-limits',
  provides: 'HookProvider',
  create: createLimitsHook,
});

/** The configuration of the plugin; `plugin.json` says what each means. */
interface LimitsConfig {
  readonly name?: string;
  readonly maxAgents?: number;
  readonly createTools?: readonly string[];
  readonly maxToolCalls?: number;
  readonly tools?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
}

/** Denies tool calls that would go beyond a limit. It allows results of tools and deliveries. */
export function createLimitsHook(
  config: LimitsConfig,
): HookProvider & { decide(question: HookQuestion): HookDecision } {
  const { name = 'hook-limits', maxToolCalls = Number.POSITIVE_INFINITY } = config;
  const callsOfAgents = new Map<string, number>();
  return {
    contract: 1,
    name,
    decide(question) {
      if (question.on !== 'tool_call') return { decision: 'allow' };
      const reason = reasonAgainst(question, config);
      if (reason !== null) return { decision: 'deny', reason };
      const agent = JSON.stringify([question.dispatchId, question.agentId]);
      const calls = callsOfAgents.get(agent) ?? 0;
      if (calls >= maxToolCalls)
        return { decision: 'deny', reason: `Maximum tool calls (${maxToolCalls}) already reached.` };
      callsOfAgents.set(agent, calls + 1);
      return { decision: 'allow' };
    },
  };
}

function reasonAgainst(
  { tool, agents, running }: ToolCallQuestion,
  { maxAgents = Number.POSITIVE_INFINITY, createTools = ['task'], tools = {} }: LimitsConfig,
): string | null {
  if (tools.deny?.includes(tool)) return `The tool ${tool} is denied.`;
  if (tools.allow !== undefined && !tools.allow.includes(tool))
    return `The tool ${tool} is not among those that are allowed: ${tools.allow.join(', ') || 'none'}.`;
  const active = agents.filter(({ parentAgentId, state }) => parentAgentId !== null && state === 'active');
  const creating = running.filter((call) => createTools.includes(call.tool) && call.created === 0);
  return createTools.includes(tool) && active.length + creating.length >= maxAgents
    ? `Maximum subagents (${maxAgents}) already reached.`
    : null;
}
