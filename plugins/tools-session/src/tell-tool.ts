import { ToolRefusal } from '@hansard/provider/tools';
import { z } from 'zod';
import { findAgent, labelOf } from './agents.ts';
import { deliverOwnWords } from './deliver.ts';
import { sessionTool } from './session-tool.ts';

export const tellTool = sessionTool({
  name: 'tell',
  description: 'Sends a text to one agent. No other agent hears it. The agent answers if you request it.',
  input: z.strictObject({
    to: z.string().min(1).describe('Name or id of the agent.'),
    text: z.string().min(1).describe('The text.'),
    expect_answer: z
      .boolean()
      .default(false)
      .describe('true: it answers, and you get the answer. false: it has the text at its next turn.'),
  }),
  async run({ to, text, expect_answer }, host, signal) {
    const recipient = findAgent(host, to);
    const metadata = { to: recipient.agentId };
    const [denial] = await deliverOwnWords(host, [recipient], await host.logPieceOfText(text));
    if (denial !== undefined) throw new ToolRefusal(denial);
    if (!expect_answer) return { status: 'completed', text: `Told ${labelOf(recipient)}.`, metadata };
    signal.throwIfAborted();
    const answer = await host.respond(recipient.agentId);
    return { status: 'completed', text: answer.text, madeFrom: [answer.messageId], metadata };
  },
});
