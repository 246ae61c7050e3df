import type { AgentHost, JsonObject, ToolDefinition } from '@hansard/provider';
import { z } from 'zod';
import type { Village } from './village.ts';

/** A tool of the players: checks its input, changes the village, and informs the agents that may know it. */
export interface PlayerTool {
  readonly definition: ToolDefinition;
  use(input: unknown, village: Village, host: AgentHost): Promise<string>;
}

function playerTool<S extends z.ZodObject>(
  name: string,
  description: string,
  schema: S,
  use: (input: z.output<S>, player: string, village: Village, host: AgentHost) => Promise<string> | string,
): PlayerTool {
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(schema);
  return {
    definition: { name, description, inputSchema: inputSchema as JsonObject },
    use: async (input, village, host) => {
      const player = host.caller.name ?? host.caller.agentId;
      village.assertLiving(player);
      return use(schema.parse(input), player, village, host);
    },
  };
}

const text = z.string().min(1);
const target = z.string().describe('The name of a living player.');

export const playerTools: readonly PlayerTool[] = [
  playerTool(
    'speak',
    'Say something that all the living hear.',
    z.strictObject({ text }),
    async (input, player, village, host) => {
      village.assertPhase('day');
      await tell(
        host,
        [...village.living].filter((name) => name !== player),
        `[${player}]: ${input.text}`,
        input.text,
      );
      return 'Noted.';
    },
  ),
  playerTool(
    'whisper',
    'Say something that one player alone hears.',
    z.strictObject({ to: target, text }),
    async ({ to, text }, player, village, host) => {
      village.assertPhase('day');
      village.assertLiving(to);
      await tell(host, [to], `[${player} whispers]: ${text}`, text);
      return 'Noted.';
    },
  ),
  playerTool(
    'vote',
    'Vote for the player to be hanged.',
    z.strictObject({ target }),
    ({ target }, player, village) => {
      village.vote(player, target);
      return 'Noted.';
    },
  ),
  playerTool(
    'use_ability',
    'What your role can do at night.',
    z.strictObject({ ability: text, target }),
    ({ target }, player, village) => `Noted. ${village.useAbility(player, target)}`,
  ),
];

/** Says one thing to several: one substance, and a delivery for each who hears it. */
export async function tell(
  host: AgentHost,
  names: readonly string[],
  heard: string,
  said = heard,
): Promise<void> {
  const { messageId } = await host.logPieceOfText(said);
  for (const name of names) {
    const agent = host.findAgent(name);
    if (agent !== null) await host.deliver(agent.agentId, { text: heard, substance: messageId });
  }
}
