import type { ToolCall, ToolOutcome, ToolProvider } from '@hansard/provider';
import { done, hostOf, tools } from '../scripted.ts';
import type { Random } from './random.ts';
import type { TrueSaying, TruthRecord } from './truth-record.ts';

/** An utterance that can be carried on. */
export interface Utterance {
  readonly messageId: string;
  readonly saying: TrueSaying;
}

export interface ToolSetting {
  readonly random: Random;
  readonly truth: TruthRecord;
  readonly utterances: readonly Utterance[];
  /** The agents that nobody asks at the moment. */
  idle(): readonly string[];
  /** Lets an agent speak, and gives its utterance. */
  respond(call: ToolCall, agentId: string): Promise<Utterance & { readonly text: string }>;
}

export const toolNames = ['collect_votes', 'ask', 'gather', 'broadcast'] as const;

/** Tools whose results are their own words, one utterance or several; some of their words are what agents say too. */
export function randomTools({ random, truth, utterances, idle, respond }: ToolSetting): ToolProvider {
  const finish = (call: ToolCall, text: string, madeFrom: readonly Utterance[] = []): ToolOutcome => {
    truth.returned(
      callerOf(call),
      madeFrom.map(({ saying }) => saying),
    );
    return done(text, { madeFrom: madeFrom.map(({ messageId }) => messageId) });
  };

  return tools({
    collect_votes: (call) => finish(call, random.words()),

    gather: (call) => {
      const sources = utterances.length === 0 ? [] : [random.pick(utterances), random.pick(utterances)];
      const madeFrom = [...new Set(sources)];
      const lines = madeFrom.map(({ saying: { speaker, text } }) => `[${speaker}]: ${text}`);
      return finish(call, lines.join('\n') || 'Nothing was said.', madeFrom);
    },

    /** Sends the same words to several agents, without a piece of text: each delivery is new. */
    broadcast: async (call) => {
      const host = hostOf(call);
      const from = callerOf(call);
      const text = random.words();
      for (const { agentId } of host.listAgents())
        if (agentId !== from && random.chance(0.6)) {
          const outcome = await host.deliver(agentId, { text });
          const saying = truth.say(from, text);
          if (outcome.text === null) truth.withhold(agentId, saying);
          else truth.message(agentId, outcome.text, saying, { isAltered: outcome.status === 'altered' });
        }
      return finish(call, random.words());
    },

    ask: async (call) => {
      const host = hostOf(call);
      const from = callerOf(call);
      const piece = await host.logPieceOfText(random.words());
      const saying = truth.say(from, piece.text);
      const others = idle().filter((agentId) => agentId !== from);
      for (const agentId of others) {
        const text = random.chance(0.5) ? piece.text : `[${from}]: ${piece.text}`;
        const outcome = await host.deliver(agentId, { text, substance: piece.messageId });
        if (outcome.text === null) truth.withhold(agentId, saying);
        else truth.message(agentId, outcome.text, saying, { isAltered: outcome.status === 'altered' });
      }
      if (others.length === 0) return finish(call, 'Nobody is free.');
      const answer = await respond(call, random.pick(others));
      if (answer.text === '') return finish(call, 'No answer.');
      return finish(call, random.chance(0.5) ? answer.text : `They say: ${answer.text}`, [answer]);
    },
  });
}

function callerOf({ agentId = '' }: ToolCall): string {
  return agentId;
}
