import * as z from 'zod/mini';
import { jsonValueSchema } from '../json/json-value-schema.ts';
import { sourceSchema } from './agent-events.ts';
import type { CapturedEvent } from './event.ts';
import {
  costSchema,
  countSchema,
  forkSchema,
  idSchema,
  millisecondsSchema,
  modelUsageSchema,
  openCallSchema,
  priceSourceSchema,
  recordedTimeSchema,
  timestampSchema,
  usagePeriodsSchema,
  usageSchema,
} from './fields.ts';
import { sourceBalanceSchema } from './source-balance.ts';

export const dispatchStatuses = ['running', 'completed', 'aborted', 'crashed'] as const;
export const fidelities = ['narrative', 'full'] as const;

/** The schema version of envelopes that this version writes. */
export const envelopeSchemaVersion = 1;

/** How a dispatch ended whose log does not say it: `quiet`, because nothing followed its last record for a while. */
const dispatchEndingSchema = z.object({
  because: z.enum(['quiet']),
  /** The time of its last record, or of the last change of its files where no record has a time. */
  since: timestampSchema,
});

/** What an imported dispatch becomes when its log is quiet. */
const expectedEndSchema = z.object({
  status: z.enum(['completed', 'aborted', 'crashed']),
  /** As in `dispatchEndingSchema`. */
  since: timestampSchema,
  /** Whether `since` is the time of a record, and so the end of the dispatch. */
  isRecorded: z.boolean(),
});

/** What a log has copied from other logs of its product, as an import has found by comparing them. */
const copiesSchema = z.object({
  /** Names the compared dispatches as they were. With others, or where one has changed, the logs are compared anew. */
  among: z.string().check(z.minLength(1)),
  /** How many events of the log, and how many model calls, are copied from another dispatch. */
  events: countSchema,
  calls: countSchema,
  /** The dispatches that they are copied from. */
  of: z.array(idSchema),
  /**
   * True if no log names the origin of some events: the session with the smallest name is then their origin. Absent:
   * the logs name all origins.
   */
  isGuessed: z.optional(z.boolean()),
  /** How many answers have the id of an answer of another log, and other content. Absent: none. They count apart. */
  differing: z.optional(countSchema),
  /** The figures of the envelope without what is copied. Absent: they equal those of the envelope. */
  figures: z.optional(
    z.object({
      usage: z.nullable(usageSchema),
      cost: z.nullable(costSchema),
      models: z.nullable(z.array(modelUsageSchema)),
      periods: z.nullable(usagePeriodsSchema),
      prices: z.nullable(priceSourceSchema),
      openCalls: z.nullable(z.array(openCallSchema)),
    }),
  ),
});

export type CopiesOfSource = z.infer<typeof copiesSchema>;

/** The log that an imported dispatch was read from. */
const dispatchSourceSchema = z.object({
  /** The id of its importer. */
  format: z.string().check(z.minLength(1)),
  /** The files as they were when the last complete import read them. Empty: no import was complete. */
  files: z.array(
    z.object({
      /** Without its folder. */
      name: z.string(),
      bytes: countSchema,
      /** Milliseconds since 1970. */
      modifiedAt: z.number(),
    }),
  ),
  /** What the importer kept to continue after that import. Absent: it reads the log as a whole. */
  kept: z.optional(jsonValueSchema),
  /**
   * The `session:rewind` that the next record makes if it continues from there: its id and data. No event of the log has it yet. Absent: nothing
   * at the end of the log announces one.
   */
  openRewind: z.optional(
    z.object({ id: idSchema, keptThrough: z.nullable(idSchema), left: z.optional(idSchema) }),
  ),
  /** How the dispatch ends if nothing follows. Absent: the log shows its end. */
  ifQuiet: z.optional(expectedEndSchema),
  /** The id of its last message in the source. Absent: none has an id. */
  lastMessage: z.optional(z.string().check(z.minLength(1))),
  /** The last messages of the sessions that this log has summaries of. Absent: none. */
  summarises: z.optional(z.array(z.string().check(z.minLength(1)))),
  /**
   * The ids of the first answers: of the log, and with no answer above them up to a root or a compaction. Two logs of one product are compared for
   * copies only if they share one. Absent: no comparison.
   */
  heads: z.optional(z.array(z.string().check(z.minLength(1)))),
  copies: z.optional(copiesSchema),
  /** The dispatch whose summary is the title of this one. Absent: its title is its own. */
  titledBy: z.optional(idSchema),
  /** The run of an import that created the dispatch. */
  run: z.optional(idSchema),
  /** The machine in whose home folder the files lie. Absent: the import did not find them there itself. */
  machine: z.optional(z.string().check(z.minLength(1))),
  /** Where the first of the files lies on that machine. */
  path: z.optional(z.string().check(z.minLength(1))),
  /** The checkpoints that a Git repository has of the session, and the commits that name each. Absent: no import has looked for them. */
  checkpoints: z.optional(
    z.array(
      z.object({ id: z.string().check(z.minLength(1)), commits: z.array(z.string().check(z.minLength(1))) }),
    ),
  ),
  /** The folder of the Git repository whose checkpoints the log was read from. Absent: it was read from a file of its product. */
  repository: z.optional(z.string().check(z.minLength(1))),
  /** When a watcher saw that the source is gone: its file, or its session in a database. Absent: no watcher has seen that. */
  gone: z.optional(timestampSchema),
  /** How many events the dispatch had when the last import left it. Absent: an import is under way, or was killed. */
  events: z.optional(countSchema),
  /** What happened to everything in the files at the last complete import. */
  balance: z.optional(sourceBalanceSchema),
});

export type DispatchSource = z.infer<typeof dispatchSourceSchema>;

/** The messages of a log whose calls are not recorded yet, or whose calls a `session:complete` has counted before. */
const foldedMessagesSchema = z.array(idSchema);

/** How far the figures of an envelope have counted its log, so that they are continued and nothing is counted twice. */
const foldedSchema = z.object({
  /** The position of the last event that is counted, and its id. A log with another event there is counted from its beginning. */
  through: countSchema,
  eventId: idSchema,
  /** The last message of each agent, if its call is not recorded yet. An absent agent: the dispatched one. */
  open: z.optional(z.array(z.object({ agentId: z.optional(idSchema), messageId: idSchema }))),
  /** By figure: the messages without a recorded call that the last `session:complete` with this figure has counted. */
  counted: z.optional(
    z.object({
      usage: z.optional(foldedMessagesSchema),
      costUsd: z.optional(foldedMessagesSchema),
      models: z.optional(foldedMessagesSchema),
      turns: z.optional(foldedMessagesSchema),
    }),
  ),
  /** Turns and duration that the log states without usage. */
  turns: z.optional(countSchema),
  durationMs: z.optional(millisecondsSchema),
});

export type FoldedLog = z.infer<typeof foldedSchema>;

/**
 * What another process says to a dispatch that it does not write: a message, or with `abort` a request to stop. The envelope of a letter has no
 * events, and is created ended in the task `_hansard/inbox/DISPATCH_ID`.
 */
const letterSchema = z.object({
  /**
   * The id of the letter, and of the event that repeats the letter in the log. A log with that event has taken the letter. No other event
   * has an id that begins with `letter_`.
   */
  from: z.string().check(z.regex(/^letter_[A-Za-z0-9._-]{1,121}$/)),
  /** The task of the dispatch. */
  taskDir: z.string().check(z.minLength(1)),
  source: sourceSchema,
  /** The message, or the reason of an abort. */
  text: z.optional(z.string().check(z.minLength(1))),
  /** The agent of the dispatch that is meant. Absent: the dispatched one, or the root. */
  agentId: z.optional(idSchema),
  abort: z.optional(z.boolean()),
  /** The answer to a call of the dispatch that waits for a person. */
  answer: z.optional(
    z.object({
      /** The event of the call. */
      callId: idSchema,
      decision: z.enum(['approve', 'refuse']),
      answer: z.optional(z.string()),
      note: z.optional(z.string()),
      input: z.optional(jsonValueSchema),
      scope: z.enum(['call', 'session']),
    }),
  ),
});

export type DispatchLetter = Readonly<z.infer<typeof letterSchema>>;

/** The facts about a dispatch: role, time, model, cost and end (D3). Every key is present; null means not known (yet). */
export const envelopeSchema = z.object({
  dispatchId: idSchema,
  taskSlug: z.string().check(z.minLength(1)),
  role: z.string().check(z.minLength(1)),
  /** Its title for people; null if it has none. */
  title: z.nullable(z.string().check(z.minLength(1))),
  model: z.nullable(z.string()),
  cwd: z.nullable(z.string()),
  /** Null: its log records no time. Listings then place it before all that have one. */
  startedAt: recordedTimeSchema,
  /** Null: it has not ended, or its log records no time of the end; `status` says which. */
  completedAt: recordedTimeSchema,
  /** `aborted`: a person or a limit ended it. `crashed`: it failed, or its process exited. */
  status: z.enum(dispatchStatuses),
  /** Why an imported dispatch has ended although its log does not say so. Null: its log says it, or it has not ended. */
  ended: z.nullable(dispatchEndingSchema),
  /** US dollars according to the log, without child dispatches. Null if the log has no cost. */
  cost: z.nullable(costSchema),
  usage: z.nullable(usageSchema),
  /** What each model used: the recorded calls, or what the last `session:complete` states by model. Null: neither is recorded. */
  models: z.nullable(z.array(modelUsageSchema)),
  /**
   * The same figures by quarter of an hour and model, so that days of every time zone can be summed without the log. Their sums
   * are `usage`, `cost` and `models`. Null: no call is recorded.
   */
  periods: z.nullable(usagePeriodsSchema),
  /** The table that was asked for the prices of calls without a stated cost. Null: none. */
  prices: z.nullable(priceSourceSchema),
  /** The calls at the end of an imported log that have no event yet. No other field includes them. Null: none. */
  openCalls: z.nullable(z.array(openCallSchema)),
  /** How far `cost`, `usage`, `models` and `prices` have counted the log. Null: they are counted anew from its beginning. */
  folded: z.nullable(foldedSchema),
  /** Cached from the last `session:complete`, which is authoritative. */
  structuredResult: z.nullable(jsonValueSchema),
  /** Null: the dispatch was recorded while it ran. */
  source: z.nullable(dispatchSourceSchema),
  /** The dispatch that started this one (D4). */
  parentDispatchId: z.nullable(idSchema),
  /** The origin that the first `session:fork` of its log names. Absent: its log names none. */
  forkedFrom: z.optional(forkSchema),
  /**
   * Whether a transcript of the log can have branches, or lacks what was taken back: an event rewinds, retracts, inherits or follows another one.
   * Absent: no event that the envelope has counted does.
   */
  branched: z.optional(z.boolean()),
  /** Reserved for lasting identities of bots (D9). */
  botId: z.nullable(z.string()),
  /** `narrative`: tool input and output are left out (D7). `full`: they are recorded, so that a session can be resumed. */
  fidelity: z.enum(fidelities),
  /**
   * The calls that wait for a person, and perhaps calls that were answered just before the process of the session died. Absent: there never was one.
   */
  pending: z.optional(
    z.array(
      z.object({
        /** The event of the call. */
        callId: idSchema,
        toolCallId: z.string(),
        tool: z.string(),
        kind: z.enum(['approval', 'question']),
        agentId: z.optional(idSchema),
        deadline: z.optional(timestampSchema),
      }),
    ),
  ),
  /** The letter that this envelope is. Absent: it is an ordinary dispatch. */
  letter: z.optional(letterSchema),
  schemaVersion: z.number().check(z.int(), z.positive()),
});

export type DispatchEnvelope = Readonly<z.infer<typeof envelopeSchema>>;
export type DispatchStatus = (typeof dispatchStatuses)[number];
export type Fidelity = (typeof fidelities)[number];

/** The fields of an envelope that may change after its dispatch was created: all except its identity. */
export type EnvelopeUpdates = Partial<
  Omit<DispatchEnvelope, 'dispatchId' | 'taskSlug' | 'letter' | 'schemaVersion'>
>;

/** A requested piece of work (D10). */
export const taskRecordSchema = z.object({
  slug: z.string().check(z.minLength(1)),
  name: z.string().check(z.minLength(1)),
  project: z.string().check(z.minLength(1)),
  status: z.string().check(z.minLength(1)),
  created: timestampSchema,
});

export type TaskRecord = Readonly<z.infer<typeof taskRecordSchema>>;

/** The dispatches of a task with their events: the source of every export. */
export interface TaskSource {
  readonly taskDir: string;
  /** Null for a task without a record. */
  readonly task: TaskRecord | null;
  /** The dispatches to export, ordered by their start, so that a parent precedes its workers. */
  readonly envelopes: readonly DispatchEnvelope[];
  /** Every dispatch of the task, for references to those that are not exported. Absent: `envelopes`. */
  readonly relatives?: readonly DispatchEnvelope[];
  /**
   * The events of a dispatch that are copied from another one of `envelopes`, with that other dispatch. Null or
   * absent: none.
   */
  copiedEvents?(dispatchId: string): Promise<ReadonlyMap<string, string> | null>;
  /** The events of one of the dispatches, in append order. An export may read them more than once. */
  readEvents(dispatchId: string): AsyncIterable<CapturedEvent>;
}

/** A text that is written piece by piece. */
export interface TextSink {
  /** Resolves when more can be written. */
  write(text: string): Promise<void>;
}

/** A new file of an export. */
export interface FileSink extends TextSink {
  /** Resolves when more can be written. A text is written as UTF-8. */
  write(piece: string | Uint8Array): Promise<void>;
  /** Called once, after the last text. Resolves when the file is whole. */
  end(): Promise<void>;
}
