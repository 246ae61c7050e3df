import type { CapturedEvent } from '@hansard/events';
import { type BranchedLog, randomFrom } from '@hansard/testing';
import type { causesOf, createLogIndex, knowledgeOf, knownBy } from '../../src/index.ts';
import { BranchedTruth } from './branched-truth.ts';

/** The views that are compared, or broken ones. */
export interface ComparedViews {
  readonly createLogIndex: typeof createLogIndex;
  readonly knowledgeOf: typeof knowledgeOf;
  readonly knownBy: typeof knownBy;
  readonly causesOf: typeof causesOf;
}

/** The first answer of the views to which the writer of the log has another one; null: they agree. */
export function wrongView(log: BranchedLog, views: ComparedViews): object | null {
  const truth = new BranchedTruth(log);
  const index = views.createLogIndex(log.events);
  for (const compare of [wrongPrompt, wrongKnowledge]) {
    for (const { is, should, ...what } of compare(truth, index, views))
      if (JSON.stringify(is) !== JSON.stringify(should)) return { ...what, is, should };
  }
  return null;
}

interface Compared {
  readonly what: string;
  readonly at: string;
  readonly is: unknown;
  readonly should: unknown;
}

type Index = ReturnType<typeof createLogIndex>;

const idOf = ({ node }: { readonly node: { readonly event: CapturedEvent } }) => node.event.id;

function* wrongPrompt(truth: BranchedTruth, index: Index, views: ComparedViews): Generator<Compared> {
  for (const written of truth.log.answers) {
    const node = index.eventWithId(written.id);
    const found = node === null ? null : views.knowledgeOf(index).answerOf(node);
    const is = found && {
      messageId: found.message.entry.messageId,
      basis: found.basis,
      given: found.given.filter(({ kind }) => kind !== 'answer').map(idOf),
      isNew: found.newItems.map(idOf).sort(),
    };
    yield { what: 'prompt', at: written.id, is, should: truth.promptOf(written) };
    const causes = views.causesOf(index, written.id).find(({ id }) => id === written.id)?.because ?? [];
    const heard = causes.filter(({ kind }) => kind === 'heard' || kind === 'summary').map(({ id }) => id);
    const isGiven = (id: string) => truth.event(id).type !== 'agent:given';
    yield {
      ...{ what: 'causes', at: written.id, is: heard.sort() },
      should: truth.promptOf(written).isNew.filter(isGiven),
    };
  }
}

function* wrongKnowledge(truth: BranchedTruth, index: Index, views: ComparedViews): Generator<Compared> {
  const { events, agents } = truth.log;
  const random = randomFrom(events.length);
  for (const { agentId } of agents) {
    const idsAt = (at?: string) =>
      views
        .knownBy(index, agentId, at)
        .map(({ id }) => id)
        .sort();
    yield { what: 'known', at: 'end', is: idsAt(), should: truth.receivedAt(agentId, events.length - 1) };
    for (let question = 0; question < 4; question += 1) {
      const number = Math.floor(random() * events.length);
      const { id = '', agentId: of, type } = events[number] ?? {};
      const isTold = of !== agentId && events.some((one) => one.id === id) && type !== 'agent:inference';
      const first = events.findIndex((one) => one.agentId === agentId);
      if (!isTold || number < first) continue;
      yield { what: 'known', at: id, is: idsAt(id), should: truth.receivedAt(agentId, number) };
    }
  }
}
