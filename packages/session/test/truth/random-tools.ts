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
export function randomTools(setting: ToolSetting): ToolProvider {
  const own = new RandomTools(setting);
  const inTurn =
    (name: (typeof toolNames)[number]): Tool =>
    async (call) => {
      await setting.turn(call);
      return own[name](call);
    };
  return tools(Object.fromEntries(toolNames.map((name) => [name, inTurn(name)])));
}

class RandomTools implements Readonly<Record<(typeof toolNames)[number], Tool>> {
  readonly #setting: ToolSetting;

  constructor(setting: ToolSetting) {
    this.#setting = setting;
  }

  collect_votes(call: ToolCall): ToolOutcome {
    return this.#finish(call, this.#setting.random.words());
  }

  gather(call: ToolCall): ToolOutcome {
    const sources =
      this.#setting.utterances.length === 0
        ? []
        : [
            this.#setting.random.pick(this.#setting.utterances),
            this.#setting.random.pick(this.#setting.utterances),
          ];
    const madeFrom = [...new Set(sources)];
    const lines = madeFrom.map(({ saying: { speaker, text } }) => `[${speaker}]: ${text}`);
    return this.#finish(call, lines.join('\n') || 'Nothing was said.', madeFrom);
  }

  /** Sends the same words to several agents, without a piece of text: each delivery is new. */
  async broadcast(call: ToolCall): Promise<ToolOutcome> {
    const host = hostOf(call);
    const from = callerOf(call);
    const text = this.#setting.random.words();
    for (const { agentId } of host.listAgents())
      if (agentId !== from && this.#setting.random.chance(0.6)) {
        await this.#setting.turn(call);
        const outcome = await host.deliver(agentId, { text });
        const saying = this.#setting.truth.say(from, text);
        if (outcome.text === null) this.#setting.truth.withhold(agentId, saying);
        else
          this.#setting.truth.message(agentId, outcome.text, saying, {
            isAltered: outcome.status === 'altered',
          });
      }
    return this.#finish(call, this.#setting.random.words());
  }

  async ask(call: ToolCall): Promise<ToolOutcome> {
    await this.#share(call, this.#idleBeside(callerOf(call)));
    const others = this.#idleBeside(callerOf(call));
    if (others.length === 0) return this.#finish(call, 'Nobody is free.');
    const [answer] = await this.#setting.respond(call, [this.#setting.random.pick(others)]);
    if (answer === undefined || answer.text === '') return this.#finish(call, 'No answer.');
    return this.#finish(call, this.#setting.random.chance(0.5) ? answer.text : `They say: ${answer.text}`, [
      answer,
    ]);
  }

  /** Everybody who is free speaks at the same time. */
  async discuss(call: ToolCall): Promise<ToolOutcome> {
    await this.#share(call, this.#idleBeside(callerOf(call)));
    const speakers = this.#idleBeside(callerOf(call));
    if (speakers.length === 0) return this.#finish(call, 'Nobody is free.');
    const answers = await this.#setting.respond(call, speakers);
    const lines = answers.map(({ text, saying }) => `[${saying.speaker}]: ${text}`);
    return this.#finish(call, lines.join('\n'), answers);
  }

  /** Fails; its agent gets the error. */
  break(call: ToolCall): never {
    this.#setting.truth.returned(call.toolCallId, []);
    throw new Error(this.#setting.random.words());
  }

  /** Sends a piece of text to agents. */
  async #share(call: ToolCall, agentIds: readonly string[]): Promise<void> {
    const host = hostOf(call);
    const from = callerOf(call);
    const piece = await host.logPieceOfText(this.#setting.random.words());
    const saying = this.#setting.truth.say(from, piece.text);
    for (const agentId of agentIds) {
      await this.#setting.turn(call);
      const text = this.#setting.random.chance(0.5) ? piece.text : `[${from}]: ${piece.text}`;
      const outcome = await host.deliver(agentId, { text, substance: piece.messageId });
      if (outcome.text === null) this.#setting.truth.withhold(agentId, saying);
      else
        this.#setting.truth.message(agentId, outcome.text, saying, {
          isAltered: outcome.status === 'altered',
        });
    }
  }

  #idleBeside(from: string): readonly string[] {
    return this.#setting.idle().filter((agentId) => agentId !== from);
  }

  #finish(call: ToolCall, text: string, madeFrom: readonly Utterance[] = []): ToolOutcome {
    this.#setting.truth.returned(
      call.toolCallId,
      madeFrom.map(({ saying }) => saying),
    );
    return done(text, { madeFrom: madeFrom.map(({ messageId }) => messageId) });
  }
}

function callerOf({ agentId = '' }: ToolCall): string {
  return agentId;
}
