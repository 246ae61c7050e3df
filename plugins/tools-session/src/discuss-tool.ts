import type { AgentHost, AgentInfo, LoggedString, ToolOutcome } from '@hansard/provider';
import { z } from 'zod';
import { findAgents, labelOf, unique } from './agents.ts';
import { deliverOwnWords, deliverUtterance, messageOf, quote } from './deliver.ts';
import { inParallel } from './in-parallel.ts';
import { sessionTool } from './session-tool.ts';

export const discussTool = sessionTool({
  name: 'discuss',
  description:
    'Lets agents speak in turn. Each hears your prompt and what the others say; you get back all that was said, and who failed to speak.',
  input: z.strictObject({
    prompt: z.string().min(1).optional().describe('Your text to all of them before the first one speaks.'),
    speakers: z.array(z.string().min(1)).min(1).describe('Names or ids of the speakers, in their order.'),
    listeners: z
      .array(z.string().min(1))
      .default([])
      .describe('Names or ids of agents that hear everything and do not speak.'),
    rounds: z.int().min(1).max(20).default(1).describe('The number of turns of each speaker.'),
    at_once: z
      .int()
      .min(1)
      .max(20)
      .default(1)
      .describe(
        'How many speakers of a round think at the same time. 1: one after the other, each hears those before. More: nobody hears the others of a round before its end.',
      ),
  }),
  async run({ prompt, speakers: names, listeners, rounds, at_once: atOnce }, host, signal) {
    const speakers = findAgents(host, names);
    const everyone = unique([...speakers, ...findAgents(host, listeners)]);
    const discussion = new Discussion(host, everyone, rounds, signal);
    if (prompt !== undefined) await discussion.begin(prompt);
    const groups = atOnce === 1 ? speakers.map((speaker) => [speaker]) : [speakers];
    for (let round = 1; round <= rounds; round++)
      for (const group of groups) await discussion.letSpeak(group, atOnce, round);
    const outcome = discussion.outcome();
    const metadata = {
      speakers: speakers.map(({ agentId }) => agentId),
      audience: everyone.map(({ agentId }) => agentId),
      rounds,
    };
    return { ...outcome, metadata: { ...metadata, ...outcome.metadata } };
  },
});

interface Turn {
  readonly speaker: AgentInfo;
  /** Null: it failed. */
  readonly utterance: LoggedString | null;
  readonly note: string | null;
}

class Discussion {
  readonly #host: AgentHost;
  readonly #everyone: readonly AgentInfo[];
  readonly #rounds: number;
  readonly #signal: AbortSignal;
  readonly #said: { readonly speaker: AgentInfo; readonly utterance: LoggedString }[] = [];
  readonly #failed = new Set<string>();
  readonly #notes: string[] = [];

  constructor(host: AgentHost, everyone: readonly AgentInfo[], rounds: number, signal: AbortSignal) {
    this.#host = host;
    this.#everyone = everyone;
    this.#rounds = rounds;
    this.#signal = signal;
  }

  async begin(prompt: string): Promise<void> {
    const words = await this.#host.logPieceOfText(prompt);
    this.#notes.push(...(await deliverOwnWords(this.#host, this.#everyone, words)));
  }

  /** Lets each of a group speak once. All that they say is delivered in their order when the last of them has spoken. */
  async letSpeak(group: readonly AgentInfo[], atOnce: number, round: number): Promise<void> {
    const turns = await inParallel(group, atOnce, (speaker) => this.#speak(speaker, round));
    for (const { speaker, utterance, note } of turns) {
      if (note !== null) this.#notes.push(note);
      if (utterance === null) {
        this.#failed.add(speaker.agentId);
        continue;
      }
      this.#said.push({ speaker, utterance });
      const others = this.#everyone.filter(({ agentId }) => agentId !== speaker.agentId);
      this.#notes.push(...(await deliverUtterance(this.#host, others, speaker, utterance)));
    }
  }

  outcome(): ToolOutcome {
    const said = this.#said;
    const failed = [...this.#failed];
    const [only, ...more] = said;
    const lines =
      only !== undefined && more.length === 0 && failed.length === 0
        ? [only.utterance.text]
        : said.map(({ speaker, utterance }) => quote(speaker, utterance.text));
    return {
      status: said.length === 0 ? 'error' : 'completed',
      text: [...lines, ...this.#notes].join('\n'),
      madeFrom: said.map(({ utterance }) => utterance.messageId),
      metadata: failed.length === 0 ? {} : { failed },
    };
  }

  async #speak(speaker: AgentInfo, round: number): Promise<Turn> {
    this.#signal.throwIfAborted();
    try {
      return { speaker, utterance: await this.#host.respond(speaker.agentId), note: null };
    } catch (error) {
      this.#signal.throwIfAborted();
      const when = this.#rounds === 1 ? '' : ` in round ${round}`;
      const note = `${labelOf(speaker)} failed to speak${when}: ${messageOf(error)}`;
      return { speaker, utterance: null, note };
    }
  }
}
