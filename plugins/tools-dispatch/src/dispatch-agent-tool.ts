import { definedOnly } from '@hansard/events';
import type { JsonObject } from '@hansard/provider';
import { ToolRefusal } from '@hansard/provider/tools';
import { z } from 'zod';
import { dispatchTool } from './dispatch-tool.ts';
import { workerMetadata } from './worker-text.ts';

export const dispatchAgentTool = dispatchTool({
  name: 'dispatch_agent',
  description:
    'Starts a worker: an agent with a task of its own that runs beside you. Answers at once with its dispatchId. Start several to have them work side by side, then use await_dispatch.',
  input: z.strictObject({
    role: z.string().min(1).describe('The role of the worker, such as "ts-dev".'),
    prompt: z
      .string()
      .min(1)
      .describe('The task of the worker with all necessary information: it does not see your conversation.'),
    agent: z.string().min(1).optional().describe('The agent to run. Absent: the same as you.'),
    model: z.string().min(1).optional().describe('Its model. Absent: yours.'),
    cwd: z.string().min(1).optional().describe('Its folder. Absent: yours.'),
    bot_id: z.string().min(1).optional().describe('The bot as which it works. Absent: none.'),
    output_schema: z
      .looseObject({})
      .optional()
      .describe('JSON Schema of the requested result. Absent: it answers in text.'),
  }),
  async run({ role, prompt, agent, model, cwd, bot_id, output_schema }, host, { toolCallId }) {
    const agents = host.listAgents();
    if (agent !== undefined && !agents.includes(agent)) {
      const known = agents.length === 0 ? 'Leave agent out.' : `There are: ${agents.join(', ')}.`;
      throw new ToolRefusal(`There is no agent ${JSON.stringify(agent)}. ${known}`);
    }
    const worker = await host.startWorker({
      role,
      prompt,
      toolCallId,
      ...definedOnly({
        agent,
        model,
        cwd,
        botId: bot_id,
        outputSchema: output_schema as JsonObject | undefined,
      }),
    });
    return {
      status: 'completed',
      text: `Started ${role}. dispatchId: ${worker.dispatchId}`,
      metadata: workerMetadata(worker),
    };
  },
});
