import { setTimeout as wait } from 'node:timers/promises';
import type { LanguageModelProvider, ModelMessage, ModelRequest, ModelResponse } from '@hansard/provider';
import { checkScenario, readScenario } from './read-scenario.ts';
import type { Scenario, ScenarioInput, ScriptedTurn } from './scenario.ts';
import { scenarioErrors } from './scenario-errors.ts';

/** A scenario file, or a scenario and what errors call it (default `scenario`). */
export type ScriptedModelOptions =
  | { readonly path: string }
  | { readonly scenario: ScenarioInput; readonly name?: string };

/**
 * A model that answers as a scenario says. An answer depends on nothing but the agent and its transcript.
 * `generate` throws SCENARIO_NO_ANSWER where the scenario has none, and SCENARIO_MODEL_FAILED where it says so.
 * @throws SCENARIO_UNREADABLE, SCENARIO_INVALID
 */
export async function openScriptedModel(options: ScriptedModelOptions): Promise<LanguageModelProvider> {
  const name = 'path' in options ? options.path : (options.name ?? 'scenario');
  const scenario =
    'path' in options ? await readScenario(options.path) : checkScenario(options.scenario, name);
  return {
    contract: 1,
    async generate(request) {
      request.signal.throwIfAborted();
      const turn = findTurn(scenario, name, request);
      if (turn.delayMs > 0) await wait(turn.delayMs, undefined, { signal: request.signal });
      if (turn.error !== undefined)
        throw scenarioErrors.error('SCENARIO_MODEL_FAILED', turn.error, { details: placeOf(name, request) });
      const response = respond(turn, request);
      if (turn.stream) stream(response, request);
      return response;
    },
  };
}

function findTurn({ agents }: Scenario, name: string, request: ModelRequest): ScriptedTurn {
  const { agent, turn } = placeOf(name, request);
  const turns = Object.hasOwn(agents, agent) ? agents[agent] : undefined;
  const picked = turns === undefined ? null : pickTurn(turns, request.messages, request.turn);
  if (picked !== null) return picked;
  const reason =
    turns === undefined
      ? `the scenario has only the agents ${Object.keys(agents).join(', ')}`
      : `none of its turns (${turns.length}) is left that fits what it heard last`;
  throw scenarioErrors.error(
    'SCENARIO_NO_ANSWER',
    `No answer for ${agent}, turn ${turn}, in ${name}: ${reason}. Add a turn under agents.${agent}.`,
    { details: placeOf(name, request) },
  );
}

function placeOf(scenario: string, { agentName, turn }: ModelRequest) {
  return { scenario, agent: agentName ?? 'root', turn: turn + 1 };
}

function respond(
  { say, text, think, replay, call, usage }: ScriptedTurn,
  request: ModelRequest,
): ModelResponse {
  return {
    text: say ?? text ?? '',
    ...(think === undefined ? {} : { thinking: { text: think } }),
    ...(replay === undefined ? {} : { replay }),
    // By the id of the agent, as names are not unique.
    toolCalls: (call ?? []).map(({ tool, input }, index) => ({
      toolCallId: `${request.agentId}-${request.turn + 1}-${index + 1}`,
      tool,
      input,
    })),
    model: request.model ?? 'scripted',
    usage,
    stopReason: call === undefined ? 'stop' : 'tool-calls',
  };
}

function stream({ thinking, text }: ModelResponse, { agentId, onDelta }: ModelRequest): void {
  for (const word of wordsOf(thinking?.text ?? ''))
    onDelta?.({ type: 'delta:thinking', text: word, agentId });
  for (const word of wordsOf(text)) onDelta?.({ type: 'delta:text', text: word, agentId });
}

/** The words, each with the space after it; joined, they are the text. */
function wordsOf(text: string): readonly string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

/**
 * The turn that answers these messages: the first in the list that was not played before and whose `when` fits the
 * last message. What was played before is found by giving the earlier answers of the transcript once more, so that a
 * resumed session gets the answer that one which was never interrupted would get.
 */
function pickTurn(
  turns: readonly ScriptedTurn[],
  messages: readonly ModelMessage[],
  answersBefore: number,
): ScriptedTurn | null {
  let left = turns;
  let picked: ScriptedTurn | null = null;
  for (const question of questionsOf(messages, answersBefore)) {
    const index = left.findIndex((turn) => fits(turn, question));
    picked = left[index] ?? null;
    if (picked !== null && !picked.repeat) left = left.toSpliced(index, 1);
  }
  return picked;
}

/** The last message before each answer, the one to come included; null where the transcript holds it no more. */
function questionsOf(messages: readonly ModelMessage[], answersBefore: number): (string | null)[] {
  const seen = messages.flatMap(({ role }, index) =>
    role === 'assistant' ? [messages[index - 1]?.text ?? ''] : [],
  );
  const forgotten = Array<null>(Math.max(0, answersBefore - seen.length)).fill(null);
  return [...forgotten, ...seen, messages.at(-1)?.text ?? ''];
}

function fits({ when }: ScriptedTurn, question: string | null): boolean {
  if (when === undefined) return true;
  if (question === null) return false;
  const { contains, regex } = when;
  if (contains !== undefined) return question.includes(contains);
  return regex !== undefined && new RegExp(regex, 'u').test(question);
}
