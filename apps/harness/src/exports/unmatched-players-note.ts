import { neutraliseControlsInLine } from '@hansard/events/plain';

const shownPlayers = 10;

/** A note about players that events of a game name, but that match no agent of its log. */
export function unmatchedPlayersNote(dispatchId: string, players: readonly string[]): string[] {
  if (players.length === 0) return [];
  const names = players.slice(0, shownPlayers).map(neutraliseControlsInLine);
  const more = players.length > shownPlayers ? `, and ${players.length - shownPlayers} more` : '';
  return [
    `Players of the game in ${dispatchId} that match no agent: ${names.join(', ')}${more}. So only what all agents received is public. Add the names to \`aliases\` of their agents in \`names\` of the mapping.`,
  ];
}
