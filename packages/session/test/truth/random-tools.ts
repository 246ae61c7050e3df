import type { ToolCall, ToolOutcome, ToolProvider } from '@hansard/provider';
import { done, hostOf, type Tool, tools } from '../scripted.ts';
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
  /** Lets agents speak at the same time, and gives their utterances. */
  respond(call: ToolCall, agentIds: readonly string[]): Promise<readonly SpokenUtterance[]>;
  /** Resolves when it is the turn of a call that runs beside others. */
  turn(call: ToolCall): Promise<void>;
}

export type SpokenUtterance = Utterance & { readonly text: string };

export const toolNames = ['collect_votes', 'ask', 'gather', 'broadcast', 'discuss', 'break'] as const;

/** Tools whose results are their own words, one utterance or several; some of their words are what agents say too. */
export function randomTools({ random, truth, utterances, idle, respond, turn }: ToolSetting): ToolProvider {
  const finish = (call: ToolCall, text: string, madeFrom: readonly Utterance[] = []): ToolOutcome => {
    truth.returned(
      call.toolCallId,
      madeFrom.map(({ saying }) => saying),
    );
    return done(text, { madeFrom: madeFrom.map(({ messageId }) => messageId) });
  };

  /** Sends a piece of text to agents. */
  async function share(call: ToolCall, agentIds: readonly string[]): Promise<void> {
    const host = hostOf(call);
    const from = callerOf(call);
    const piece = await host.logPieceOfText(random.words());
    const saying = truth.say(from, piece.text);
    for (const agentId of agentIds) {
      await turn(call);
      const text = random.chance(0.5) ? piece.text : `[${from}]: ${piece.text}`;
      const outcome = await host.deliver(agentId, { text, substance: piece.messageId });
      if (outcome.text === null) truth.withhold(agentId, saying);
      else truth.message(agentId, outcome.text, saying, { isAltered: outcome.status === 'altered' });
    }
  }

  const idleBeside = (from: string) => idle().filter((agentId) => agentId !== from);

  const callTools: Readonly<Record<(typeof toolNames)[number], Tool>> = {
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
          await turn(call);
          const outcome = await host.deliver(agentId, { text });
          const saying = truth.say(from, text);
          if (outcome.text === null) truth.withhold(agentId, saying);
          else truth.message(agentId, outcome.text, saying, { isAltered: outcome.status === 'altered' });
        }
      return finish(call, random.words());
    },

    ask: async (call) => {
      await share(call, idleBeside(callerOf(call)));
      const others = idleBeside(callerOf(call));
      if (others.length === 0) return finish(call, 'Nobody is free.');
      const [answer] = await respond(call, [random.pick(others)]);
      if (answer === undefined || answer.text === '') return finish(call, 'No answer.');
      return finish(call, random.chance(0.5) ? answer.text : `They say: ${answer.text}`, [answer]);
    },

    /** Everybody who is free speaks at the same time. */
    discuss: async (call) => {
      await share(call, idleBeside(callerOf(call)));
      const speakers = idleBeside(callerOf(call));
      if (speakers.length === 0) return finish(call, 'Nobody is free.');
      const answers = await respond(call, speakers);
      const lines = answers.map(({ text, saying }) => `[${saying.speaker}]: ${text}`);
      return finish(call, lines.join('\n'), answers);
    },

    /** Fails; its agent gets the error. */
    break: (call) => {
      truth.returned(call.toolCallId, []);
      throw new Error(random.words());
    },
  };

  const inTurn =
    (tool: Tool): Tool =>
    async (call) => {
      await turn(call);
      return tool(call);
    };
  return tools(Object.fromEntries(Object.entries(callTools).map(([name, tool]) => [name, inTurn(tool)])));
}

function callerOf({ agentId = '' }: ToolCall): string {
  return agentId;
}
