import type { ToolProvider } from '@hansard/provider';
import { z } from 'zod';
import { playerTools } from './player-tools.ts';
import { type RecordEvent, runGame } from './run-game.ts';
import { IllegalMove, Village } from './village.ts';

const roles = z.record(z.string(), z.enum(['wolf', 'seer', 'villager']));
const begin = {
  name: 'begin_game',
  description: 'Gives out the roles and plays the game to its end.',
  inputSchema: { type: 'object', properties: { roles: { type: 'object' } }, required: ['roles'] },
};

/** Adds an event to the log of a dispatch. */
export type AppendEvent = (event: {
  readonly type: `game:${string}`;
  readonly data: Record<string, unknown>;
}) => Promise<unknown>;

/** The tools of one game: `begin_game` of the game master, who never plays, and those of the players. */
export function createGameTools(append: AppendEvent): ToolProvider {
  let village: Village | null = null;
  return {
    contract: 1,
    listTools: () => [begin, ...playerTools.map(({ definition }) => definition)],
    async callTool({ tool: name, input, agents }) {
      if (agents === undefined) throw new TypeError('A game is played by the agents of a session.');
      try {
        if (name === 'begin_game') {
          const game = new Village(
            new Map(Object.entries(roles.parse((input as { roles?: unknown }).roles))),
          );
          village = game;
          const record: RecordEvent = async (type, data) => {
            await append({ type, data: { turn: game.turn, ...data } });
          };
          return { status: 'completed', text: await runGame(game, agents, record) };
        }
        const tool = playerTools.find(({ definition }) => definition.name === name);
        if (tool === undefined || village === null) throw new IllegalMove('There is no game yet.');
        return { status: 'completed', text: await tool.use(input, village, agents) };
      } catch (error) {
        if (!(error instanceof IllegalMove)) throw error;
        return { status: 'error', text: `Refused: ${error.message}` };
      }
    },
  };
}
