import { describeIssues, FormatError } from '@hansard/events';
import { z } from 'zod';

const eventPatterns = z.array(z.string().min(1)).min(1);

const gameMappingSchema = z.strictObject({
  turn: z.strictObject({
    /** The types of the events that begin a turn; `*` stands for any characters. */
    events: eventPatterns,
    /** Where their data names it. Another event whose data has this field names its own turn with it. */
    field: z.string().min(1).default('turn'),
    /** The turn of what happens before the first one. */
    first: z.string().default('Game Start'),
  }),
  gameEvents: z.strictObject({
    events: eventPatterns,
    /** What a type is called in the stream. Absent: `game:trial_result` is TRIAL_RESULT. */
    names: z.record(z.string(), z.string().min(1)).default({}),
    /** The field of their data that is the payload. Absent: all of it but the turn. */
    payload: z.string().min(1).optional(),
  }),
  chat: z
    .strictObject({
      /** The tools with which an agent speaks to all, each with the field of its input that is the message. */
      tools: z.record(z.string(), z.string().min(1)).default({}),
      /** Whether agents speak to all by what they answer without a tool call. */
      utterances: z.boolean().default(false),
    })
    .prefault({}),
  whispers: z
    .strictObject({
      /** The tools with which an agent speaks to some: the fields of the message, and of whom it is for. */
      tools: z
        .record(z.string(), z.strictObject({ message: z.string().min(1), to: z.string().min(1).optional() }))
        .default({}),
      /** Whether pieces of text are whispers, as in imported game logs. */
      piecesOfText: z.boolean().default(false),
    })
    .prefault({}),
  /** Which events say who has which role, and where in their data. For training data. */
  roles: z
    .strictObject({
      events: eventPatterns,
      player: z.string().min(1).default('player'),
      role: z.string().min(1).default('role'),
    })
    .optional(),
  /** The tools that alter the game. */
  actions: z
    .record(
      z.string(),
      z.strictObject({
        type: z.string().min(1),
        /** For each field of the payload the field of the input, or `$agent`: who acts. Absent: the input. */
        payload: z.record(z.string(), z.string().min(1)).optional(),
      }),
    )
    .default({}),
  /** What counts as reasoning. */
  reasoning: z
    .strictObject({
      thinking: z.boolean().default(true),
      /** What an agent says beside its tool calls: nobody else hears it. */
      textBesideCalls: z.boolean().default(true),
      /** Whether the tool calls of a message with thoughts stand behind them. */
      toolCalls: z.boolean().default(true),
    })
    .prefault({}),
});

/** Which events and tools of a game mean what: plain data that a game's author writes. */
export type GameMappingInput = z.input<typeof gameMappingSchema>;

/** A mapping with its defaults filled in. */
export type GameMapping = z.output<typeof gameMappingSchema>;

/** Checks a mapping, such as one read from a file, which messages call `name`. @throws FORMAT_MAPPING_INVALID */
export function parseGameMapping(value: unknown, name = 'The mapping'): GameMapping {
  const checked = gameMappingSchema.safeParse(value);
  if (checked.success) return checked.data;
  const { text, details } = describeIssues(checked.error, value);
  throw new FormatError('FORMAT_MAPPING_INVALID', `${name} does not say what a game means: ${text}`, {
    cause: checked.error,
    details,
  });
}
