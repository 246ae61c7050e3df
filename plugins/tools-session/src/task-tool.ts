import { definedOnly } from '@hansard/events';
import { ToolRefusal } from '@hansard/provider/tools';
import { z } from 'zod';
import { sessionTool } from './session-tool.ts';

/** Keeps out of names what could be taken for the frame of a quotation, and space around them. */
const namePattern = /^(?!\s)[^[\]:\p{Cc}\p{Zl}\p{Zp}]{1,60}(?<!\s)$/u;

/** An id that a session has given to an agent or will give to one, who would then be meant. */
const allocatedId = /^agent_\d+$/;

export const taskTool = sessionTool({
  name: 'task',
  description:
    'Creates a sub-agent of yours with its own transcript. It says nothing until you let it speak (`discuss`, `tell`).',
  input: z.strictObject({
    name: z
      .string()
      .refine((name) => namePattern.test(name), 'not a name of 1 to 60 characters without [ ] :')
      .describe('The name of the sub-agent, such as "Jill": 1 to 60 characters without [ ] :'),
    system_prompt: z
      .string()
      .min(1)
      .describe('The instructions to the sub-agent: its identity and its task.'),
    language_model: z.string().min(1).optional().describe('Its model. Absent: yours.'),
  }),
  async run({ name, system_prompt, language_model }, host) {
    const { caller } = host;
    const agents = host.listAgents();
    if (allocatedId.test(name) || agents.some(({ agentId }) => agentId === name))
      throw new ToolRefusal(`${name} is an id, not a name: choose another name.`);
    const taken = agents.some(
      (agent) => agent.name === name && agent.parentAgentId === caller.agentId && agent.state === 'active',
    );
    if (taken) throw new ToolRefusal(`You have a sub-agent ${name} already: choose another name.`);
    const { agentId } = await host.createAgent({
      name,
      systemPrompt: system_prompt,
      ...definedOnly({ languageModel: language_model }),
    });
    return { status: 'completed', text: `Created subagent: ${name}`, metadata: { agentId } };
  },
});
