import { createCommunicationHub } from '@hansard/dispatch';
import { compareContexts, renderCalls } from '@hansard/prompt';
import type { HookProvider, ModelRequest } from '@hansard/provider';
import type { Session } from '@hansard/session';
import { createLogIndex, rowsOf } from '@hansard/views';
import { expect, it } from 'vitest';
import { prepare } from './prepare.ts';
import { done, model, type Reply, says, tools } from './scripted.ts';
import { Random } from './truth/random.ts';

const tries = 2;
const count = Number(process.env.HANSARD_SEEDS ?? 6);

/** What an agent should have: the lines of its next prompt, and whether it owes an answer. */
interface TrueAgent {
  readonly lines: string[];
  awaits: boolean;
  rejected: number;
}

/** Decides by what a text says about itself, in two steps, so that an alteration can be followed by a rejection. */
const hooks: readonly HookProvider[] = ['editor', 'judge'].map((name) => ({
  contract: 1,
  name,
  decidesOn: ['utterance', 'input'],
  async decide(question, { agents }) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!('text' in question)) return { decision: 'allow' };
    const { text } = question;
    if (name === 'editor') {
      if (text.includes('alter')) return { decision: 'alter', text: text.replace(/^\S+/, 'better') };
      return { decision: 'allow' };
    }
    if (text.includes('review')) {
      const own = await agents?.createAgent({ name: 'Reader' });
      await agents?.harken(own?.agentId ?? '', text);
    }
    if (text.includes('retry')) return { decision: 'retry', reason: `not ${text}` };
    return text.includes('deny') ? { decision: 'deny', reason: `never ${text}` } : { decision: 'allow' };
  },
}));

class RandomReviews {
  readonly #random: Random;
  readonly #prepared = prepare();
  readonly #agents = new Map<string, TrueAgent>();
  readonly #secret = new Set<string>();
  readonly #said = new Set<string>();
  readonly #shown: unknown[] = [];
  readonly #replies = new Map<string, string>();
  /** Each prompt, as it was and as it should be. */
  readonly #prompts: (readonly [readonly string[], readonly string[]])[] = [];
  #words = 0;
  #calls = 0;
  #rejected = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  async play(): Promise<void> {
    const keep = (notice: unknown) => void this.#shown.push(structuredClone(notice));
    const hub = createCommunicationHub([{ contract: 1, eventRecorded: keep, deltaReceived: keep }]);
    await hub.start();
    const options = {
      ...{ hooks, communication: hub, utteranceTries: tries },
      model: model((request) => this.#generate(request)),
      tools: [tools({ look: () => done('a wall') })],
    };
    const peers = ['Ann', 'Ben', 'Cleo'].map((name) => ({ name }));
    let session = await this.#prepared.open({ ...options, peers });
    for (const { agentId } of session.peers)
      this.#agents.set(agentId, { lines: [], awaits: false, rejected: 0 });
    for (let round = 0; round < 6; round += 1) {
      await Promise.all(session.peers.map((peer) => this.#talk(session, peer.agentId)));
      this.#compareOpen(session);
      if (!this.#random.chance(0.4)) continue;
      await session.close();
      session = await this.#prepared.open({ ...options, expect: 'existing' });
      this.#compareOpen(session);
    }
    await session.close();
    await hub.close();
    await this.#compareLog();
  }

  async #talk(session: Session, agentId: string): Promise<void> {
    const agent = await session.getAgent(agentId);
    const truth = this.#of(agentId);
    for (const kind of this.#random.chance(0.3)
      ? ['', 'alter']
      : [this.#random.pick(['', 'alter', 'deny', 'retry'])]) {
      const text = this.#word(kind);
      const isDenied = kind === 'deny' || kind === 'retry';
      const outcome = await agent.harken(text).then(
        () => false,
        ({ code }) => code === 'SESSION_INPUT_DENIED',
      );
      expect(outcome).toBe(isDenied);
      if (isDenied) continue;
      truth.lines.push(`user: ${kind === 'alter' ? text.replace(/^\S+/, 'better') : text}`);
      truth.awaits = true;
    }
    if (!truth.awaits || this.#random.chance(0.2)) return;
    truth.rejected = 0;
    const said = await agent.response().then(String, ({ code }) => code);
    expect(said).toBe(this.#replies.get(agentId));
  }

  /** Compares the prompt, and says something that is allowed, altered, rejected or a call. */
  #generate({ agentId, messages, onDelta }: ModelRequest): Reply {
    const truth = this.#of(agentId);
    this.#prompts.push([messages.map(({ role, text }) => `${role}: ${text}`), [...truth.lines]]);
    this.#calls += 1;
    const kind = this.#random.pick(['', 'alter', 'retry', 'deny', 'retry review', 'retry alter', 'call']);
    if (kind === 'call') {
      truth.lines.push('assistant: ', 'tool: a wall');
      return { text: '', toolCalls: [{ toolCallId: `c${this.#calls}`, tool: 'look', input: {} }] };
    }
    const text = this.#word(kind);
    onDelta?.({ type: 'delta:text', text });
    this.#answer(agentId, truth, text, kind);
    return says(text, {
      thinking: { text: `I think ${text}` },
      replay: this.#random.chance(0.5) ? text : undefined,
    } as never);
  }

  #answer(agentId: string, truth: TrueAgent, text: string, kind: string): void {
    const judged = kind.includes('alter') ? text.replace(/^\S+/, 'better') : text;
    const isRejected = kind.includes('retry') || kind === 'deny';
    const [first = '', second = ''] = text.split(' ');
    (isRejected || kind.includes('alter') ? this.#secret : this.#said).add(first);
    (isRejected ? this.#secret : this.#said).add(second);
    if (!isRejected) {
      truth.lines.push(`assistant: ${judged}`);
      truth.awaits = false;
      this.#replies.set(agentId, judged);
      return;
    }
    truth.rejected += 1;
    this.#rejected += 1;
    const isAgain = kind !== 'deny' && truth.rejected < tries;
    const reason = `${kind === 'deny' ? 'never' : 'not'} ${judged}`;
    truth.lines.push(
      `assistant: ${text}`,
      `user: Your answer was rejected by the hook 'judge', and nobody received it: ${reason}${isAgain ? '\nAnswer again.' : ''}`,
    );
    truth.awaits = isAgain;
    this.#replies.set(agentId, 'SESSION_UTTERANCE_DENIED');
  }

  #compareOpen(session: Session): void {
    for (const { agentId, awaitsResponse } of session.peers)
      expect([agentId, awaitsResponse]).toEqual([agentId, this.#of(agentId).awaits]);
  }

  async #compareLog(): Promise<void> {
    for (const [is, should] of this.#prompts) expect(is).toEqual(should);
    const log = await this.#prepared.events();
    expect(log.filter(({ type }) => type === 'agent:rejected')).toHaveLength(this.#rejected);
    expect(log.filter(({ type }) => type === 'agent:inference')).toHaveLength(this.#calls);
    for (const { recorded, manifest } of renderCalls(log))
      expect(recorded === null ? ['none'] : compareContexts(recorded, manifest)).toEqual([]);
    const index = createLogIndex(log);
    const places = {
      shown: JSON.stringify(this.#shown),
      rows: JSON.stringify(rowsOf(log)),
      // What a hook shows its own agent is said by the hook.
      said: JSON.stringify(
        index.sayings.flatMap(({ text, speaker }) => (speaker.kind === 'system' ? [] : [text])),
      ),
    };
    for (const [where, bytes] of Object.entries(places)) {
      for (const word of this.#secret)
        expect([where, word, bytes.includes(word)]).toEqual([where, word, false]);
      for (const word of this.#said) expect([where, word, bytes.includes(word)]).toEqual([where, word, true]);
    }
  }

  #of(agentId: string): TrueAgent {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) throw new RangeError(`There is no agent ${agentId}.`);
    return agent;
  }

  #word(kind: string): string {
    this.#words += 1;
    return `w${this.#words}x k${this.#words}x${kind === '' ? '' : ` ${kind}`}`;
  }
}

it.each(Array.from({ length: count }, (_, at) => at + 1))(
  'what hooks allow, alter and reject in session %i is in the prompts, rows and sayings that it belongs to, and in no other',
  async (seed) => {
    await new RandomReviews(seed).play();
  },
);
