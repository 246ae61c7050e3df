import type { EventDataSchemas } from '@hansard/events';
import { z } from 'zod';

const turn = z.string();
const names = z.array(z.string());

/** What happens in the game itself. The store checks these events as it checks its own. */
export const gameEventSchemas = {
  'game:game_start': z.strictObject({
    turn,
    players: z.record(z.string(), z.enum(['wolf', 'seer', 'villager'])),
  }),
  'game:night_start': z.strictObject({ turn, living_players: names }),
  'game:day_start': z.strictObject({ turn, living_players: names }),
  'game:vote_start': z.strictObject({ turn }),
  'game:trial_result': z.strictObject({
    turn,
    votes: z.record(z.string(), z.string()),
    hanged: z.string().nullable(),
  }),
  'game:death': z.strictObject({ turn, player: z.string(), role: z.string(), killed_by: z.string() }),
  'game:game_end': z.strictObject({
    turn,
    winning_faction: z.enum(['Town', 'Wolves']),
    surviving_players: names,
  }),
} satisfies EventDataSchemas;

export type GameEventType = keyof typeof gameEventSchemas;
export type GameEventData<T extends GameEventType> = z.infer<(typeof gameEventSchemas)[T]>;
