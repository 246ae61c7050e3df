import { type DispatchEnvelope, describeIssues, formatErrors } from '@hansard/events';
import type { GameFormatId } from '@hansard/formats';
import { z } from 'zod';
import { nameLanguageIds } from '../judging/names/languages.ts';

/** The mapping that writes the games of `readGameLog` in `@hansard/formats` as streams again. */
export const gameLogMapping: GameMappingInput = {
  recorded: true,
  turn: { events: ['game:*'] },
  gameEvents: { events: ['game:*'], payload: 'payload' },
};

/** The mapping that writes the games of `readWerewolfMatch` in `@hansard/formats` as streams. */
export const matchMapping: GameMappingInput = {
  turn: { events: ['game:*'] },
  gameEvents: { events: ['game:*'], payload: 'payload' },
  chat: { utterances: true },
  whispers: { piecesOfText: true },
};

const eventPatterns = z.array(z.string().min(1)).min(1);

const nonEmpty = z.string().trim().min(1);

/** What texts call the players, for packets under pseudonyms. */
const namesSchema = z.strictObject({
  /** By a name or an id of a player in the log. */
  players: z
    .record(
      nonEmpty,
      z.strictObject({
        /** Further whole names, such as nicknames. */
        aliases: z.array(nonEmpty).optional(),
        /** The words that stand for the player alone. Absent: the words of its names. */
        parts: z.array(nonEmpty).optional(),
        /** Abbreviations that are names in capital letters only, such as `AL`. */
        initials: z.array(nonEmpty).optional(),
      }),
    )
    .default({}),
  /** Agents that do not play, by name or id, each with the role that stands in the place of its name. */
  others: z.record(nonEmpty, nonEmpty).default({}),
  /** Titles before names, in addition to those of English. */
  titles: z.array(nonEmpty).default([]),
  /** The languages of the texts: the endings that names take in them, what is written before names as part of the word, and titles. */
  languages: z.array(z.enum(nameLanguageIds)).default([]),
  /** Whether the usual short forms of English names, such as `Bob` for Robert, are names of the player. */
  nicknames: z.boolean().default(true),
  /** Endings that names take, by the end of the name that they replace (`""` for none). */
  inflections: z.record(z.string(), z.array(nonEmpty)).default({}),
  /** Words that are not names, although they look like one: the report before a packet leaves them out. */
  notNames: z.array(nonEmpty).default([]),
  /** Words of the language that count as names only in the form of a name, in addition to those of English. */
  words: z.array(nonEmpty).default([]),
});

const partRole = z.union([
  z.enum(['chat', 'thinking', 'action', 'whisper', 'text']),
  /** A whisper: the attribute or field with its receivers, and the field of its text. */
  z.strictObject({ to: nonEmpty, message: nonEmpty.optional() }),
  /** An action: its type, and for each field of its payload an attribute, a field, `$text` or `$agent`. Absent: all of them. */
  z.strictObject({ action: nonEmpty, payload: z.record(z.string(), nonEmpty).optional() }),
]);

const roles = z.record(nonEmpty, partRole).refine((named) => Object.keys(named).length > 0, 'names nothing');

/** How agents write speech, thoughts, whispers and actions in one text. */
const partsSchema = z
  .strictObject({
    tags: roles.optional(),
    fields: roles.optional(),
    sections: roles.optional(),
    rest: z.enum(['thinking', 'chat']).default('thinking'),
  })
  .refine(
    ({ tags, fields, sections }) => [tags, fields, sections].filter((one) => one !== undefined).length === 1,
    'needs one of tags, fields and sections',
  );

const gameMappingSchema = z.strictObject({
  /**
   * Whether the events are lines of streams and say of which (`stream` in their data), as those of `readGameLog`. Then each has its own
   * line again, and the tools and types below decide nothing.
   */
  recorded: z.boolean().default(false),
  turn: z.strictObject({
    /** The types of the events that begin a turn; `*` stands for any characters. */
    events: eventPatterns,
    /** The field of their data that names it. Other events with this field name their own turn. */
    field: z.string().min(1).default('turn'),
    /** The turn before the first such event. */
    first: z.string().default('Game Start'),
  }),
  gameEvents: z.strictObject({
    events: eventPatterns,
    /** Names of event types in the stream. Absent: `game:trial_result` is TRIAL_RESULT. */
    names: z.record(z.string(), z.string().min(1)).default({}),
    /** The field of their data that is the payload. Absent: all of it but the turn. */
    payload: z.string().min(1).optional(),
  }),
  chat: z
    .strictObject({
      /** The tools with which an agent speaks to all, each with the field of its input that is the message. */
      tools: z.record(z.string(), z.string().min(1)).default({}),
      /** Whether agents speak to all by answers without a tool call. */
      utterances: z.boolean().default(false),
    })
    .prefault({}),
  /** The parts of a text in which agents speak, think and act. It makes speech of utterances, and of nothing that it does not name. */
  parts: partsSchema.optional(),
  whispers: z
    .strictObject({
      /** The tools with which an agent speaks to some: the fields of the message and of its receivers. */
      tools: z
        .record(z.string(), z.strictObject({ message: z.string().min(1), to: z.string().min(1).optional() }))
        .default({}),
      /** Whether pieces of text are whispers, as in imported game logs. */
      piecesOfText: z.boolean().default(false),
    })
    .prefault({}),
  /** The events that assign roles, and the fields that hold them. For training data. */
  roles: z
    .strictObject({
      events: eventPatterns,
      player: z.string().min(1).default('player'),
      role: z.string().min(1).default('role'),
      /** A field with the role of each player by name, such as that of the event that begins the game. */
      players: z.string().min(1).optional(),
    })
    .optional(),
  /** The tools that alter the game. */
  actions: z
    .record(
      z.string(),
      z.strictObject({
        type: z.string().min(1),
        /** For each field of the payload the field of the input, or `$agent` for the acting agent. Absent: the input. */
        payload: z.record(z.string(), z.string().min(1)).optional(),
      }),
    )
    .default({}),
  /** For packets under pseudonyms. */
  names: namesSchema.prefault({}),
  /** The parts of messages that count as reasoning. */
  reasoning: z
    .strictObject({
      thinking: z.boolean().default(true),
      /** Text beside tool calls, which no other agent receives. */
      textBesideCalls: z.boolean().default(true),
      /** Whether the tool calls of a message with thoughts follow the thoughts. */
      toolCalls: z.boolean().default(true),
    })
    .prefault({}),
});

/** The meaning of a game's events and tools: plain data that the author of the game writes. */
export type GameMappingInput = z.input<typeof gameMappingSchema>;

/** The actions that texts can name, by their type: the shape of the payload, if it has one. */
export function textActionsOf({
  parts,
}: GameMapping): ReadonlyMap<string, Readonly<Record<string, string>> | null> {
  const named = { ...parts?.tags, ...parts?.fields, ...parts?.sections };
  return new Map(
    Object.entries(named).flatMap(([name, role]) => {
      if (role === 'action') return [[name.toUpperCase(), null] as const];
      return typeof role === 'object' && 'action' in role
        ? [[role.action, role.payload ?? null] as const]
        : [];
    }),
  );
}

/** A mapping with its defaults filled in. */
export type GameMapping = z.output<typeof gameMappingSchema>;

/** Checks a mapping, such as one read from a file. `name` is its name in messages. @throws FORMAT_MAPPING_INVALID */
export function parseGameMapping(value: unknown, name = 'The mapping'): GameMapping {
  const checked = gameMappingSchema.safeParse(value);
  if (checked.success) return checked.data;
  const { text, details } = describeIssues(checked.error, value);
  throw formatErrors.error('FORMAT_MAPPING_INVALID', `${name} is not a valid mapping of a game: ${text}`, {
    cause: checked.error,
    details,
  });
}

const gameLog: GameFormatId = 'game-log';

/**
 * The mapping for one dispatch. An imported game log needs none: its recorded lines count, and a given mapping changes nothing about its
 * tools and types.
 * @throws FORMAT_MAPPING_MISSING
 */
export function mappingFor(
  { source }: Pick<DispatchEnvelope, 'source'>,
  given?: GameMappingInput,
): GameMappingInput {
  if (source?.format === gameLog) return { ...(given ?? gameLogMapping), recorded: true };
  if (given !== undefined) return given;
  throw formatErrors.error(
    'FORMAT_MAPPING_MISSING',
    'The game needs a mapping of its events and tools: what speaks, what acts, what is a game event.',
  );
}
