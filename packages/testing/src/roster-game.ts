import {
  type CapturedEvent,
  type EventLinks,
  type JsonObject,
  type JsonValue,
  parseEvent,
} from '@hansard/events';
import { randomFrom } from './made-events.ts';

/** What an agent of a roster game said, and whether each other player received it, as the game was made. */
export interface RosterSaying {
  readonly id: string;
  readonly text: string;
  readonly isPublic: boolean;
}

/** A game in which agents speak to all and to some, and the lists of its players do not always have the names of the agents. */
export interface RosterGame {
  readonly title: string;
  readonly events: readonly CapturedEvent[];
  readonly sayings: readonly RosterSaying[];
  /** The players in the lists that match none of the agents. */
  readonly unmatched: readonly string[];
}

/** The mapping of every roster game. */
export const rosterMapping = {
  turn: { events: ['game:day'] },
  gameEvents: { events: ['game:*'] },
  chat: { utterances: true },
  names: { players: { Beth: { aliases: ['Queen Bee'] } }, others: { Overseer: 'game master' } },
};

class GameWriter {
  readonly events: CapturedEvent[] = [];

  add(type: string, agentId: string | null, data: JsonObject, links: EventLinks = {}): string {
    const id = `e${this.events.length + 1}`;
    const of = agentId === null ? {} : { agentId };
    this.events.push(parseEvent({ id, type, timestamp: '2026-03-01T09:30:00.000Z', ...of, ...links, data }));
    return id;
  }

  create(names: Readonly<Record<string, string>>): void {
    for (const [agentId, name] of Object.entries(names)) this.add('agent:created', agentId, { name });
  }

  say(agentId: string, text: string, to: readonly string[]): string {
    const id = this.add('agent:text', agentId, { text }, { messageId: `m${this.events.length}` });
    this.add('agent:inference', agentId, { model: 'm', usage: { inputTokens: 1, outputTokens: 1 } });
    const data = { text, source: { kind: 'agent', agentId } };
    for (const receiver of to) this.add('user:message', receiver, data, { substance: id });
    return id;
  }
}

const secret = 'I am the wolf, we kill at night.';
const open = 'Good morning everybody.';
const abc = { a1: 'Ann', a2: 'Bob', a3: 'Cleo' };
const players = (...names: JsonValue[]): JsonObject => ({ players: names });

/** `a1` says something to `a2` alone, and then `a3` something to both. */
function wolfGame(
  title: string,
  names: Readonly<Record<string, string>>,
  roster: JsonObject | null,
  unmatched: readonly string[] = [],
  more: (writer: GameWriter) => void = () => {},
): RosterGame {
  const writer = new GameWriter();
  writer.create(names);
  if (roster !== null) writer.add('game:start', null, roster);
  more(writer);
  const whisper = writer.say('a1', secret, ['a2']);
  const sayings = [
    { id: whisper, text: secret, isPublic: false },
    { id: writer.say('a3', open, ['a1', 'a2']), text: open, isPublic: true },
  ];
  return { title, events: writer.events, sayings, unmatched };
}

/** Lists of players that do not have the names of the agents, by how they differ. */
export const rosterGames: readonly RosterGame[] = [
  wolfGame('the names of the agents', abc, players('Ann', 'Bob', 'Cleo')),
  wolfGame(
    'names to which the agents add a model',
    { a1: 'Ann (qwen)', a2: 'Bob (gpt)', a3: 'Cleo (x)' },
    players('Ann', 'Bob', 'Cleo'),
    ['Ann', 'Bob', 'Cleo'],
  ),
  wolfGame('names in another case', { a1: 'ann', a2: 'bob', a3: 'cleo' }, players('Ann', 'Bob', 'Cleo')),
  wolfGame('names with spaces around them', abc, players(' Ann', 'Bob ', '\tCleo\n')),
  wolfGame('one name in another form', { ...abc, a3: 'Cleo (x)' }, players('Ann', 'Bob', 'Cleo'), ['Cleo']),
  wolfGame('a player without an agent', abc, players('Ann', 'Bob', 'Cleo', 'Dan'), ['Dan']),
  wolfGame(
    'one player fewer than names for an agent',
    { ...abc, a3: 'Cleo (x)' },
    players('Ann', 'ann', 'Bob'),
  ),
  wolfGame('objects with names', abc, {
    ...players({ name: 'Ann' }, { name: 'Bob' }, { name: 'Cleo' }),
    living_players: [{ name: 'Ann' }, { name: 'Bob' }, { name: 'Cleo' }],
  }),
  wolfGame('objects with ids', abc, players({ id: 'a1' }, { agent_id: 'a2' }, { id: 'p3', agent_id: 'a3' })),
  wolfGame('objects that name nobody', abc, players({ seat: 1 }, { seat: 2 }, { seat: 3 }), [
    '{"seat":1}',
    '{"seat":2}',
    '{"seat":3}',
  ]),
  wolfGame('an object with a key for each', abc, {
    players: { p1: { name: 'Ann' }, p2: { name: 'Bob' }, p3: { name: 'Cleo' } },
  }),
  wolfGame('a text', abc, { living_players: 'Ann, Bob, Cleo' }, ['Ann, Bob, Cleo']),
  wolfGame('an empty list', abc, { living_players: [] }),
  wolfGame('nobody, in a log that creates no agents', {}, { living_players: [] }),
  wolfGame('nobody, beside an agent that does not play', { ...abc, gm: 'Overseer' }, { living_players: [] }),
  wolfGame('a number', abc, { living_players: 3 }),
  wolfGame('names that no agent has', abc, { living_players: ['player_1', 'player_2', 'player_3'] }, [
    'player_1',
    'player_2',
    'player_3',
  ]),
  wolfGame('the ids of agents that the log does not create', {}, players('a1', 'a2', 'a3')),
  wolfGame('names of agents that the log does not create', {}, players('Ann', 'Bob', 'Cleo'), [
    'Ann',
    'Bob',
    'Cleo',
  ]),
  wolfGame('nothing, in a log that creates no agents', {}, null),
  wolfGame('nothing, in a log that creates one of the agents', { a1: 'Ann' }, null),
  wolfGame('nothing, in a log that creates the agents', abc, null),
  wolfGame('the first name of an agent that was renamed', abc, players('Ann', 'Bob', 'Cleo'), [], (writer) =>
    writer.create({ a3: 'Cleopatra' }),
  ),
  wolfGame(
    'the last name of an agent that was renamed',
    { ...abc, a3: 'Cl.' },
    players('Ann', 'Bob', 'Cleo'),
    [],
    (writer) => writer.create({ a3: 'Cleo' }),
  ),
  wolfGame(
    'a name that the mapping gives an agent',
    { ...abc, a3: 'Beth' },
    players('Ann', 'Bob', 'queen bee'),
  ),
  wolfGame(
    'other names, beside an agent that does not play',
    { ...abc, gm: 'Overseer' },
    players('X', 'Y', 'Z'),
    ['X', 'Y', 'Z'],
  ),
  wolfGame(
    'the names of the agents, beside an agent that does not play',
    { ...abc, gm: 'Guide' },
    players('Ann', 'Bob', 'Cleo'),
  ),
  wolfGame(
    'a name of two agents, of which one has died',
    { ...abc, a4: 'Cleo' },
    players('Ann', 'Bob', 'Cleo'),
    [],
    (writer) => {
      writer.add('game:death', null, { player: 'Cleo' });
      writer.add('agent:terminated', 'a4', {});
    },
  ),
  wolfGame(
    'a player that died in an earlier game of the log',
    abc,
    players('Ann', 'Bob', 'Cleo'),
    [],
    (writer) => {
      writer.add('game:death', null, { player: 'Cleo' });
      writer.add('game:start', null, players('Ann', 'Bob', 'Cleo'));
    },
  ),
  wolfGame(
    'a player that has come back',
    { ...abc, a2: 'Bob (gpt)' },
    players('Ann', 'Bob', 'Cleo'),
    ['Bob'],
    (writer) => {
      writer.add('game:death', null, { player: 'Cleo' });
      writer.add('game:day', null, { living_players: ['Ann', 'Bob', 'Cleo'] });
    },
  ),
  lateGame('a player that is created later', players('Ann', 'Bob', 'Cleo')),
  lateGame('names that no agent has, and an agent is created later', players('X', 'Y', 'Z'), ['X', 'Y', 'Z']),
  survivorGame(),
  strangerGame(),
  aloneGame(),
  silentGame(),
];

/** The third agent is created only after the first text, but the game has named three players. */
function lateGame(title: string, roster: JsonObject, unmatched: readonly string[] = []): RosterGame {
  const writer = new GameWriter();
  writer.create({ a1: 'Ann', a2: 'Bob' });
  writer.add('game:start', null, roster);
  const whisper = writer.say('a1', secret, ['a2']);
  writer.create({ a3: 'Cleo' });
  const sayings = [
    { id: whisper, text: secret, isPublic: false },
    { id: writer.say('a3', open, ['a1', 'a2']), text: open, isPublic: true },
  ];
  return { title, events: writer.events, sayings, unmatched };
}

/** Two agents have a name. One has ended when the player dies, so the other one has died. */
function survivorGame(): RosterGame {
  const writer = new GameWriter();
  writer.create({ ...abc, a4: 'Cleo' });
  writer.add('game:start', null, players('Ann', 'Bob', 'Cleo'));
  writer.add('agent:terminated', 'a4', {});
  writer.add('game:death', null, { player: 'Cleo' });
  const sayings = [{ id: writer.say('a1', open, ['a2']), text: open, isPublic: true }];
  return {
    title: 'a name of two agents, of which one has ended and one has died',
    events: writer.events,
    sayings,
    unmatched: [],
  };
}

/** The log creates two agents. A third one appears after the first text, and perhaps existed before. */
function strangerGame(): RosterGame {
  const writer = new GameWriter();
  writer.create({ a1: 'Ann', a2: 'Bob' });
  const sayings = [
    { id: writer.say('a1', secret, ['a2']), text: secret, isPublic: false },
    { id: writer.say('a3', open, ['a1', 'a2']), text: open, isPublic: true },
  ];
  return {
    title: 'nothing, in a log in which an agent appears that it does not create',
    events: writer.events,
    sayings,
    unmatched: [],
  };
}

/** One player, and a host. The player says something to nobody, and something to the host; the host says something to it. */
function aloneGame(): RosterGame {
  const writer = new GameWriter();
  writer.create({ a1: 'Ann', gm: 'Guide' });
  writer.add('game:start', null, players('Ann'));
  const answer = 'I open the door.';
  const sayings = [
    { id: writer.say('a1', secret, []), text: secret, isPublic: false },
    { id: writer.say('a1', answer, ['gm']), text: answer, isPublic: true },
    { id: writer.say('gm', open, ['a1']), text: open, isPublic: true },
  ];
  return { title: 'one player', events: writer.events, sayings, unmatched: [] };
}

/** One agent, which the log does not create, and which nobody hears. */
function silentGame(): RosterGame {
  const writer = new GameWriter();
  const sayings = [{ id: writer.say('a1', secret, []), text: secret, isPublic: false }];
  return { title: 'nothing, in a log with one agent', events: writer.events, sayings, unmatched: [] };
}

/** How a list writes a player, and whether that is a name of its agent. */
type Form = readonly [(name: string, agentId: string) => JsonValue, isMatch: boolean];

const forms: readonly Form[] = [
  [(name) => name, true],
  [(name) => ` ${name.toUpperCase()} `, true],
  [(_, agentId) => agentId, true],
  [(name) => ({ name, seat: 1 }), true],
  [(_, agentId) => ({ agent_id: agentId }), true],
  [(name) => `${name} (qwen)`, false],
  [(name) => ({ who: name }), false],
];

/**
 * A random game of three to six players and perhaps a host. It decides who receives each text, counts that itself, and knows of each
 * form in which it writes a player whether that is a name of an agent.
 */
export function randomRosterGame(seed: number): RosterGame {
  const random = randomFrom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const writer = new GameWriter();
  const agents = Array.from({ length: 3 + below(4) }, (_, at) => `p${at}`);
  const nameOf = (agentId: string) => `Name${agentId}`;
  const isCreated = random() < 0.8;
  /** An agent that the log does not create. */
  const stranger = random() < 0.3 ? (agents.at(-1) ?? null) : null;
  const createsAgent = (agentId: string) => isCreated && agentId !== stranger;
  const hasHost = random() < 0.5;
  const isNamed = random() < 0.85;
  const isSloppy = random() < 0.6;
  writer.create(Object.fromEntries(agents.filter(createsAgent).map((agentId) => [agentId, nameOf(agentId)])));
  if (hasHost) writer.create({ host: 'Guide' });
  if (isCreated && random() < 0.3) writer.create({ p1: 'Renamed' });

  const unmatched = new Set<string>();
  let isWhole = true;
  let living = [...agents];
  /** Those that a player who is not known to be one of them could be. */
  let possible = [...agents, ...(hasHost ? ['host'] : [])];
  const entryOf = (agentId: string) => {
    const [write, isMatch] = forms[below(isSloppy ? forms.length : 5)] ?? [(name: string) => name, true];
    const entry = write(nameOf(agentId), agentId);
    const isFound = isMatch && (createsAgent(agentId) || isById(entry, agentId));
    if (!isFound) {
      isWhole = false;
      unmatched.add(nameIn(entry));
    }
    return entry;
  };
  const list = () => {
    possible = [...living, ...(hasHost ? ['host'] : [])];
    isWhole = true;
    const names = living.map(entryOf);
    if (random() >= 0.15) return names;
    unmatched.add('Nobody');
    isWhole = false;
    return [...names, 'Nobody'];
  };
  if (isNamed)
    writer.add('game:start', null, random() < 0.5 ? { players: list() } : { living_players: list() });

  const sayings: RosterSaying[] = [];
  const speak = (speaker: string, chance: number) => {
    const everybody = [...agents, ...(hasHost ? ['host'] : [])].filter((one) => one !== speaker);
    const aim =
      isNamed && isWhole && random() < 0.5 ? everybody.filter((one) => living.includes(one)) : everybody;
    const isToAll = random() < chance;
    const to = aim.filter(() => isToAll || random() < 0.6);
    const text = `Text ${sayings.length} of ${speaker}.`;
    const must = (isNamed && isWhole ? living : possible).filter((one) => one !== speaker);
    const isPublic = must.length > 0 && must.every((one) => to.includes(one));
    sayings.push({ id: writer.say(speaker, text, to), text, isPublic });
  };
  for (let step = 0; step < 20; step += 1) {
    speak(agents[below(agents.length)] ?? '', 0.4);
    if (random() < 0.1 && isCreated && isNamed && isWhole && living.length > 2) {
      const died = living[below(living.length)] ?? '';
      if (died === stranger) continue;
      living = living.filter((one) => one !== died);
      writer.add('game:death', null, { player: nameOf(died) });
      writer.add('game:day', null, { living_players: list() });
    }
  }
  // Everybody takes part, or would be in no log.
  for (const agentId of agents) speak(agentId, 1);
  return { title: `seed ${seed}`, events: writer.events, sayings, unmatched: [...unmatched] };
}

function isById(entry: unknown, agentId: string): boolean {
  return entry === agentId || (typeof entry === 'object' && JSON.stringify(entry).includes('agent_id'));
}

function nameIn(entry: unknown): string {
  const text = typeof entry === 'object' && entry !== null && 'name' in entry ? entry.name : entry;
  return typeof text === 'string' ? text : JSON.stringify(text);
}
