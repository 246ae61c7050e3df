import type { CapturedEvent } from '@hansard/events';
import {
  causesOf,
  compareContexts,
  createLogIndex,
  effectsOf,
  hearingMatrix,
  knownBy,
  type LogIndex,
  neverHeard,
  renderCalls,
} from '@hansard/views';
import type { PlayedSession } from './played-session.ts';

/** How many of a kind were compared, and those that were wrong, in words. */
export interface Comparison {
  compared: number;
  readonly wrong: string[];
}

export const comparedKinds = [
  'cells',
  'never heard',
  'causes',
  'effects',
  'known',
  'awaited',
  'prompts',
  'prompts again',
] as const;

export type Comparisons = Record<(typeof comparedKinds)[number], Comparison>;

export function noComparisons(): Comparisons {
  const none = comparedKinds.map((kind) => [kind, { compared: 0, wrong: [] }]);
  return Object.fromEntries(none) as Comparisons;
}

/** Compares the views and the session with the record of the truth. */
export function compare(seed: number, played: PlayedSession, into: Comparisons): void {
  const index = createLogIndex(played.events);
  const check = (kind: keyof Comparisons, where: string, is: unknown, should: unknown) => {
    const comparison = into[kind];
    comparison.compared += 1;
    const [found, expected] = [JSON.stringify(is), JSON.stringify(should)];
    if (found !== expected) comparison.wrong.push(`seed ${seed}, ${where}: ${found}, not ${expected}`);
  };
  compareCells(index, played, check);
  compareAnswers(index, played, check);
  for (const [at, { agentId, says, does }] of played.awaited.entries())
    check('awaited', `${agentId} at ${at}`, says, does);
  for (const [at, { agentId, messages, expected }] of played.prompts.entries()) {
    const lines = messages.map(({ role, text }) => `${role}: ${text}`);
    if (expected !== null) check('prompts', `call ${at} of ${agentId}`, lines, expected);
  }
  const given = new Map<string, unknown[]>();
  for (const { agentId, messages } of played.prompts)
    given.set(agentId, [...(given.get(agentId) ?? []), messages]);
  for (const { agentId, messages, recorded, manifest } of renderCalls(played.events)) {
    check('prompts again', `a call of ${agentId}`, messages, given.get(agentId)?.shift());
    check('prompts again', `a manifest of ${agentId}`, recorded && compareContexts(recorded, manifest), []);
  }
}

type Check = (kind: keyof Comparisons, where: string, is: unknown, should: unknown) => void;

function compareCells(index: LogIndex, { truth }: PlayedSession, check: Check): void {
  const { rows } = hearingMatrix(index);
  const said = (number: number) => rows[number]?.saying;
  check('cells', 'the number of rows', rows.length, truth.sayings.length);
  for (const [number, { speaker, text, hearings }] of truth.sayings.entries()) {
    const saying = said(number);
    check('cells', `row ${number}`, [saying?.speaker.agentId ?? null, saying?.text], [speaker, text]);
    const silent: string[] = [];
    for (const agentId of truth.agents.keys()) {
      const ways = hearings.filter((hearing) => hearing.agentId === agentId).map(({ way }) => way);
      const cell = speaker === agentId ? ['said', ...ways] : ways;
      check('cells', `row ${number} of ${agentId}`, rows[number]?.cells.get(agentId) ?? [], cell);
      if (cell.every((way) => way === 'withheld')) silent.push(agentId);
    }
    const never = saying === undefined ? [] : neverHeard(index, saying.id);
    check(
      'never heard',
      `row ${number}`,
      never.map(({ agent }) => agent.agentId),
      silent,
    );
  }
}

function compareAnswers(index: LogIndex, { events, truth }: PlayedSession, check: Check): void {
  for (const [agentId, { answers, deliveries }] of truth.agents) {
    const own = events.filter((event) => event.agentId === agentId);
    const received = own.filter(isReceived).map(({ id }) => id);
    const answered = [...new Set(own.filter(isAnswer).map(({ messageId = '' }) => messageId))];
    const effects = new Map<string, string[]>();
    for (const [number, { heard, known }] of answers.entries()) {
      const messageId = answered[number] ?? '';
      const heardIds = heard
        .filter((place) => deliveries[place]?.kind !== 'system')
        .map((place) => received[place]);
      for (const id of heardIds) effects.set(id ?? '', [messageId]);
      for (const block of own.filter((event) => isAnswer(event) && event.messageId === messageId)) {
        const causes = causesOf(index, block.id).find(({ id }) => id === block.id)?.because ?? [];
        check(
          'causes',
          `${block.type} ${block.id} of ${agentId}`,
          causes.map(({ kind, id }) => [kind, id]),
          heardIds.map((id) => ['heard', id]),
        );
      }
      const knownIds = knownBy(index, agentId, messageId).map(({ id }) => id);
      check('known', `answer ${messageId} of ${agentId}`, knownIds, received.slice(0, known));
    }
    check('causes', `the answers of ${agentId}`, answered.length, answers.length);
    for (const [place, id] of received.entries()) {
      if (deliveries[place]?.kind === 'system') continue;
      const rows = effectsOf(index, id).filter(({ because }) =>
        because.some((link) => link.kind === 'heard' && link.id === id),
      );
      const messages = [...new Set(rows.map(({ event }) => event.messageId))];
      check('effects', `of ${id}, heard by ${agentId}`, messages, effects.get(id) ?? []);
    }
  }
}

function isReceived({ type }: CapturedEvent): boolean {
  return type === 'user:message' || type === 'agent:tool_result' || type === 'agent:system_prompt';
}

function isAnswer({ type }: CapturedEvent): boolean {
  return type === 'agent:text' || type === 'agent:tool_call';
}
