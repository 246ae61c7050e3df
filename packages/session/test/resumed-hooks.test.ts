import type { CapturedEvent } from '@hansard/events';
import type { HookProvider } from '@hansard/provider';
import type { Agent, Session } from '@hansard/session';
import { describe, expect, it } from 'vitest';
import { failingStore } from './failing-store.ts';
import { prepare } from './prepare.ts';
import { model, says } from './scripted.ts';

const question = 'Suggest a cake for Mia.';

/** Asks an agent of its own about each message of a person, and passes on what that agent says. */
const memory: HookProvider = {
  contract: 1,
  name: 'Memory',
  async observe({ what, event }, host) {
    if (what !== 'message' || event.data.text !== question || host.agents === undefined) return;
    const own = await host.agents.createAgent({ name: 'Memory', systemPrompt: 'You remember.' });
    const recalled = await host.agents.response(own.agentId, String(event.data.text));
    await host.inform(event.agentId, recalled, own.agentId);
    await host.inform(event.agentId, 'Mind the nuts.');
  },
};

const critic: HookProvider = {
  contract: 1,
  name: 'Critic',
  async observe({ what, event }, host) {
    if (what === 'utterance' && event.data.text === 'Sponge cake.')
      await host.inform(event.agentId, 'Once more.');
  },
};

/** Alters what an agent of a hook sends. */
const discreet: HookProvider = {
  contract: 1,
  name: 'Discreet',
  decide: (asked) =>
    asked.on === 'delivery'
      ? { decision: 'alter', text: asked.text.replace('Mia', 'M.') }
      : { decision: 'allow' },
};

const options = {
  hooks: [memory, critic, discreet],
  model: model(({ agentName, messages }) => {
    const heard = messages.findLast(({ role }) => role === 'user')?.text;
    if (agentName === 'Memory') return says(`Recalled: ${heard}`);
    return says(heard === 'Once more.' ? 'Purple cake.' : 'Sponge cake.');
  }),
};

async function finish({ root, session }: { root: Agent; session: Session }): Promise<void> {
  const heard = (await root.transcript()).filter(({ role }) => role === 'user');
  if (heard.length === 0) await root.harken(question);
  if (root.awaitsResponse) await root.response();
  await session.complete('completed', 'Done.');
}

const said = (events: readonly CapturedEvent[]) =>
  events.flatMap(({ type, agentId, data, substance }) =>
    type === 'user:message' || type === 'agent:text' || type === 'agent:created'
      ? [`${agentId} ${type} ${data.text ?? data.name ?? ''}${substance === undefined ? '' : ' (again)'}`]
      : [],
  );

describe('hooks of a session whose store fails', () => {
  it('do each thing once, whenever it failed, and the session ends as if it had not', async () => {
    const whole = failingStore();
    const first = prepare(whole.provider);
    await finish(await first.create(options));
    const expected = said(await first.events());
    expect(expected).toEqual([
      'agent_001 agent:created ',
      `agent_001 user:message ${question}`,
      'agent_002 agent:created Memory',
      `agent_002 user:message ${question}`,
      `agent_002 agent:text Recalled: ${question}`,
      'agent_001 user:message Recalled: Suggest a cake for M.. (again)',
      'agent_001 user:message Mind the nuts.',
      'agent_001 agent:text Sponge cake.',
      'agent_001 user:message Once more.',
      'agent_001 agent:text Purple cake.',
    ]);
    for (let appends = 1; appends < whole.appendsMade; appends += 1) {
      const store = failingStore(appends);
      const { create, load, events } = prepare(store.provider);
      await create(options)
        .then(finish)
        .catch(() => {});
      store.recover();
      await finish(await load(options));
      expect(said(await events()), `after ${appends} appends`).toEqual(expected);
    }
  });

  it('do not observe again what they had observed when the session was closed', async () => {
    const seen: string[] = [];
    const diary: HookProvider = {
      contract: 1,
      name: 'Diary',
      observe: ({ what }) => void seen.push(what),
    };
    const { create, load } = prepare();
    await finish(await create({ ...options, hooks: [diary] }));
    expect(seen.splice(0)).toEqual(['message', 'utterance', 'end']);
    const { session } = await load({ ...options, hooks: [diary] });
    await session.close();
    expect(seen).toEqual(['end']);
  });
});
