import type { AgentInfo, LoggedString } from '@hansard/provider';
import { z } from 'zod';
import { findAgents, labelOf, unique } from './agents.ts';
import { deliverOwnWords, deliverUtterance, messageOf, quote } from './deliver.ts';
import { sessionTool } from './session-tool.ts';

export const discussTool = sessionTool({
  name: 'discuss',
  description:
    'Lets agents speak in turn. Each hears your prompt and what the others say; you get back all that was said, and who failed to speak.',
  input: z.strictObject({
    prompt: z.string().min(1).optional().describe('Your text to all of them before the first one speaks.'),
    speakers: z.array(z.string().min(1)).min(1).describe('Names or ids of the speakers, in their order.'),
    listeners: z
      .array(z.string().min(1))
      .default([])
      .describe('Names or ids of agents that hear everything and do not speak.'),
    rounds: z.int().min(1).max(20).default(1).describe('The number of turns of each speaker.'),
  }),
  async run({ prompt, speakers: speakerNames, listeners: listenerNames, rounds }, host, signal) {
    const speakers = findAgents(host, speakerNames);
    const everyone = unique([...speakers, ...findAgents(host, listenerNames)]);
    const said: { speaker: AgentInfo; utterance: LoggedString }[] = [];
    const failed = new Set<string>();
    const notes: string[] = [];
    if (prompt !== undefined)
      notes.push(...(await deliverOwnWords(host, everyone, await host.logPieceOfText(prompt))));
    for (let round = 1; round <= rounds; round++)
      for (const speaker of speakers) {
        signal.throwIfAborted();
        let utterance: LoggedString;
        try {
          utterance = await host.respond(speaker.agentId);
        } catch (error) {
          signal.throwIfAborted();
          failed.add(speaker.agentId);
          const when = rounds === 1 ? '' : ` in round ${round}`;
          notes.push(`${labelOf(speaker)} failed to speak${when}: ${messageOf(error)}`);
          continue;
        }
        said.push({ speaker, utterance });
        const others = everyone.filter(({ agentId }) => agentId !== speaker.agentId);
        notes.push(...(await deliverUtterance(host, others, speaker, utterance)));
      }
    const [only, ...more] = said;
    const lines =
      only !== undefined && more.length === 0 && failed.size === 0
        ? [only.utterance.text]
        : said.map(({ speaker, utterance }) => quote(speaker, utterance.text));
    return {
      status: said.length === 0 ? 'error' : 'completed',
      text: [...lines, ...notes].join('\n'),
      madeFrom: said.map(({ utterance }) => utterance.messageId),
      metadata: {
        speakers: speakers.map(({ agentId }) => agentId),
        audience: everyone.map(({ agentId }) => agentId),
        rounds,
        ...(failed.size === 0 ? {} : { failed: [...failed] }),
      },
    };
  },
});
