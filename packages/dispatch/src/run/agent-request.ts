import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import type { AgentRunRequest } from '@hansard/provider';
import type { ProjectTools } from '../tools/project-tools.ts';
import type { RunDispatchOptions } from './run-options.ts';

/** The request for an agent provider that runs the agent of a dispatch. */
export function agentRequest(
  { taskDir, prompt = '', priorOutcomes, outputSchema, limits, resumeSessionId }: RunDispatchOptions,
  { dispatchId, role, model, cwd, fidelity }: DispatchEnvelope,
  messages: AsyncIterable<CapturedEvent>,
  signal: AbortSignal,
  tools: ProjectTools,
): AgentRunRequest {
  return {
    taskDir,
    dispatchId,
    prompt: [priorOutcomes?.text ?? '', prompt].filter((part) => part !== '').join('\n\n'),
    role,
    model,
    cwd,
    fidelity,
    messages,
    signal,
    tools: tools.offered,
    askHooks: async (call) => {
      const { via: _recorded, ...verdict } = await tools.askHooks(call);
      return verdict;
    },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(limits?.turns === undefined ? {} : { maxTurns: limits.turns }),
    ...(limits?.costUsd === undefined ? {} : { maxCostUsd: limits.costUsd }),
    ...(resumeSessionId === undefined ? {} : { resumeSessionId }),
  };
}
