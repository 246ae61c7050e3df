import type { ModelMessage } from '@hansard/provider';
import { type Agent, loadSession, type Session } from '@hansard/session';
import { expect, it } from 'vitest';
import { prepare, taskDir } from './prepare.ts';
import { calls, done, model, says, tools } from './scripted.ts';

/** What the writer of this test knows of an agent: the entries of its current branch, and of every place where it stood. */
interface Known {
  agent: Agent;
  readonly stood: { readonly id: string | null; readonly line: readonly string[] }[];
  line: readonly string[];
}

function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const wordsOf = (messages: readonly ModelMessage[]) =>
  messages.map((message) =>
    message.role === 'assistant' && message.toolCalls.length > 0
      ? `assistant: call`
      : `${message.role}: ${message.text}`,
  );

/** Plays a session at random, with its own idea of what each agent was given. */
class Play {
  readonly random: (below: number) => number;
  readonly prepared = prepare();
  readonly known = new Map<string, Known>();
  /** For each event after which nothing was pending: what each agent had then. */
  readonly moments: { readonly at: string; readonly lines: ReadonlyMap<string, readonly string[]> }[] = [];
  readonly wrong: string[] = [];
  session!: Session;
  #count = 0;

  constructor(seed: number) {
    this.random = randomOf(seed);
  }

  #next(word: string): string {
    this.#count += 1;
    return `${word} ${this.#count}`;
  }

  get #options() {
    return {
      model: model(({ agentId, messages }) => {
        const known = this.known.get(agentId);
        if (JSON.stringify(wordsOf(messages)) !== JSON.stringify(known?.line))
          this.wrong.push(
            `${agentId} was given ${JSON.stringify(wordsOf(messages))}, not ${JSON.stringify(known?.line)}`,
          );
        if (this.random(3) > 0) {
          const text = this.#next('said');
          this.#add(agentId, `assistant: ${text}`);
          return says(text);
        }
        const text = this.#next('found');
        this.#add(agentId, 'assistant: call', `tool: ${text}`);
        return calls('look', { text }, this.#next('call').replace(' ', '_'));
      }),
      tools: [tools({ look: ({ input }) => done(String((input as { text: string }).text)) })],
    };
  }

  #add(agentId: string, ...words: string[]): void {
    const known = this.known.get(agentId);
    if (known !== undefined) known.line = [...known.line, ...words];
  }

  #knows(agent: Agent, line: readonly string[]): void {
    this.known.set(agent.agentId, { agent, line, stood: [] });
  }

  async begin(): Promise<void> {
    const { session, root } = await this.prepared.create({ ...this.#options, systemPrompt: 'You look.' });
    this.session = session;
    this.#knows(root, ['system: You look.']);
  }

  async step(): Promise<void> {
    const all = [...this.known.values()];
    const one = all[this.random(all.length)] as Known;
    const what = this.random(10);
    if (what < 3) {
      const text = this.#next('heard');
      const id = await one.agent.harken(text);
      this.#add(one.agent.agentId, `user: ${text}`);
      one.stood.push({ id, line: one.line });
    } else if (what < 6) {
      const line = await one.agent.response();
      one.stood.push({ id: line.messageId ?? null, line: one.line });
    } else if (what === 6 && all.length < 4) {
      const agent = await this.session.createAgent({ name: this.#next('agent') });
      this.#knows(agent, []);
    } else if (what === 7) {
      const other = all[this.random(all.length)] as Known;
      const text = this.#next('told');
      await one.agent.inform(other.agent, text);
      this.#add(other.agent.agentId, `user: ${text}`);
    } else if (what === 8 && one.stood.length > 0) {
      const to = one.stood[this.random(one.stood.length)];
      if (to === undefined) return;
      await one.agent.rewind({ keptThrough: to.id });
      one.line = to.line;
    } else if (what === 9 && this.random(3) === 0) {
      await this.session.close();
      const { session } = await this.prepared.load(this.#options);
      this.session = session;
      for (const known of all) known.agent = await session.getAgent(known.agent.agentId);
    }
    for (const { agent, line } of this.known.values()) {
      const awaits = line.at(-1)?.startsWith('user: ') === true;
      if (agent.awaitsResponse !== awaits) this.wrong.push(`${agent.agentId} awaits a response: ${!awaits}`);
    }
    const events = await this.prepared.events();
    this.moments.push({
      at: events.at(-1)?.id ?? '',
      lines: new Map([...this.known].map(([agentId, { line }]) => [agentId, line])),
    });
  }

  /** A fork at a moment: what each agent is given there, and whether the agents continue apart from those of the origin. */
  async fork(moment: Play['moments'][number]): Promise<void> {
    const { at, lines } = moment;
    const given = new Map<string, readonly string[]>();
    const model_ = model(({ agentId, messages }) => {
      given.set(agentId, wordsOf(messages));
      return says('In the fork.');
    });
    const before = (await this.prepared.events()).length;
    const fork = await this.session.fork({ at });
    await fork.close();
    const { dispatchId } = fork;
    const { session } = await this.prepared.load({ dispatchId, model: model_ });
    for (const [agentId, line] of lines) {
      const agent = await session.getAgent(agentId);
      await agent.harken('And now?');
      await agent.response();
      if (JSON.stringify(given.get(agentId)) !== JSON.stringify([...line, 'user: And now?']))
        this.wrong.push(
          `in a fork ${agentId} was given ${JSON.stringify(given.get(agentId))}, not ${JSON.stringify(line)}`,
        );
    }
    await session.close();
    if ((await this.prepared.events()).length !== before) this.wrong.push('the fork wrote to its origin');
  }

  async past({ at, lines }: Play['moments'][number]): Promise<void> {
    const { store } = this.prepared;
    const { agents } = await loadSession({ store, taskDir, dispatchId: this.session.dispatchId, at });
    const read = new Map(agents.map((agent) => [agent.agentId, wordsOf(agent.prompt() as ModelMessage[])]));
    if (JSON.stringify([...read]) !== JSON.stringify([...lines]))
      this.wrong.push(`at ${at} the past is ${JSON.stringify([...read])}, not ${JSON.stringify([...lines])}`);
  }
}

const seeds = Number(process.env.HANSARD_SEEDS ?? 25);

it(`agents that go back, are loaded and forked at random are given what the test wrote down (${seeds} seeds)`, {
  timeout: 60_000 + seeds * 500,
}, async () => {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const play = new Play(seed);
    await play.begin();
    for (let step = 0; step < 25; step += 1) await play.step();
    for (let count = 0; count < 3; count += 1) {
      const moment = play.moments[play.random(play.moments.length)];
      if (moment === undefined) continue;
      await play.past(moment);
      await play.fork(moment);
    }
    await play.session.close();
    expect(play.wrong, `seed ${seed}`).toEqual([]);
  }
});
