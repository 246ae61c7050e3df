import type { CapturedEvent } from '@hansard/events';
import { type BranchedLog, randomFrom } from '@hansard/testing';
import type {
  causesOf,
  createLogIndex,
  dialogOf,
  knowledgeOf,
  knownBy,
  perspectiveOf,
} from '../../src/index.ts';
import { BranchedTruth } from './branched-truth.ts';

/** The views that are compared, or broken ones. */
export interface ComparedViews {
  readonly createLogIndex: typeof createLogIndex;
  readonly knowledgeOf: typeof knowledgeOf;
  readonly knownBy: typeof knownBy;
  readonly causesOf: typeof causesOf;
  readonly dialogOf: typeof dialogOf;
  readonly perspectiveOf: typeof perspectiveOf;
}

/** The first answer of the views to which the writer of the log has another one; null: they agree. */
export function wrongView(log: BranchedLog, views: ComparedViews): object | null {
  const truth = new BranchedTruth(log);
  const index = views.createLogIndex(log.events);
  for (const compare of [wrongPrompt, wrongKnowledge, wrongDialog, wrongPerspective, wrongIndex]) {
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

function* wrongDialog(truth: BranchedTruth, index: Index, views: ComparedViews): Generator<Compared> {
  const rows = new Map(views.dialogOf(index).map((row) => [row.id, row]));
  for (const { id, messageId } of truth.log.answers) {
    if (!messageId.startsWith('said-')) continue;
    const row = rows.get(id);
    const written = truth.log.deliveries.filter(({ utterance }) => utterance === id);
    const hearings = index.sayings.find((saying) => saying.id === id)?.hearings ?? [];
    yield {
      ...{ what: 'hearings', at: id },
      is: hearings.map(({ agentId, event, fate = null }) => [agentId, event.id, fate]),
      should: written.map((one) => [one.agentId, one.id, truth.fateOf(one.id)]),
    };
    const had = written.map((one) => `${one.agentId} ${truth.fateOf(one.id) ?? 'has it'}`);
    yield {
      ...{ what: 'dialog', at: id, is: row && [row.fate ?? null, row.audience.every(isWritten(had))] },
      should: [truth.fateOf(id), true],
    };
    const { is, should } = effectOf(truth, index, views, id);
    yield { what: 'effects', at: id, is, should };
  }
}

/** A hearing of a dialog has a fate only if the agent has no other delivery of the same text that it still has. */
function isWritten(had: readonly string[]) {
  return ({ agentId, fate }: { readonly agentId: string; readonly fate?: string }) =>
    had.includes(`${agentId} ${fate ?? 'has it'}`);
}

/** The fate of an utterance in the causes of an answer that was given it. */
function effectOf(truth: BranchedTruth, index: Index, views: ComparedViews, id: string) {
  const [delivery] = truth.log.deliveries.filter(({ utterance }) => utterance === id);
  if (delivery === undefined) return { is: null, should: null };
  const cause = views.causesOf(index, delivery.id).find((row) => row.id === id);
  return { is: cause && [cause.fate ?? null], should: [truth.fateOf(id)] };
}

function* wrongPerspective(truth: BranchedTruth, index: Index, views: ComparedViews): Generator<Compared> {
  for (const { agentId } of truth.log.agents) {
    const rows = views.perspectiveOf(index, agentId);
    const fates = new Map(rows.map(({ id, fate = null, saidFate = null }) => [id, [fate, saidFate]]));
    yield { what: 'rows of a perspective', at: agentId, is: rows.length, should: fates.size };
    const should = truth
      .partsOf(agentId)
      .map((id) => [id, [truth.fateIn(agentId, id), truth.saidFateOf(agentId, id)]]);
    const is = [...fates].sort(([one], [other]) => (one < other ? -1 : 1));
    yield { what: 'perspective', at: agentId, is, should };
  }
}

function* wrongIndex(truth: BranchedTruth, index: Index): Generator<Compared> {
  for (const node of index.nodes) {
    if (node.event.type !== 'agent:tool_result') continue;
    const call = index.callOf(node)?.event.id ?? null;
    yield { what: 'call', at: node.event.id, is: call, should: truth.callOf(node.event.id) };
  }
  const links = index.diagnostics.filter(({ code }) => code.startsWith('branch_'));
  yield { what: 'diagnostics', at: 'end', is: links.length, should: truth.log.badLinks };
}
