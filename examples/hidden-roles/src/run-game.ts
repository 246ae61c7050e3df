import type { AgentHost } from '@hansard/provider';
import type { GameEventData, GameEventType } from './game-events.ts';
import { tell } from './player-tools.ts';
import type { Village } from './village.ts';

/** Puts an event of the game into the log. */
export type RecordEvent = <T extends GameEventType>(
  type: T,
  data: Omit<GameEventData<T>, 'turn'>,
) => Promise<void>;

/** The game master: plays nights and days until one side has won, and says which. */
export async function runGame(village: Village, host: AgentHost, record: RecordEvent): Promise<string> {
  const { roles, living } = village;
  for (const [name, role] of roles)
    await host.createAgent({ name, systemPrompt: `You are ${name}, and you are a ${role}. Keep it secret.` });
  await record('game:game_start', { players: Object.fromEntries(roles) });

  for (let day = 1; village.winner === null; day += 1) {
    await night(day);
    if (village.winner === null) await daytime(day);
  }
  await record('game:game_end', { winning_faction: village.winner, surviving_players: [...living] });
  return `${village.winner} won. Alive: ${[...living].join(', ')}.`;

  async function night(number: number): Promise<void> {
    village.turn = `Night ${number}`;
    village.phase = 'night';
    await record('game:night_start', { living_players: [...living] });
    for (const name of living)
      if (roles.get(name) !== 'villager') await ask(name, `It is night ${number}. Use your ability.`);
    await bury(village.endNight(), 'the wolf');
  }

  async function daytime(number: number): Promise<void> {
    village.turn = `Day ${number}`;
    village.phase = 'day';
    await record('game:day_start', { living_players: [...living] });
    await tell(host, [...living], `It is day ${number}. Alive: ${[...living].join(', ')}.`);
    for (const name of living) await ask(name, 'It is your turn to speak.');
    village.phase = 'vote';
    await record('game:vote_start', {});
    for (const name of living) await ask(name, 'Vote now.');
    const votes = Object.fromEntries(village.votes);
    const hanged = village.endVote();
    await record('game:trial_result', { votes, hanged });
    await bury(hanged, 'the village');
  }

  async function ask(name: string, prompt: string): Promise<void> {
    await tell(host, [name], prompt);
    const agent = host.findAgent(name);
    if (agent !== null) await host.respond(agent.agentId);
  }

  async function bury(player: string | null, killedBy: string): Promise<void> {
    if (player !== null)
      await record('game:death', { player, role: roles.get(player) ?? '', killed_by: killedBy });
  }
}
