import { describeFailure, untilAborted } from '@hansard/dispatch';
import type { HansardError } from '@hansard/events';
import type { LoggedString } from '@hansard/provider';
import { type AgentRecord, inWords, isWaiting } from '../agents/agent-record.ts';
import { logTranscriptEntry } from '../log/log-transcript-entry.ts';
import { sessionWasClosed } from '../log/session-log.ts';
import { sessionErrors } from '../session-errors.ts';
import { type AskedOfModel, askModel, utteranceOf } from './ask-model.ts';
import { recordFailure } from './recorded-failure.ts';
import { refuseToolCalls, runToolCalls } from './run-tool-call.ts';
import type { WatchedTurn } from './session-watch.ts';
import type { TurnResources } from './turn-resources.ts';
import { CallSuspended } from './waiting-calls.ts';

/** How an agent is asked for an answer. */
export interface ResponseOptions extends AskedOfModel {
  /** Stops this answer. */
  readonly signal?: AbortSignal;
}

/**
 * Lets an agent speak: model call, tool calls, results, until an utterance. `askedBy`: the tool call that asks for it, which
 * becomes the cause of the first answer.
 * @throws as `Agent.response`
 */
export async function answer(
  turn: TurnResources,
  agentId: string,
  askedBy?: string,
  { signal: stopSignal, ...asked }: ResponseOptions = {},
): Promise<LoggedString> {
  const { log, registry, answering } = turn;
  log.assertOpen();
  const record = registry.getActive(agentId);
  assertNotAnswering(turn, record);
  const watched = turn.watch.begin(agentId);
  const signal = watched.signalWith(turn.signal);
  const own = { ...turn, watched, signal, asking: { ...turn.asking, signal } };
  const stop = () => watched.stopAnswer('program', describeFailure(stopSignal?.reason).message);
  stopSignal?.addEventListener('abort', stop);
  if (stopSignal?.aborted === true) stop();
  const stopTimer = limitTime(turn, agentId, watched);
  const answered = untilUtterance(own, agentId, askedBy, asked).finally(async () => {
    stopSignal?.removeEventListener('abort', stop);
    stopTimer();
    watched.end();
    answering.delete(agentId);
    if (watched.stopped !== null) await turn.waiting.settle(record);
  });
  answering.set(agentId, answered);
  return answered;
}

/** Stops an answer that takes too long. It may wait for people as long as they need. */
function limitTime(
  { clock, answerTimeoutMs: limit, waiting }: TurnResources,
  agentId: string,
  watched: WatchedTurn,
): () => void {
  if (limit === null) return () => {};
  let stop = () => {};
  const watch = () => {
    stop = clock.after(limit, () => {
      if (waiting.pending.some((call) => call.agentId === agentId)) watch();
      else watched.stopAnswer('time limit', `no answer within ${limit} ms`);
    });
  };
  watch();
  return () => stop();
}

/** @throws SESSION_AGENT_BUSY */
export function assertNotAnswering({ answering }: TurnResources, record: AgentRecord): void {
  const { agentId } = record;
  if (!answering.has(agentId)) return;
  throw sessionErrors.error(
    'SESSION_AGENT_BUSY',
    `The agent ${inWords(record)} is answering already; wait for that answer before you ask for another.`,
    { details: { agentId } },
  );
}

async function untilUtterance(
  turn: TurnResources,
  agentId: string,
  askedBy: string | undefined,
  { toolChoice, ...asked }: AskedOfModel,
): Promise<LoggedString> {
  const { registry, maxToolRounds, watch, watched } = turn;
  const resumed = turn.waiting.resumedOf(agentId);
  if (resumed !== null) await untilAborted(turn.signal, () => resumed);
  let rejected = 0;
  for (let round = 0; ; round += 1) {
    await untilObserved(turn);
    watch.checkCost();
    turn.signal.throwIfAborted();
    const record = registry.getActive(agentId);
    // The session is closing, and the call waits for the next load.
    if (record.openCalls.some(isWaiting)) throw sessionWasClosed(turn.dispatch.dispatchId);
    if (watched !== null) watched.isInterrupted = false;
    const isChecked = turn.isChecked && askedBy === undefined;
    // A model that must call a tool has done so after its first answer.
    const choice = toolChoice === undefined || (round > 0 && toolChoice !== 'none') ? {} : { toolChoice };
    const given = await askModel(
      turn,
      record,
      round === 0 ? askedBy : undefined,
      isChecked ? rejected : null,
      { ...asked, ...choice },
    );
    await watch.warnOfCost();
    await turn.budgets.warn(record);
    if (given.rejection !== null) {
      rejected += 1;
      if (given.rejection.retry) continue;
      throw denied(record, given.rejection.hook);
    }
    if (given.toolCalls.length === 0) {
      await untilObserved(turn);
      if (record.awaitsHook && !record.isTerminated && round < maxToolRounds) continue;
      return utteranceOf(given);
    }
    await watched?.observe(given.observed);
    if (watched?.stopped != null) {
      const failure = watched.stopped;
      await refuseToolCalls(turn, record, given, `Error: not called: ${failure.message}`);
      throw failure;
    }
    if (round === maxToolRounds) {
      const failure = tooManyRounds(record, maxToolRounds);
      await refuseToolCalls(turn, record, given, `Error: not called: ${failure.message}`);
      await recordFailure(turn.log, agentId, failure);
      throw failure;
    }
    try {
      await runToolCalls(turn, record, given, (other, callId) => answer(turn, other, callId));
    } catch (error) {
      if (!(error instanceof CallSuspended)) throw error;
      turn.signal.throwIfAborted();
      throw sessionWasClosed(turn.dispatch.dispatchId);
    }
  }
}

async function untilObserved({ signal, settled }: TurnResources): Promise<void> {
  signal.throwIfAborted();
  const observed = settled();
  if (observed === null) return;
  await observed;
  signal.throwIfAborted();
}

/** Reads an answer: the value that is in it. Throws for one that does not fit; schemas of zod are such readers. */
interface AnswerSchema<T> {
  parse(value: unknown): T;
}

export interface StructuredOptions<T> extends ResponseOptions {
  readonly schema: AnswerSchema<T>;
  /** How many answers the agent may give until one fits, from 1. Absent: 3. */
  readonly schemaTries?: number;
}

/**
 * As `answer`, until an answer is JSON that fits a schema. The agent receives the problem of one that does not.
 * @throws SESSION_SCHEMA_UNMATCHED
 */
export async function structuredAnswer<T>(
  turn: TurnResources,
  agentId: string,
  { schema, schemaTries = 3, ...options }: StructuredOptions<T>,
): Promise<LoggedString & { readonly value: T }> {
  for (let tries = 1; ; tries += 1) {
    const said = await answer(turn, agentId, undefined, options);
    let problem: unknown;
    try {
      const [, fenced = said.text] = /^\s*```(?:json)?\n(.*)```\s*$/s.exec(said.text) ?? [];
      return Object.assign(said, { value: schema.parse(JSON.parse(fenced)) });
    } catch (error) {
      problem = error;
    }
    const { message } = describeFailure(problem);
    if (tries >= schemaTries) {
      const failure = sessionErrors.error(
        'SESSION_SCHEMA_UNMATCHED',
        `The agent ${inWords(turn.registry.get(agentId))} gave ${tries} answers that do not fit the schema; the last one: ${message}`,
        { cause: problem, details: { agentId, tries } },
      );
      await recordFailure(turn.log, agentId, failure);
      throw failure;
    }
    const text = `Your answer does not fit: ${message}\nAnswer again, with JSON that fits and nothing else.`;
    const content = { role: 'user', content: text, source: { kind: 'system' } } as const;
    await logTranscriptEntry(turn, agentId, content, { cause: said.messageId }).recorded;
  }
}

function denied(record: AgentRecord, hook: string): HansardError {
  const { agentId } = record;
  return sessionErrors.error(
    'SESSION_UTTERANCE_DENIED',
    `The hook ${hook} denied what ${inWords(record)} was about to say. Nobody received it, and the log has it with the reason.`,
    { details: { agentId, hook } },
  );
}

function tooManyRounds(record: AgentRecord, limit: number): HansardError {
  return sessionErrors.error(
    'SESSION_TURN_LIMIT',
    `The agent ${inWords(record)} called tools in ${limit} rounds without saying anything, which is the limit of one response.`,
    { details: { agentId: record.agentId, limit } },
  );
}
