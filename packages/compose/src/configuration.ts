import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { describeIssues, didYouMean, jsonObjectSchema, messageOf } from '@hansard/events';
import { longestTimeout, previewWithoutSecrets } from '@hansard/plugin-loader';
import { type ContextPolicy, parseContextPolicy } from '@hansard/prompt';
import { z } from 'zod';
import { redactionSchema } from './configured-redactor.ts';
import type { HarnessContext } from './context.ts';
import { harnessErrors } from './harness-errors.ts';

const pluginUseSchema = z
  .union(
    [
      z
        .string()
        .min(1)
        .describe('A package name, a path to a plugin folder, or the id of a plugin in `pluginFolders`.'),
      z.strictObject({
        plugin: z
          .string()
          .min(1)
          .describe('A package name, a path to a plugin folder, or the id of a plugin in `pluginFolders`.'),
        config: z.optional(jsonObjectSchema).describe("The configuration, by the plugin's own configSchema."),
        createTimeoutMs: z
          .int()
          .min(1)
          .max(longestTimeout)
          .optional()
          .describe(
            'The longest time that the plugin may take to load, and again to create its provider, such as to connect to a server. Absent: 10000, ten seconds.',
          ),
      }),
    ],
    {
      error:
        'Invalid input: expected the name of a plugin, or { "plugin": …, "config": { … }, "createTimeoutMs": … } without other keys',
    },
  )
  .describe('A plugin, by itself or with its configuration.');

/** `hansard.config.json`. Every key is optional. */
export const configSchema = z.strictObject({
  $schema: z.string().optional().describe('For editors: ./node_modules/hansard/hansard.config.schema.json'),
  store: pluginUseSchema.default('@hansard/store-jsonfile').describe('The store of the dispatches.'),
  communication: z
    .array(pluginUseSchema)
    .default(['@hansard/comm-console'])
    .describe('The plugins that show dispatches live and deliver messages to their agents.'),
  incomingTasks: z
    .strictObject({
      agent: z.string().min(1).describe('The id of the plugin of the agent that works on the tasks.'),
      project: z
        .string()
        .regex(/^[^/]+$/, 'not a project: a name without /')
        .default('incoming')
        .describe('The project of the tasks. Absent: incoming.'),
      role: z.string().min(1).optional().describe('The role of the agent. Absent: agent.'),
      maxRunning: z
        .int()
        .min(1)
        .optional()
        .describe('The most such tasks that run at the same time; further ones are refused. Absent: 4.'),
    })
    .optional()
    .describe(
      'Lets communication plugins begin tasks, such as one that a message in a chat asks for. They run while the program does. Absent: they may not.',
    ),
  plugins: z
    .array(pluginUseSchema)
    .default([])
    .describe('Further plugins, such as the agents that `hansard run` runs.'),
  pluginFolders: z
    .array(z.string().min(1))
    .default([])
    .describe('Folders that contain plugins. A plugin found there is loaded only if its id is named above.'),
  deny: z
    .array(z.string().min(1))
    .default([])
    .describe('Ids or packages of plugins that are never loaded, even if another key names them.'),
  limits: z
    .strictObject({
      timeMs: z.number().positive().optional().describe('The longest time that a dispatch may run.'),
      stallMs: z
        .number()
        .positive()
        .optional()
        .describe(
          'The longest time without a sign of the agent. In a session, that of a model or a tool: it stops the turn.',
        ),
      hookMs: z
        .number()
        .positive()
        .optional()
        .describe('The longest time that a hook may take for a decision. Absent: 300000, five minutes.'),
      costUsd: z.number().positive().optional().describe('The most that a dispatch may cost, in US dollars.'),
    })
    .default({})
    .describe('Limits of each dispatch; an agent that exceeds one is aborted. Absent: no limit.'),
  workers: z
    .strictObject({
      messages: z
        .enum(['parent', 'all'])
        .optional()
        .describe(
          'Who may send messages to whom while they run: parent (the default), an agent and its workers to each other; all, also the other agents that run with them.',
        ),
      maxMessages: z
        .int()
        .min(0)
        .optional()
        .describe(
          'The most messages that one agent sends to others since it last heard a person or the outside world. Absent: 50.',
        ),
    })
    .default({})
    .describe('Messages between the agents of `hansard run` and their workers.'),
  bot: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The bot to which the dispatches of `hansard run` and `hansard chat` belong, unless --bot names another. Workers do not inherit it.',
    ),
  context: z
    .string()
    .refine(isPolicy, { error: 'Write full, last:MESSAGES, faded:TOKENS or faded:TOKENS:RESERVE' })
    .optional()
    .describe(
      'The part of the log that models of `hansard chat` receive: full (the default), last:MESSAGES, faded:TOKENS or faded:TOKENS:RESERVE.',
    ),
  images: z
    .boolean()
    .optional()
    .describe(
      'Whether models of `hansard chat` are sent the images that agents observe, for models that take images. Absent: false, only their type, size and digest.',
    ),
  parallelToolCalls: z
    .int()
    .min(1)
    .optional()
    .describe(
      'How many tool calls of one answer are made at the same time in `hansard chat`, unless --parallel says otherwise. Absent: 1. Agents of `hansard run` decide that themselves.',
    ),
  prices: z
    .union([z.literal(false), z.string().min(1)], { error: 'Write the path of a file, or false' })
    .optional()
    .describe(
      'Estimates the cost of imported model calls that have none: the path of a JSON file with a price table, or false for no estimates. Absent: list prices of public models.',
    ),
  redact: redactionSchema,
  loopDetector: z
    .union([
      z.literal(false),
      z
        .strictObject({
          window: z
            .number()
            .int()
            .positive()
            .describe('The number of the latest tool calls of an agent that are compared.'),
          warnAt: z
            .number()
            .int()
            .min(2)
            .describe(
              'Equal calls among them, or repetitions of two to four calls in a row, that record a warning.',
            ),
          killAt: z.number().int().min(2).describe('Equal calls or repetitions that end the dispatch.'),
        })
        .refine(({ window, warnAt, killAt }) => warnAt <= killAt && killAt <= window, {
          error: 'warnAt must be at most killAt, and killAt at most window',
        }),
    ])
    .optional()
    .describe('Limits on repeated tool calls; false: no limits.'),
});

export type HarnessConfig = z.infer<typeof configSchema>;

export type PluginUse = z.infer<typeof pluginUseSchema>;

export interface LoadedConfig {
  readonly config: HarnessConfig;
  /** The base of its relative paths. */
  readonly baseDir: string;
  /** Null if no file exists and the defaults apply. */
  readonly file: string | null;
  /** How its folder was found; null: the file was named. */
  readonly base: Base | null;
}

/** What names the configuration and the log of a command. `config` counts before `root`, and both before HANSARD_ROOT. */
export interface PlaceOptions {
  readonly config?: string | undefined;
  readonly root?: string | undefined;
}

/** Reads the configuration: the named file, or `hansard.config.json` in the folder that `findBase` finds, or the defaults. */
export function loadConfig(
  { cwd, env }: Pick<HarnessContext, 'cwd' | 'env'>,
  { config: named, root }: PlaceOptions,
): LoadedConfig {
  const base = named === undefined ? findBase(cwd, root ?? (env.HANSARD_ROOT || undefined)) : null;
  const file = base === null ? resolve(cwd, named ?? configFileName) : join(base.folder, configFileName);
  const text = readText(file, named !== undefined);
  if (text === null) return { config: configSchema.parse({}), baseDir: dirname(file), file: null, base };
  const value = parseJson(text, file);
  const result = configSchema.safeParse(value);
  if (!result.success) {
    const hint = mistypedKeys(result.error, configJsonSchema());
    throw harnessErrors.error(
      'HARNESS_CONFIG_INVALID',
      `${file} is not a valid configuration: ${describeIssues(result.error, value, '', previewWithoutSecrets).text}`,
      {
        advice: `${hint === '' ? 'Correct that key.' : hint} An editor that knows the "$schema" key shows what is allowed.`,
        cause: result.error,
      },
    );
  }
  return { config: result.data, baseDir: dirname(file), file, base };
}

/** The context policy of sessions; undefined if it is not configured. */
export function contextPolicy({ context, images }: HarnessConfig): ContextPolicy | undefined {
  if (images !== true) return context === undefined ? undefined : parseContextPolicy(context);
  return { ...parseContextPolicy(context ?? 'full'), images: 'sent' };
}

/** JSON Schema of the configuration, for editors. */
export function configJsonSchema(): Record<string, unknown> {
  return {
    ...z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }),
    title: 'Hansard configuration',
  };
}

function isPolicy(text: string): boolean {
  try {
    parseContextPolicy(text);
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

function readText(file: string, mustExist: boolean): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !mustExist) return null;
    const message = `The configuration ${file} can't be read: ${messageOf(error)}`;
    throw harnessErrors.error('HARNESS_CONFIG_INVALID', message, {
      advice: 'Check the path after --config.',
      cause: error,
    });
  }
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw harnessErrors.error(
      'HARNESS_CONFIG_INVALID',
      `${file} is not JSON${placeOf(messageOf(error), text)}.`,
      {
        advice: 'Correct the file at that place; JSON has no comments and no trailing commas.',
      },
    );
  }
}

/**
 * The line of a syntax error, as far as the message of the engine shows it. The message itself is not for users: it quotes
 * the text around the error, which can be a secret.
 */
function placeOf(message: string, text: string): string {
  if (message.startsWith('Unexpected end')) return ': it ends too early';
  const offset = offsetOf(message, text);
  return offset === null ? '' : `: syntax error in line ${text.slice(0, offset).split('\n').length}`;
}

/** How many characters the engine quotes before and after an error. */
const quotedAround = 10;

function offsetOf(message: string, text: string): number | null {
  const [, position] = / at position (\d+)/.exec(message) ?? [];
  if (position !== undefined) return Number(position);
  const [, before, quoted = '', after] =
    /^Unexpected token '[\s\S]{1,2}', (\.\.\.)?"([\s\S]*)"(\.\.\.)? is not valid JSON$/.exec(message) ?? [];
  const start = text.indexOf(quoted);
  if (start < 0 || (before ?? after) === undefined) return null;
  return before === undefined ? start + quoted.length - quotedAround : start + quotedAround;
}

/** The parts of a JSON Schema that define its keys. */
interface KeySchema {
  readonly properties?: Readonly<Record<string, KeySchema>>;
  readonly items?: KeySchema;
  readonly anyOf?: readonly KeySchema[];
}

/** "Did you mean …" for each unknown key that resembles a key of the JSON Schema at the same place; '' if there is none. */
function mistypedKeys(error: z.ZodError, schema: Readonly<Record<string, unknown>>): string {
  return unknownKeys(error.issues, [])
    .map(({ path, key }) => ({ key, meant: didYouMean(key, keysAt([schema as KeySchema], path)) }))
    .filter(({ meant }) => meant !== undefined)
    .map(({ key, meant }) => `Did you mean "${meant}" instead of "${key}"?`)
    .join(' ');
}

interface UnknownKey {
  readonly path: readonly PropertyKey[];
  readonly key: string;
}

function unknownKeys(issues: readonly z.core.$ZodIssue[], place: readonly PropertyKey[]): UnknownKey[] {
  return issues.flatMap((issue) => {
    const path = [...place, ...issue.path];
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ path, key }));
    return issue.code === 'invalid_union' ? issue.errors.flatMap((errors) => unknownKeys(errors, path)) : [];
  });
}

function keysAt(schemas: readonly KeySchema[], path: readonly PropertyKey[]): string[] {
  const all = schemas.flatMap((schema) => [schema, ...(schema.anyOf ?? [])]);
  const [key, ...rest] = path;
  if (key === undefined) return all.flatMap(({ properties }) => Object.keys(properties ?? {}));
  const below = all.map(({ properties, items }) =>
    typeof key === 'number' ? items : properties?.[String(key)],
  );
  return keysAt(
    below.filter((schema) => schema !== undefined),
    rest,
  );
}

export const configFileName = 'hansard.config.json';
/** The folder of the default store. */
const storeFolder = '.projects';

/** The folder whose configuration and log a command uses. */
export interface Base {
  readonly folder: string;
  /** `option`: named. `search`: the first one with a configuration or a log, from the current folder up. `none`: no folder has one. */
  readonly from: 'option' | 'search' | 'none';
}

/**
 * Finds the folder that a command works in: the named one, or the current folder or the first one above it that has `hansard.config.json`
 * or `.projects`; the current folder if none has. A folder above the current one must belong to the user, because
 * its configuration names code to load.
 * @throws HARNESS_FOLDER_MISSING, HARNESS_FOLDER_FOREIGN
 */
export function findBase(cwd: string, named: string | undefined): Base {
  if (named !== undefined) return { folder: namedFolder(cwd, named), from: 'option' };
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const found = [configFileName, storeFolder]
      .map((name) => join(folder, name))
      .find((path) => existsSync(path));
    if (found !== undefined) {
      if (folder !== resolve(cwd)) assertOwn(found);
      return { folder, from: 'search' };
    }
    if (dirname(folder) === folder) return { folder: resolve(cwd), from: 'none' };
  }
}

/** The folder that holds `.projects` can be named by `.projects` itself. */
function namedFolder(cwd: string, named: string): string {
  const path = resolve(cwd, named);
  const folder = basename(path) === storeFolder ? dirname(path) : path;
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw harnessErrors.error('HARNESS_FOLDER_MISSING', `There is no folder ${folder}.`);
}

/** On Windows there is no user id to compare. */
function assertOwn(path: string): void {
  const own = process.getuid?.();
  const { uid } = statSync(path);
  if (own === undefined || uid === own || uid === 0) return;
  throw harnessErrors.error('HARNESS_FOLDER_FOREIGN', `${path} belongs to another user, so it is not used.`, {
    advice: `If you trust it, name its folder: --root ${dirname(path)}`,
  });
}
