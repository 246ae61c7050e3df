import type { CapturedEvent } from '@hansard/events';
import {
  type ContextPolicy,
  type RenderedCall,
  readContextManifest,
  renderCalls,
  unknownContext,
} from '@hansard/prompt';
import { contextCounters } from '@hansard/prompt/tokens';
import type { LogIndex } from '@hansard/views';
import { harnessErrors } from '../harness-errors.ts';
import type { OpenedSession } from './opened-session.ts';

/** Which model call is meant, and how its context is rendered. */
export interface ModelCallWords {
  /** `latest`, or an event: a time names the last call up to then, any other word a call or an event of its answer. */
  readonly call: string;
  /** Only calls of these agents. */
  readonly agents?: readonly string[] | undefined;
  /** Absent: the recorded one. */
  readonly policy?: ContextPolicy | undefined;
}

/**
 * What a model was given in a call of a session.
 * @throws HARNESS_NOT_FOUND if there is no such call, HARNESS_NARRATIVE if the log does not hold contexts, and as `OpenedSession.findEvent`
 */
export async function renderModelCall(
  log: OpenedSession,
  { call, agents, policy }: ModelCallWords,
): Promise<RenderedCall> {
  const problem = unknownContext(log.envelope);
  if (problem !== null) throw harnessErrors.error('HARNESS_NARRATIVE', problem);
  const agentIds = agents?.map((name) => log.findAgent(name).agentId);
  const inference = await findCall(log, call, agentIds);
  const counters = await contextCounters(readContextManifest(inference));
  const [rendered] = renderCalls(log.index.events, {
    only: ({ id }) => id === inference.id,
    counters,
    ...(policy === undefined ? {} : { policy, isOwnPolicy: true }),
  });
  if (rendered !== undefined) return rendered;
  throw new TypeError(`The call ${inference.id} was not rendered.`);
}

async function findCall(
  log: OpenedSession,
  wanted: string,
  agentIds: readonly string[] | undefined,
): Promise<CapturedEvent> {
  const calls = log.index.nodes.filter(
    ({ event }) => event.type === 'agent:inference' && (agentIds?.includes(event.agentId ?? '') ?? true),
  );
  const found = calls.length === 0 ? undefined : await callAt(log, wanted, calls);
  if (found !== undefined) return found.event;
  const which = wanted === 'latest' ? '' : ` ${wanted}`;
  const whose = agentIds === undefined ? '' : ` of ${agentIds.join(' or ')}`;
  throw harnessErrors.error('HARNESS_NOT_FOUND', `There is no model call${which}${whose}.`, {
    advice:
      calls.length === 0
        ? 'Sessions and agents record them (agent:inference); imported session logs and games do not.'
        : '`hansard show SESSION --type agent:inference --raw` shows them.',
  });
}

async function callAt(
  log: OpenedSession,
  wanted: string,
  calls: readonly LogIndex['nodes'][number][],
): Promise<LogIndex['nodes'][number] | undefined> {
  if (wanted === 'latest') return calls.at(-1);
  const { position, event, id } = await log.findEvent(wanted);
  if (wanted.startsWith('@')) return calls.findLast((call) => call.position <= position);
  const messageId = event.messageId ?? id;
  return (
    calls.find((call) => call.event.id === id) ?? calls.find((call) => call.event.messageId === messageId)
  );
}
