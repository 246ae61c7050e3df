import { jsonObjectSchema, jsonValueSchema, usageSchema } from '@hansard/events';
import { z } from 'zod';

/** The longest time that a timer of Node can wait. */
const longestDelayMs = 2 ** 31 - 1;

const matcherSchema = z
  .strictObject({
    contains: z.string().optional(),
    regex: z.string().refine(isRegularExpression, 'not a regular expression').optional(),
  })
  .refine(({ contains, regex }) => (contains === undefined) !== (regex === undefined), {
    error: 'needs one of contains and regex',
  });

const turnSchema = z
  .strictObject({
    when: matcherSchema.optional(),
    repeat: z.boolean().default(false),
    think: z.string().optional(),
    replay: z.optional(jsonValueSchema),
    say: z.string().optional(),
    text: z.string().optional(),
    call: z
      .array(z.strictObject({ tool: z.string().min(1), input: z._default(jsonValueSchema, {}) }))
      .min(1)
      .optional(),
    error: z.string().optional(),
    delayMs: z.int().min(0).max(longestDelayMs).default(0),
    stream: z.boolean().default(false),
    usage: z.strictObject(usageSchema.shape).default({ inputTokens: 0, outputTokens: 0 }),
  })
  .refine(
    ({ say, call, error }) => [say, call, error].filter((answer) => answer !== undefined).length === 1,
    {
      error: 'needs one of say, call and error, and only one',
    },
  )
  .refine(({ text, call }) => text === undefined || call !== undefined, {
    error: 'goes only beside call; what others hear is say',
    path: ['text'],
  })
  .refine(({ think, error }) => think === undefined || error === undefined, {
    error: 'goes only beside say and call',
    path: ['think'],
  })
  .refine(({ replay, error }) => replay === undefined || error === undefined, {
    error: 'goes only beside say and call',
    path: ['replay'],
  });

const userInputSchema = z
  .strictObject({
    text: z.string(),
    source: z.enum(['user', 'system', 'external']).default('user'),
    what: z.enum(['file', 'timer', 'webhook', 'service']).optional(),
  })
  .refine(({ source, what }) => what === undefined || source === 'external', {
    error: 'goes only beside source: external',
    path: ['what'],
  })
  .transform(({ text, source: kind, what }) => ({
    text,
    source: { kind, ...(what === undefined ? {} : { what }) },
  }));

export const scenarioSchema = z.strictObject({
  title: z.string().optional(),
  hooks: z
    .array(z.strictObject({ plugin: z.string().min(1), config: z._default(jsonObjectSchema, {}) }))
    .default([]),
  user: z
    .array(z.preprocess((input) => (typeof input === 'string' ? { text: input } : input), userInputSchema))
    .default([]),
  agents: z.record(z.string(), z.array(turnSchema)),
});

/**
 * A checked scenario. `agents`: the turns of each agent by its name; the root is `root`. `user`: the messages to the root
 * in order, each with its source: a person, the system or the outside world. `hooks`: the hook plugins of the scenario.
 */
export type Scenario = z.output<typeof scenarioSchema>;

/** A scenario as it is written, defaults left out. */
export interface ScenarioInput {
  readonly title?: string;
  readonly hooks?: readonly NonNullable<z.input<typeof scenarioSchema>['hooks']>[number][];
  readonly user?: readonly (string | z.input<typeof userInputSchema>)[];
  readonly agents: Readonly<Record<string, readonly z.input<typeof turnSchema>[]>>;
}

/** One answer of an agent: something said, tool calls, or a failure of the model. */
export type ScriptedTurn = z.output<typeof turnSchema>;

function isRegularExpression(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}
