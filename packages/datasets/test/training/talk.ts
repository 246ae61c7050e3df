import {
  type CapturedEvent,
  type DispatchEnvelope,
  type EventLinks,
  type JsonObject,
  type JsonValue,
  type KnownEventType,
  parseEvent,
} from '@hansard/events';
import {
  type ContextManifest,
  type ContextMessage,
  type ContextPolicy,
  renderContext,
  type TokenCounter,
} from '@hansard/prompt';
import { type TrainingManifest, writeTrainingData } from '../../src/index.ts';
import type { TrainingOptions } from '../../src/training/write-training-data.ts';

export const words: TokenCounter = { id: 'words', count: (text) => text.split(/\s+/).length };

export interface SpokenAnswer {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly {
    readonly toolCallId: string;
    readonly tool: string;
    readonly input: JsonValue;
  }[];
}

/** The true prompt of a model, and its answer. */
export interface GivenCall {
  readonly agentId: string;
  readonly eventId: string;
  readonly messages: readonly ContextMessage[];
  readonly answer: SpokenAnswer;
}

interface Request {
  readonly agentId: string;
  readonly messages: readonly ContextMessage[];
  readonly manifest: ContextManifest;
}

export interface AnswerOptions {
  /** Absent: true. */
  readonly isRecorded?: boolean;
  readonly manifest?: Partial<ContextManifest>;
  readonly links?: EventLinks;
}

/** A dispatch of several agents, written as a session writes it, with a separate record of the prompts. */
export class Talk {
  readonly dispatchId: string;
  readonly events: CapturedEvent[] = [];
  readonly given: GivenCall[] = [];

  constructor(dispatchId = 'D1') {
    this.dispatchId = dispatchId;
  }

  add(type: KnownEventType | `game:${string}`, data: JsonObject, links: EventLinks = {}): string {
    const id = `${this.dispatchId}-e${this.events.length}`;
    const timestamp = new Date(Date.UTC(2026, 2, 1) + this.events.length).toISOString();
    this.events.push(parseEvent({ id, type, timestamp, ...links, data }));
    return id;
  }

  enter(agentId: string, name: string, systemPrompt = `You are ${name}.`): void {
    this.add('agent:created', { name }, { agentId });
    this.add('agent:system_prompt', { text: systemPrompt }, { agentId });
  }

  tell(agentId: string, text: string, links: EventLinks = {}): string {
    return this.add('user:message', { text, source: { kind: 'user' } }, { ...links, agentId });
  }

  /** Calls the model. Events between the call and its answer have not reached it. */
  ask(agentId: string, policy: ContextPolicy = { name: 'full' }): Request {
    const own = this.events.filter((event) => event.agentId === agentId);
    return { agentId, ...renderContext(own, { policy, tokens: words }) };
  }

  answer(
    { agentId, messages, manifest }: Request,
    answer: SpokenAnswer,
    options: AnswerOptions = {},
  ): string {
    const { isRecorded = true, manifest: altered = {}, links = {} } = options;
    const messageId = `${this.dispatchId}-m${this.given.length}`;
    const whose = { ...links, agentId, messageId };
    const { text, thinking, calls = [] } = answer;
    const first = `${this.dispatchId}-e${this.events.length}`;
    if (thinking !== undefined) this.add('agent:thinking', { text: thinking }, whose);
    if (text !== undefined) this.add('agent:text', { text }, whose);
    for (const call of calls) this.add('agent:tool_call', { ...call, metadata: {} }, whose);
    if (this.events.at(-1)?.messageId !== messageId) this.add('agent:output', { parts: [] }, whose);
    this.#infer(agentId, messageId, isRecorded ? { ...manifest, ...altered } : null);
    this.given.push({ agentId, eventId: first, messages, answer });
    return first;
  }

  /** Discards the answer of the model. The call itself is in the log. */
  discard({ agentId, manifest }: Request): void {
    this.#infer(agentId, `${this.dispatchId}-discarded${this.events.length}`, manifest);
  }

  #infer(agentId: string, messageId: string, manifest: ContextManifest | null): void {
    const context = manifest === null ? {} : { context: JSON.parse(JSON.stringify(manifest)) as JsonObject };
    const usage = { inputTokens: 1, outputTokens: 1 };
    this.add('agent:inference', { model: 'small-1', usage, ...context }, { agentId, messageId });
  }

  say(agentId: string, text: string, options: AnswerOptions = {}): string {
    return this.answer(this.ask(agentId), { text }, options);
  }

  result(agentId: string, toolCallId: string, tool: string, output: string): void {
    this.add(
      'agent:tool_result',
      { toolCallId, tool, status: 'completed', output, metadata: {} },
      { agentId },
    );
  }
}

export function envelopeOf({ dispatchId }: Talk, more: Partial<DispatchEnvelope> = {}): DispatchEnvelope {
  return {
    dispatchId,
    role: 'table',
    status: 'completed',
    fidelity: 'full',
    startedAt: '2026-03-01T00:00:00.000Z',
    ...more,
  } as DispatchEnvelope;
}

export interface Written {
  readonly text: string;
  readonly rows: readonly Row[];
  readonly manifest: TrainingManifest;
}

// biome-ignore lint/suspicious/noExplicitAny: rows are checked by the schemas of each format, and read as JSON here.
export type Row = Record<string, any>;

/** All rows of talks, as in the file. */
export async function write(
  talks: Talk | readonly Talk[],
  options: TrainingOptions,
  envelopes?: readonly DispatchEnvelope[],
): Promise<Written> {
  const all = talks instanceof Talk ? [talks] : talks;
  const lines = writeTrainingData(
    {
      taskDir: 'lab/tasks/talks',
      task: null,
      envelopes: envelopes ?? all.map((talk) => envelopeOf(talk)),
      async *readEvents(dispatchId) {
        yield* all.find((talk) => talk.dispatchId === dispatchId)?.events ?? [];
      },
    },
    { tokens: async (id) => (id === words.id ? words : undefined), ...options },
  );
  let text = '';
  let next = await lines.next();
  for (; next.done !== true; next = await lines.next()) text += next.value;
  const rows = text.split('\n').filter((line) => line !== '');
  return { text, rows: rows.map((line) => JSON.parse(line) as Row), manifest: next.value };
}

export const ann = 'agent_001';

export function annAlone(): Talk {
  const talk = new Talk();
  talk.enter(ann, 'Ann');
  return talk;
}
