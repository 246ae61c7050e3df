import { type CapturedEvent, isEventOf, parseEvent } from '@hansard/events';
import { createLogIndex } from '@hansard/views';
import { emptyTruth, type GameTruth, randomGame, randomGameMapping, row } from './random-game.ts';
import { filesOf, readFiles } from './stream-files.ts';

/** The differences of a random game that is written, read, written and read again; empty if there are none. */
export function compareGame(seed: number): string[] {
  const { events, truth } = randomGame(seed);
  const written = filesOf([events], randomGameMapping);
  const games = readFiles(written).map((game) => game.events);
  const again = filesOf(games);
  const read = games.flat();
  for (const event of read) parseEvent(JSON.parse(JSON.stringify(event)));
  const found = truthOf(read);
  return [
    ...differences('bytes', written, again),
    ...differences(
      'events',
      games,
      readFiles(again).map((game) => game.events),
    ),
    ...(Object.keys(truth) as (keyof GameTruth)[]).flatMap((part) =>
      differences(part, [...truth[part]].sort(), [...found[part]].sort()),
    ),
    // Every action of these games was a call.
    ...differences(
      'actions beside their calls',
      0,
      read.filter(({ type }) => type === 'game_log:action').length,
    ),
  ].map((words) => `seed ${seed}: ${words}`);
}

function differences(what: string, one: unknown, other: unknown): string[] {
  const [left, right] = [JSON.stringify(one), JSON.stringify(other)];
  return left === right ? [] : [`${what}: ${left} and ${right}`];
}

/** What events that were read from streams say of the game. */
function truthOf(events: readonly CapturedEvent[]): GameTruth {
  const { agents } = createLogIndex(events);
  const nameOf = (agentId = '') => agents.get(agentId)?.name ?? agentId;
  const truth = emptyTruth();
  for (const event of events) {
    const name = nameOf(event.agentId);
    const turn = event.data.turn ?? null;
    if (event.type.startsWith('game:'))
      truth.game.push(row(event.timestamp, turn, event.data.payload ?? null));
    else if (isEventOf(event, 'agent:text'))
      truth.chat.push(row(event.timestamp, turn, name, event.data.text));
    else if (isEventOf(event, 'agent:thinking')) {
      const [first = ''] = event.data.text.split(/\n(?:speak|vote|use_ability|check_will)\(/);
      truth.thoughts.push(row(name, first));
    } else if (isEventOf(event, 'agent:tool_call'))
      truth.calls.push(row(name, event.data.tool, event.data.input ?? null));
    else if (isEventOf(event, 'agent:tool_result')) {
      const { tool, status, output = null } = event.data;
      truth.results.push(row(name, tool, status, output));
      const { action } = event.data as {
        action?: Record<string, string> & { record: { timestamp: string } };
      };
      if (action !== undefined)
        truth.actions.push(
          row(
            action.record.timestamp,
            action.turn ?? null,
            name,
            action.action_type ?? null,
            action.payload ?? null,
          ),
        );
    } else if (isEventOf(event, 'user:message')) {
      const { text, source } = event.data;
      // The chat of a game implies its deliveries; those of the trace are recorded.
      if (!('stream' in event.data)) continue;
      truth.heard.push(row(source.kind === 'agent' ? nameOf(source.agentId) : source.kind, name, text));
    } else if (isEventOf(event, 'agent:inference')) {
      const { usage, durationMs = null } = event.data;
      truth.inferences.push(row(name, [usage.inputTokens, usage.outputTokens], durationMs));
    }
  }
  return truth;
}
