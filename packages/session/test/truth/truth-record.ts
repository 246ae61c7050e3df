export type Way = 'said' | 'same' | 'wrapped' | 'altered' | 'withheld';

export interface TrueSaying {
  /** Null: a person. */
  readonly speaker: string | null;
  readonly text: string;
  /** In order. */
  readonly hearings: { readonly agentId: string; readonly way: Way }[];
}

/** Something that reached an agent: a message, the result of a call, or its system prompt. */
export interface TrueDelivery {
  readonly kind: 'message' | 'result' | 'system';
  readonly text: string;
  /** What it carries on; null: nothing that was said, or more than one thing. */
  readonly saying: TrueSaying | null;
  /** Whether it came in other words than were said, by a hook or by the agent that passed it on. */
  readonly wasAltered: boolean;
}

/** One model call that was answered. */
export interface TrueAnswer {
  /** What the agent was given in this call and in none before, by place among its deliveries. */
  readonly heard: readonly number[];
  /** How many of its deliveries it was given in all; the others came later. */
  readonly known: number;
}

interface AgentTruth {
  readonly deliveries: TrueDelivery[];
  readonly answers: TrueAnswer[];
  /** The prompt as it was in the latest call, with the answer and its results. */
  readonly transcript: string[];
  /** What its next call is given beside that. */
  readonly waiting: number[];
  readonly unanswered: Set<number>;
}

/** What is given to the model in a call that is under way. */
export interface TrueCall {
  readonly agentId: string;
  readonly given: readonly number[];
  readonly known: number;
}

/** The true course of a session, recorded by the code that plays it. It knows nothing of logs and views. */
export class TruthRecord {
  readonly sayings: TrueSaying[] = [];
  readonly agents = new Map<string, AgentTruth>();

  enter(agentId: string, systemPrompt: string): void {
    const system: TrueDelivery = { kind: 'system', text: systemPrompt, saying: null, wasAltered: false };
    this.agents.set(agentId, {
      deliveries: [system],
      answers: [],
      transcript: [],
      waiting: [0],
      unanswered: new Set(),
    });
  }

  of(agentId: string): AgentTruth {
    const agent = this.agents.get(agentId);
    if (agent === undefined) throw new RangeError(`There is no agent ${agentId}.`);
    return agent;
  }

  say(speaker: string | null, text: string): TrueSaying {
    const saying: TrueSaying = { speaker, text, hearings: [] };
    this.sayings.push(saying);
    return saying;
  }

  /** A message reaches an agent. `before` is the delivery that it passes on. */
  message(
    agentId: string,
    text: string,
    saying: TrueSaying,
    { isAltered = false, before }: { readonly isAltered?: boolean; readonly before?: TrueDelivery } = {},
  ): void {
    const way = isAltered ? 'altered' : wayOf(saying.text, text, before?.wasAltered === true);
    saying.hearings.push({ agentId, way });
    this.#deliver(agentId, { kind: 'message', text, saying, wasAltered: way === 'altered' });
  }

  withhold(agentId: string, saying: TrueSaying): void {
    saying.hearings.push({ agentId, way: 'withheld' });
  }

  /** A call has its result, made from what was said. */
  result(agentId: string, text: string, madeFrom: readonly TrueSaying[]): void {
    const sayings = [...new Set(madeFrom)];
    for (const { text: said, hearings } of sayings) hearings.push({ agentId, way: wayOf(said, text, false) });
    const [only = null, ...others] = sayings;
    const saying = others.length === 0 ? only : null;
    const place = this.#deliver(agentId, { kind: 'result', text, saying, wasAltered: false });
    const agent = this.of(agentId);
    agent.transcript.push(`tool: ${text}`);
    agent.waiting.splice(agent.waiting.indexOf(place), 1);
  }

  /** The model of an agent is called: all that reached the agent by now is given to it. */
  call(agentId: string): TrueCall {
    const { deliveries, answers, transcript, waiting } = this.of(agentId);
    const known = deliveries.length;
    const heardBefore = new Set(answers.flatMap(({ heard }) => heard));
    const given = deliveries.flatMap((_, place) => (heardBefore.has(place) ? [] : [place]));
    for (const place of waiting.splice(0)) {
      const { kind, text } = deliveries[place] as TrueDelivery;
      transcript.push(`${kind === 'system' ? 'system' : 'user'}: ${text}`);
    }
    return { agentId, given, known };
  }

  answer({ agentId, given, known }: TrueCall, text: string): void {
    const agent = this.of(agentId);
    agent.answers.push({ heard: given, known });
    for (const place of given) agent.unanswered.delete(place);
    agent.transcript.push(`assistant: ${text}`);
  }

  #deliver(agentId: string, delivery: TrueDelivery): number {
    const { deliveries, waiting, unanswered } = this.of(agentId);
    const place = deliveries.push(delivery) - 1;
    waiting.push(place);
    unanswered.add(place);
    return place;
  }
}

function wayOf(said: string, received: string, wasAltered: boolean): Way {
  if (said === received) return 'same';
  return !wasAltered && received.split(said).length > 1 ? 'wrapped' : 'altered';
}
