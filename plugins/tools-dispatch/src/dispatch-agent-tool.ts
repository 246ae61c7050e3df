import { definedOnly } from '@hansard/events';
import type { JsonObject } from '@hansard/provider';
import { z } from 'zod';
import { dispatchTool } from './dispatch-tool.ts';
import { Refusal } from './refusal.ts';
import { workerMetadata } from './worker-text.ts';

export const dispatchAgentTool = dispatchTool({
  name: 'dispatch_agent',
  description:
    'Starts a worker: an agent with a task of its own that runs beside you. Answers at once with its dispatchId. Start several to have them work side by side, then use await_dispatch.',
  input: z.strictObject({
    role: z.string().min(1).describe('What the worker is, such as "ts-dev".'),
    prompt: z
      .string()
      .min(1)
      .describe('What it shall do, with all that it must know: it sees nothing of your conversation.'),
    agent: z.string().min(1).optional().describe('Which agent it is. Absent: one of your own kind.'),
    model: z.string().min(1).optional().describe('The model that it uses. Absent: yours.'),
    cwd: z.string().min(1).optional().describe('The folder that it works in. Absent: yours.'),
    output_schema: z
      .looseObject({})
      .optional()
      .describe('JSON Schema of the result that you want. Absent: it answers in words.'),
  }),
  async run({ role, prompt, agent, model, cwd, output_schema }, host, { toolCallId }) {
    const agents = host.listAgents();
    if (agent !== undefined && !agents.includes(agent)) {
      const known = agents.length === 0 ? 'Leave agent out.' : `There are: ${agents.join(', ')}.`;
      throw new Refusal(`There is no agent ${JSON.stringify(agent)}. ${known}`);
    }
    const worker = await host.startWorker({
      role,
      prompt,
      toolCallId,
      ...definedOnly({ agent, model, cwd, outputSchema: output_schema as JsonObject | undefined }),
    });
    return {
      status: 'completed',
      text: `Started ${role}. dispatchId: ${worker.dispatchId}`,
      metadata: workerMetadata(worker),
    };
  },
});
