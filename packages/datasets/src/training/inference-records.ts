import { type CapturedEvent, isEventOf, type JsonValue } from '@hansard/events';
import {
  type CallRequest,
  type ContextMessage,
  type ContextPolicy,
  checkContextPolicy,
  contextErrors,
  isStraightEvent,
  LoggedRequests,
  readContextManifest,
} from '@hansard/prompt';

/** The recorded way in which the prompt of a call was rendered. */
export interface RecordedPrompt {
  readonly messageId: string;
  /** The last event of the agent in the prompt; null if none. Later events had not reached the model. */
  readonly through: string | null;
  readonly recipe: PromptRecipe;
  readonly hash: string;
}

/** Identifies a renderer: equal keys give equal prompts. */
export interface PromptRecipe {
  readonly key: string;
  readonly policy: ContextPolicy;
  /** The id of the token counter that the prompt depends on; null if none. */
  readonly counter: string | null;
}

export interface InferenceRecord {
  readonly model: string | null;
  /** Null if nothing is recorded about it. */
  readonly prompt: RecordedPrompt | 'unreadable' | null;
  /** The tools that the model was given. */
  readonly tools: CallRequest['tools'];
}

export const fullRecipe: PromptRecipe = recipeOf({ name: 'full' }, undefined);

/** The records of a dispatch's inferences. They must be complete before the events are read to render prompts. */
export class InferenceRecords {
  readonly #records = new Map<string, InferenceRecord>();
  readonly #due = new Map<string, RecordedPrompt[]>();
  readonly #recipes = new Map<string, Map<string, PromptRecipe>>();
  readonly #latest = new Map<string, string>();
  readonly #requests = new LoggedRequests();
  readonly #begun = new Set<string>();
  readonly #split = new Set<string>();
  #events = 0;
  #isBranched = false;

  get events(): number {
    return this.#events;
  }

  /** Whether the transcript of an agent can have more than one branch. */
  get isBranched(): boolean {
    return this.#isBranched;
  }

  get counters(): ReadonlySet<string> {
    const recipes = [...this.#recipes.values()].flatMap((ofAgent) => [...ofAgent.values()]);
    return new Set(recipes.flatMap(({ counter }) => counter ?? []));
  }

  add(event: CapturedEvent): void {
    this.#events += 1;
    this.#isBranched ||= !isStraightEvent(event);
    this.#requests.observe(event);
    const { id, agentId = '', messageId = id } = event;
    const key = keyOf(agentId, messageId);
    if (isAnswerBlock(event)) {
      if (this.#latest.get(agentId) !== messageId && this.#begun.has(key)) this.#split.add(key);
      this.#latest.set(agentId, messageId);
      this.#begun.add(key);
    } else if (isEventOf(event, 'agent:inference')) {
      const prompt = recordedPrompt(event, messageId);
      this.#records.set(key, { model: event.data.model, prompt, tools: this.#requests.of(event).tools });
      if (prompt !== null && prompt !== 'unreadable') this.#expect(agentId, prompt);
    }
  }

  of(agentId: string, messageId: string): InferenceRecord {
    return this.#records.get(keyOf(agentId, messageId)) ?? noRecord;
  }

  /** The prompts to render after an event of the agent; null means before its first event. */
  due(agentId: string, through: string | null): readonly RecordedPrompt[] {
    return this.#due.get(keyOf(agentId, through ?? '')) ?? [];
  }

  recipesOf(agentId: string): readonly PromptRecipe[] {
    return [...(this.#recipes.get(agentId)?.values() ?? [])];
  }

  isSplit(agentId: string, messageId: string): boolean {
    return this.#split.has(keyOf(agentId, messageId));
  }

  #expect(agentId: string, prompt: RecordedPrompt): void {
    const key = keyOf(agentId, prompt.through ?? '');
    const due = this.#due.get(key) ?? [];
    due.push(prompt);
    this.#due.set(key, due);
    const recipes = this.#recipes.get(agentId) ?? new Map<string, PromptRecipe>();
    this.#recipes.set(agentId, recipes.set(prompt.recipe.key, prompt.recipe));
  }
}

function recordedPrompt(inference: CapturedEvent, messageId: string): InferenceRecord['prompt'] {
  try {
    const manifest = readContextManifest(inference);
    if (manifest === null) return null;
    const { policy, tokens, through, hash } = manifest;
    checkContextPolicy(policy);
    return { messageId, through, hash, recipe: recipeOf(policy, tokens?.counter) };
  } catch (error) {
    if (contextErrors.is(error) || error instanceof TypeError) return 'unreadable';
    throw error;
  }
}

function recipeOf(policy: ContextPolicy, usedCounter: string | undefined): PromptRecipe {
  const counter = policy.name === 'faded' ? (usedCounter ?? '') : null;
  return { policy, counter, key: JSON.stringify([policy, counter]) };
}

const noRecord: InferenceRecord = {
  model: null,
  prompt: null,
  tools: { basis: 'absent', id: null, value: null, isWhole: false },
};

/** Ids never contain a space, so it separates them. */
function keyOf(agentId: string, id: string): string {
  return `${agentId} ${id}`;
}

/** The answer of a model in one call. */
export interface TrainedAnswer {
  readonly text: string;
  /** Null if none is in the log. */
  readonly thinking: string | null;
  readonly toolCalls: Extract<ContextMessage, { role: 'assistant' }>['toolCalls'];
}

/** Whether the event is a part of a model's answer. An output without parts stands for an empty answer. */
export function isAnswerBlock(event: CapturedEvent): boolean {
  const { type, messageId } = event;
  if (type === 'agent:text' || type === 'agent:thinking' || type === 'agent:tool_call') return true;
  return isEventOf(event, 'agent:output') && messageId !== undefined && event.data.parts.length === 0;
}

/** Collects an answer from its blocks. */
export class GatheredAnswer {
  readonly #texts: string[] = [];
  readonly #thinking: string[] = [];
  readonly #toolCalls: { toolCallId: string; tool: string; input: JsonValue }[] = [];
  readonly #called = new Set<string>();
  readonly #unanswered = new Set<string>();
  #isOwn = true;
  #isOver = false;

  add(event: CapturedEvent): void {
    if (event.substance !== undefined) this.#isOwn = false;
    if (isEventOf(event, 'agent:text')) this.#texts.push(event.data.text);
    else if (isEventOf(event, 'agent:thinking')) this.#thinking.push(event.data.text);
    else if (isEventOf(event, 'agent:tool_call')) {
      const { toolCallId, tool, input = null } = event.data;
      this.#toolCalls.push({ toolCallId, tool, input });
      this.#called.add(toolCallId);
      this.#unanswered.add(toolCallId);
    }
  }

  /** `isWithin`: the result is part of the model's message, because its provider made the call. */
  hearResult(toolCallId: string, isWithin: boolean): void {
    this.#unanswered.delete(toolCallId);
    if (isWithin && this.#called.has(toolCallId)) this.#isOver = true;
  }

  /** Whether the model saw a result within its message. The rest of the message is an answer of its own. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get isDangling(): boolean {
    return this.#unanswered.size > 0;
  }

  /** Whether all of its text is the agent's own. */
  get isOwn(): boolean {
    return this.#isOwn;
  }

  get answer(): TrainedAnswer {
    return {
      text: this.#texts.join(''),
      thinking: this.#thinking.length === 0 ? null : this.#thinking.join('\n'),
      toolCalls: this.#toolCalls,
    };
  }
}
