import type { CapturedEvent } from '@hansard/events';
import { compareContexts, renderCalls } from '@hansard/prompt';
import { type PlayedSession, receivedBy, withReplay } from './played-session.ts';
import type { TruePromptNow } from './true-prompt.ts';
import type { AskedViews } from './views-under-test.ts';

/** How many of a kind were compared, and those that were wrong, in words. */
export interface Comparison {
  compared: number;
  readonly wrong: string[];
}

export const comparedKinds = [
  'cells',
  'never heard',
  'audience',
  'causes',
  'links',
  'effects',
  'asked',
  'known',
  'given',
  'reconstructed',
  'perspective',
  'outcomes',
  'awaited',
  'prompts',
  'prompts again',
] as const;

export type ComparedKind = (typeof comparedKinds)[number];

export type Comparisons = Record<ComparedKind, Comparison>;

export function noComparisons(): Comparisons {
  const none = comparedKinds.map((kind) => [kind, { compared: 0, wrong: [] }]);
  return Object.fromEntries(none) as Comparisons;
}

type Check = (kind: ComparedKind, where: string, is: unknown, should: unknown) => void;

type ViewsOf = (events: readonly CapturedEvent[]) => AskedViews;

/** Compares the views and the session with the record of the truth. */
export function compare(seed: number, played: PlayedSession, viewsOf: ViewsOf, into: Comparisons): void {
  const check = checkInto(seed, into);
  compareViews(seed, played, viewsOf, into);
  for (const [at, { agentId, says, does }] of played.awaited.entries())
    check('awaited', `${agentId} at ${at}`, says, does);
  for (const [at, { agentId, messages, expected }] of played.prompts.entries()) {
    const lines = messages.map((message) => {
      const { role, text } = message;
      return `${role}: ${withReplay(text, role === 'assistant' ? message.replay : undefined)}`;
    });
    check('prompts', `call ${at} of ${agentId}`, lines, expected);
  }
  const given = new Map<string, unknown[]>();
  for (const { agentId, messages, isAnswered } of played.prompts)
    if (isAnswered) given.set(agentId, [...(given.get(agentId) ?? []), messages]);
  for (const { agentId, messages, recorded, manifest } of renderCalls(played.events)) {
    check('prompts again', `a call of ${agentId}`, messages, given.get(agentId)?.shift());
    check('prompts again', `a manifest of ${agentId}`, recorded && compareContexts(recorded, manifest), []);
  }
}

/** Compares the views alone with the record of the truth. */
export function compareViews(seed: number, played: PlayedSession, viewsOf: ViewsOf, into: Comparisons): void {
  const check = checkInto(seed, into);
  const views = viewsOf(played.events);
  const unrecorded = viewsOf(played.events.map(withoutContext));
  compareCells(views, played, check);
  compareOutcomes(views, played, check);
  for (const agentId of played.truth.agents.keys()) {
    compareAnswers(views, played, agentId, check);
    comparePerspective(views, played, agentId, check);
    compareReconstructed(unrecorded, played, agentId, check);
  }
}

function checkInto(seed: number, into: Comparisons): Check {
  return (kind, where, is, should) => {
    const comparison = into[kind];
    comparison.compared += 1;
    const [found, expected] = [JSON.stringify(is), JSON.stringify(should)];
    if (found !== expected) comparison.wrong.push(`seed ${seed}, ${where}: ${found}, not ${expected}`);
  };
}

function compareCells(views: AskedViews, { truth }: PlayedSession, check: Check): void {
  const rows = views.matrix();
  check('cells', 'the number of rows', rows.length, truth.sayings.length);
  for (const [number, { speaker, text, hearings }] of truth.sayings.entries()) {
    const row = rows[number];
    const found = [row?.saying.speaker.agentId ?? null, row?.saying.text];
    check('cells', `row ${number}`, found, [speaker, text]);
    const silent: [agentId: string, answer: 'never', wasWithheld: boolean][] = [];
    for (const agentId of truth.agents.keys()) {
      const ways = hearings.filter((hearing) => hearing.agentId === agentId).map(({ way }) => way);
      const cell = speaker === agentId ? ['said', ...ways] : ways;
      check('cells', `row ${number} of ${agentId}`, row?.cells.get(agentId) ?? [], cell);
      if (cell.every((way) => way === 'withheld')) silent.push([agentId, 'never', cell.length > 0]);
    }
    const never = row === undefined ? [] : views.never(row.saying.id);
    const said = never.map(({ agent, answer, withheldBy }) => [agent.agentId, answer, withheldBy !== null]);
    check('never heard', `row ${number}`, said, silent);
    const missing = silent.map(([agentId]) => agentId);
    const audience = row === undefined ? null : views.audience(row);
    const around = [audience?.missing, audience?.notKnown, audience?.isPublic, row?.notKnown];
    check('audience', `row ${number}`, around, [missing, [], missing.length === 0, []]);
  }
}

const linkKinds = { message: 'heard', result: 'heard', output: 'observed', summary: 'summary' } as const;

/** The record of an agent with the ids that the log has for its deliveries and answers. */
function readAgent({ events, truth }: PlayedSession, agentId: string) {
  const { answers, deliveries, course } = truth.of(agentId);
  const received = receivedBy(agentId, events).map(({ id }) => id);
  const own = events.filter((event) => event.agentId === agentId && isAnswer(event));
  const messageIds = [...new Set(own.map(({ messageId = '' }) => messageId))];
  const idOf = (place: number) => received[place] ?? '';
  const newLinks = (prompts: readonly TruePromptNow[]) => {
    const before = new Set<number>();
    return prompts.map(({ places }) => {
      const added = places.filter((place) => !before.has(place)).sort((one, other) => one - other);
      for (const place of added) before.add(place);
      return added.flatMap((place) => {
        const { kind = 'system' } = deliveries[place] ?? {};
        return kind === 'system' ? [] : [[linkKinds[kind], idOf(place)] as const];
      });
    });
  };
  return { answers, deliveries, course, received, own, messageIds, idOf, newLinks };
}

function compareAnswers(views: AskedViews, played: PlayedSession, agentId: string, check: Check): void {
  const { answers, deliveries, received, own, messageIds, idOf, newLinks } = readAgent(played, agentId);
  const effects = new Map<string, string[]>();
  const links = newLinks(answers.map(({ prompt }) => prompt));
  let isFirst = true;
  check('causes', `the answers of ${agentId}`, messageIds.length, answers.length);
  for (const [number, { askedBy, prompt, known }] of answers.entries()) {
    const messageId = messageIds[number] ?? '';
    const given = links[number] ?? [];
    for (const [, id] of given) effects.set(id, [messageId]);
    const expected = [...asking(played, askedBy), ...given];
    const asked = isFirst ? (askedBy === null ? 'not recorded' : 'recorded') : null;
    const blocks = own.filter((event) => event.messageId === messageId);
    for (const block of blocks) {
      const row = views.causes(block.id).find(({ id }) => id === block.id);
      check('asked', `${block.id} of ${agentId}`, row?.asked, asked);
      const found = inOrderOf(received, row?.because ?? []).map(({ kind, id }) => [kind, id]);
      check('causes', `${block.type} ${block.id} of ${agentId}`, [row?.basis, found], ['recorded', expected]);
      for (const [at, link] of expected.entries()) check('links', `${block.id}, ${at}`, found[at], link);
    }
    isFirst = !blocks.some(({ type }) => type === 'agent:tool_call');
    const rows = inOrderOf(received, views.known(agentId, messageId));
    const expectedRows = received.slice(0, known).map((id, place) => [id, prompt.states[place], 'recorded']);
    const foundRows = rows.map(({ id, state, basis }) => [id, state, basis]);
    check('known', `answer ${messageId} of ${agentId}`, foundRows, expectedRows);
    check('given', `answer ${messageId} of ${agentId}`, views.given(messageId), prompt.places.map(idOf));
  }
  for (const [place, id] of received.entries()) {
    if (deliveries[place]?.kind === 'system') continue;
    const direct = views.effects(id).filter(({ because }) => because.some((link) => isOfPrompt(link, id)));
    const messages = [...new Set(direct.map(({ event }) => event.messageId))];
    check('effects', `of ${id}, heard by ${agentId}`, messages, effects.get(id) ?? []);
  }
}

/** Without what the log records of the calls, all that came before an answer counts as given to it. */
function compareReconstructed(views: AskedViews, played: PlayedSession, agentId: string, check: Check): void {
  const { answers, received, messageIds, newLinks } = readAgent(played, agentId);
  for (const [number, given] of newLinks(answers.map(({ inOrder }) => inOrder)).entries()) {
    const expected = [...asking(played, answers[number]?.askedBy ?? null), ...given];
    const messageId = messageIds[number] ?? '';
    const row = views.causes(messageId).find(({ event }) => event.messageId === messageId);
    const found = inOrderOf(received, row?.because ?? []).map(({ kind, id }) => [kind, id]);
    const where = `answer ${messageId} of ${agentId}`;
    check('reconstructed', where, [row?.basis, found], ['reconstructed', expected]);
  }
}

function comparePerspective(views: AskedViews, played: PlayedSession, agentId: string, check: Check): void {
  const { course, messageIds, idOf } = readAgent(played, agentId);
  const answers = [...messageIds];
  const expected = course.map((place) => (place === 'answer' ? (answers.shift() ?? '') : idOf(place)));
  const found = views.perspective(agentId).map(({ event }) => event.messageId ?? event.id);
  check('perspective', `of ${agentId}`, [...new Set(found)], expected);
}

/** The outcome of the chain of decisions: the delivery of an altered text, or the error that a denial left. */
function compareOutcomes(views: AskedViews, { events, truth }: PlayedSession, check: Check): void {
  const found = views.interventions();
  check('outcomes', 'the number of decisions', found.length, truth.decisions.length);
  for (const [number, { on, decision, became }] of truth.decisions.entries()) {
    // An altered call is its own outcome.
    if (on === 'tool_call' && decision === 'alter') continue;
    const { outcome = null } = found[number] ?? {};
    const id = became === null ? null : receivedBy(became.agentId, events)[became.place]?.id;
    check('outcomes', `decision ${number}`, outcome?.id ?? null, id);
  }
}

/** The link to the call that asked for an answer. */
function asking({ events }: PlayedSession, askedBy: string | null) {
  const call = events.find(({ type, data }) => type === 'agent:tool_call' && data.toolCallId === askedBy);
  return call === undefined ? [] : [['cause', call.id] as const];
}

function inOrderOf<T extends { readonly id: string }>(ids: readonly string[], rows: readonly T[]): T[] {
  return [...rows].sort((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id));
}

function isOfPrompt(link: { readonly kind: string; readonly id: string }, id: string): boolean {
  return link.id === id && ['heard', 'observed', 'summary'].includes(link.kind);
}

function withoutContext(event: CapturedEvent): CapturedEvent {
  if (event.type !== 'agent:inference') return event;
  const { context: _, ...data } = event.data;
  return { ...event, data };
}

function isAnswer({ type }: CapturedEvent): boolean {
  return type === 'agent:text' || type === 'agent:tool_call';
}
