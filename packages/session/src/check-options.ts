import { checkOptions, type OptionCheck, optionChecks, watchedChecks } from '@hansard/dispatch';
import { type CapturedEvent, fidelities, messageOf, parseEvent } from '@hansard/events';
import { createContextRenderer } from '@hansard/prompt';
import { checkGiven } from './agents/given-transcript.ts';
import { invalidOption, noAgents, sessionErrors } from './session-errors.ts';
import { type AgentStart, contextOptions, type OpenSessionOptions } from './session-options.ts';

const { amount, any, call, count, fields, flag, having, list, oneOf, text, word } = optionChecks;

const agentFields = {
  name: word,
  systemPrompt: text,
  languageModel: word,
  // `checkGiven` names the message.
  initPrompt: any,
} satisfies Record<keyof AgentStart, OptionCheck>;
const agentCheck = fields(agentFields);

const budgetFields = { costUsd: amount, tokens: count(0), calls: count(0), timeMs: amount };

const { graceMs: _ofRuns, ...watched } = watchedChecks(['timeMs', 'stallMs', 'costUsd']);
const sessionCheck = fields(
  {
    ...watched,
    model: having('generate'),
    languageModel: word,
    onIncoming: call,
    onPending: call,
    // `createContextRenderer` checks it.
    context: any,
    tokens: having('count'),
    createId: call,
    maxToolRounds: count(0),
    parallelToolCalls: count(1),
    utteranceTries: count(1),
    budgets: fields({
      session: fields({ ...budgetFields, agents: count(0), depth: count(0) }),
      eachAgent: fields(budgetFields),
      // The names are those of agents.
      agents: any,
      warnAt: amount,
    }),
    modelRetries: fields({ attempts: count(1), delayMs: amount, fallback: list(word), isRetryable: call }),
    modelTimeoutMs: amount,
    toolTimeoutMs: amount,
    answerTimeoutMs: amount,
    dispatchId: word,
    expect: oneOf('new', 'existing'),
    needsRoot: flag,
    wait: fields({ waitMs: amount, onWait: call }),
    // `checkEvents` names the event.
    events: list(any),
    fidelity: oneOf(...fidelities),
    role: word,
    botId: word,
    onTaskProblem: call,
    systemPrompt: text,
    initPrompt: any,
    peers: list(agentCheck),
  } satisfies Record<keyof OpenSessionOptions, OptionCheck>,
  ['store', 'taskDir', 'model'],
);

/** @throws SESSION_OPTION_INVALID, SESSION_GIVEN_INVALID, SESSION_LOG_INVALID */
export function checkSessionOptions(options: OpenSessionOptions): void {
  checkOptions(options, sessionCheck, invalidOption);
  checkBeginning(options);
  try {
    createContextRenderer(contextOptions(options));
  } catch (error) {
    throw invalidOption('context', messageOf(error), error);
  }
}

/** Checks how an agent of a program should begin. @throws SESSION_OPTION_INVALID, SESSION_GIVEN_INVALID */
export function checkAgentStart(agent: AgentStart): void {
  checkOptions(agent, agentCheck, invalidOption);
  checkGiven(agent.initPrompt);
}

function checkBeginning(options: OpenSessionOptions): void {
  const { dispatchId, expect, events, peers, systemPrompt, initPrompt, priorOutcomes } = options;
  if (expect === 'existing' && dispatchId === undefined)
    throw invalidOption('dispatchId', 'A session that exists is named by its dispatchId.');
  if (peers?.length === 0) throw invalidOption('peers', 'A session of peers needs at least one peer.');
  for (const given of [initPrompt, ...(peers ?? []).map((peer) => peer.initPrompt)]) checkGiven(given);
  if (events !== undefined && priorOutcomes !== undefined)
    throw invalidOption('priorOutcomes', 'A session can not begin with both events and priorOutcomes.');
  const beginnings = {
    events,
    peers,
    systemPrompt,
    initPrompt: systemPrompt === undefined ? initPrompt : undefined,
  };
  const [one, other] = Object.entries(beginnings).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  if (other !== undefined)
    throw invalidOption(other, `A session can not begin with both ${one} and ${other}.`);
  if (events !== undefined && expect !== 'existing') checkEvents(events, dispatchId ?? null);
}

/** Checks the log with which a session should begin. @throws SESSION_LOG_INVALID */
function checkEvents(events: readonly CapturedEvent[], dispatchId: string | null): void {
  const refuse = (index: number, problem: string, cause?: unknown) =>
    sessionErrors.error(
      'SESSION_LOG_INVALID',
      `The given log can't begin a session: event ${index} ${problem}`,
      { cause, details: { dispatchId } },
    );
  const byId = new Map<string, CapturedEvent>();
  for (const [index, event] of events.entries()) {
    try {
      parseEvent(event);
    } catch (error) {
      throw refuse(index, `is not valid. ${messageOf(error)}`, error);
    }
    const other = byId.get(event.id);
    if (other !== undefined && JSON.stringify(other) !== JSON.stringify(event))
      throw refuse(index, `has the id ${event.id} of an event before it, and another content.`);
    byId.set(event.id, event);
  }
  if (events.every(({ type }) => type !== 'agent:created')) throw noAgents(null);
}
