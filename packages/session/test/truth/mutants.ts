import type { CapturedEvent, JsonObject } from '@hansard/events';
import { interruption } from '@hansard/prompt';
import type { HearingRow } from '@hansard/views';
import type { ComparedKind } from './compare-views.ts';
import { type AskedViews, viewsOf } from './views-under-test.ts';

/** A wrong view, and the comparisons that must find it. */
export interface Mutant {
  readonly name: string;
  readonly caughtBy: readonly ComparedKind[];
  of(events: readonly CapturedEvent[]): AskedViews;
}

export const mutants: readonly Mutant[] = [
  ofLog('position instead of the manifest', ['causes', 'known', 'perspective'], (events) =>
    events.map((event) => withContext(event, () => undefined)),
  ),
  ofLog('one event less than the manifest names', ['causes', 'known'], (events) =>
    events.map((event) =>
      withContext(event, (context) => ({ ...context, through: beforeIn(events, event, context) })),
    ),
  ),
  ofLog('the whole transcript instead of what the policy shows', ['causes', 'given'], (events) =>
    events.map((event) => withContext(event, ({ through = null }) => ({ through }))),
  ),
  ofLog('a link where texts are equal', ['cells', 'never heard'], (events) =>
    events.map((event, at) => {
      if (event.type !== 'agent:tool_result' || event.substance !== undefined) return event;
      const said = events
        .slice(0, at)
        .findLast(({ type, data }) => type === 'agent:text' && data.text === event.data.output);
      return said === undefined ? event : { ...event, substance: said.id };
    }),
  ),
  ofLog('wrapped wherever the old words are in the new text', ['cells', 'outcomes'], (events) =>
    events.map((event) => {
      const { via: _, ...others } = event;
      return event.type === 'user:message' ? others : event;
    }),
  ),
  ofLog('an altered result taken for the words of the tool', ['cells', 'outcomes'], (events) =>
    events.map((event) => {
      const { via: _, ...others } = event;
      return event.type === 'agent:tool_result' ? others : event;
    }),
  ),
  ofLog('a withheld result taken for a result of nothing', ['cells', 'never heard'], (events) =>
    events.map((event) => {
      const { madeFrom: _, ...data } = event.data;
      return event.type === 'harness:hook_decision' ? { ...event, data } : event;
    }),
  ),
  ofLog('a withheld result taken for one that was heard', ['cells', 'never heard'], (events) =>
    events.map((event) => {
      const decision = events.find(({ id }) => id === event.via);
      const isDenied = decision?.data.on === 'tool_result' && decision.data.decision === 'deny';
      const madeFrom = decision?.data.madeFrom as string[] | undefined;
      return isDenied && madeFrom !== undefined ? { ...event, cause: madeFrom } : event;
    }),
  ),
  ofViews('an alteration taken for what came of it after it was denied', ['outcomes'], (views) => ({
    interventions: () => {
      const rows = views.interventions();
      return rows.map((row) => {
        const after = rows.find(({ previous }) => previous === row.id);
        return row.decision === 'alter' && row.on === 'tool_result' && after?.decision === 'deny'
          ? { ...row, outcome: after.outcome }
          : row;
      });
    },
  })),
  ofLog('no observed values', ['causes', 'known', 'given', 'perspective'], (events) =>
    events.map((event) => (event.type === 'agent:output' ? asNotice(event) : event)),
  ),
  ofLog('no compactions', ['causes', 'known', 'given', 'reconstructed'], (events) =>
    events.map((event) => (event.type === 'session:compaction' ? asNotice(event) : event)),
  ),
  ofLog('compactions that replace everything', ['given', 'reconstructed'], (events) =>
    events.map((event) => {
      if (event.type !== 'session:compaction') return event;
      const { keptFrom: _, ...data } = event.data;
      return { ...event, data };
    }),
  ),
  ofCells('the first hearing only', (ways) => ways.slice(0, 1)),
  ofCells('the last hearing only', (ways) => ways.slice(-1)),
  ofCells('each way once', (ways) => [...new Set(ways)]),
  ofCells('no hearing that was withheld', (ways) => ways.filter((way) => way !== 'withheld')),
  ofViews('withheld taken for heard', ['never heard'], (views) => ({
    never: (id) => views.never(id).filter(({ withheldBy }) => withheldBy === null),
  })),
  ofViews('never taken for not known in the audience', ['audience'], (views) => ({
    audience: (row) => {
      const { missing, ...audience } = views.audience(row);
      return { ...audience, missing: [], notKnown: missing, isPublic: missing.length === 0 ? true : null };
    },
  })),
  ofViews('not known taken for never', ['never heard'], (views) => ({
    never: (id) => views.never(id).map((row) => ({ ...row, answer: 'not known' as const })),
  })),
  ofViews('the latest message as the only cause', ['causes', 'links'], (views) => ({
    causes: (id) => views.causes(id).map((row) => ({ ...row, because: row.because.slice(-1) })),
  })),
  ofViews('only messages as causes', ['causes', 'links'], (views) => ({
    causes: (id) =>
      views
        .causes(id)
        .map((row) => ({ ...row, because: row.because.filter(({ kind }) => kind === 'heard') })),
  })),
  ofViews('recorded taken for reconstructed', ['causes'], (views) => ({
    causes: (id) => views.causes(id).map((row) => ({ ...row, basis: 'reconstructed' as const })),
  })),
  ofLog('no calls that asked for an answer', ['asked', 'causes', 'reconstructed'], (events) =>
    events.map((event) => {
      const { cause: _, ...others } = event;
      return event.type === 'agent:text' || event.type === 'agent:tool_call' ? others : event;
    }),
  ),
  ofViews('every call that ran taken for the one that asked', ['asked'], (views) => ({
    causes: (id) =>
      views.causes(id).map((row) => ({ ...row, asked: row.asked === null ? null : ('recorded' as const) })),
  })),
  ofLog('only one of the agents that a call asked at the same time', ['asked', 'causes'], (events) => {
    const asked = new Map<unknown, string | undefined>();
    return events.map((event) => {
      const isAnswer = event.type === 'agent:text' || event.type === 'agent:tool_call';
      if (!isAnswer || event.cause === undefined) return event;
      const first = asked.get(event.cause) ?? event.agentId;
      asked.set(event.cause, first);
      const { cause: _, ...others } = event;
      return first === event.agentId ? event : others;
    });
  }),
  ofLog('only the first speaker in what a discussion gave', ['cells', 'never heard'], (events) =>
    events.map((event) => {
      const { cause, ...others } = event;
      if (event.type !== 'agent:tool_result' || !Array.isArray(cause)) return event;
      return { ...others, substance: String(cause[0]) };
    }),
  ),
  ofViews(
    'only the first result of calls that ran at the same time',
    ['causes', 'links'],
    (views, events) => ({
      causes: (id) => {
        const isResult = (of: string) =>
          events.some((event) => event.id === of && event.type === 'agent:tool_result');
        return views.causes(id).map((row) => {
          const first = row.because.find((link) => isResult(link.id));
          return { ...row, because: row.because.filter((link) => link === first || !isResult(link.id)) };
        });
      },
    }),
  ),
  ofLog('the result of a call that a crash ended taken for none', ['causes', 'known', 'given'], (events) =>
    events.map((event) =>
      event.type === 'agent:tool_result' && event.data.output === interruption ? asNotice(event) : event,
    ),
  ),
  ofLog(
    'what came during a call that a crash ended taken for lost',
    ['causes', 'known', 'given'],
    (events) => {
      const crash = events.findIndex(({ type }) => type === 'harness:error');
      return events.map((event, at) => {
        if (event.type !== 'user:message' || at > crash) return event;
        const isCall = ({ type, agentId }: CapturedEvent) =>
          type === 'agent:inference' && agentId === event.agentId;
        return events.slice(at, crash).some(isCall) ? event : asNotice(event);
      });
    },
  ),
  ofLog('a resumed session taken for a new one', ['causes', 'known', 'given'], (events) => {
    const crash = events.findIndex(({ type }) => type === 'harness:error');
    return events.map((event, at) =>
      at > crash || event.type !== 'agent:tool_result' ? event : asNotice(event),
    );
  }),
  ofViews('reconstructed taken for recorded', ['reconstructed'], (views) => ({
    causes: (id) => views.causes(id).map((row) => ({ ...row, basis: 'recorded' as const })),
  })),
  ofViews('all that was received taken for the prompt', ['known'], (views) => ({
    known: (agentId, at) => views.known(agentId, at).map((row) => ({ ...row, state: 'shown' as const })),
  })),
  ofViews('what a compaction replaced taken for never received', ['known'], (views) => ({
    known: (agentId, at) => views.known(agentId, at).filter(({ state }) => state !== 'compacted'),
  })),
  ofViews('the next delivery taken for the outcome of an alteration', ['outcomes'], (views, events) => ({
    interventions: () =>
      views.interventions().map((row) => {
        const at = events.findIndex(({ id }) => id === row.id);
        const next = events
          .slice(at)
          .find(({ type, agentId }) => type === 'user:message' && agentId === row.agentId);
        const outcome = next === undefined ? null : { id: next.id, text: '' };
        return { ...row, outcome: row.decision === 'alter' ? outcome : row.outcome };
      }),
  })),
];

/** The views of another log. */
function ofLog(
  name: string,
  caughtBy: Mutant['caughtBy'],
  changed: (events: readonly CapturedEvent[]) => readonly CapturedEvent[],
): Mutant {
  return { name, caughtBy, of: (events) => viewsOf(changed(events)) };
}

/** The views with other answers to some questions. */
function ofViews(
  name: string,
  caughtBy: Mutant['caughtBy'],
  changed: (views: AskedViews, events: readonly CapturedEvent[]) => Partial<AskedViews>,
): Mutant {
  return {
    name,
    caughtBy,
    of(events) {
      const views = viewsOf(events);
      return { ...views, ...changed(views, events) };
    },
  };
}

type Cell = NonNullable<ReturnType<HearingRow['cells']['get']>>;

function ofCells(name: string, changed: (cell: Cell) => Cell): Mutant {
  return ofViews(name, ['cells'], (views) => ({
    matrix: () =>
      views.matrix().map((row) => ({
        ...row,
        cells: new Map([...row.cells].map(([agentId, cell]) => [agentId, changed(cell)])),
      })),
  }));
}

function withContext(
  event: CapturedEvent,
  changed: (context: JsonObject) => JsonObject | undefined,
): CapturedEvent {
  const { context, ...data } = event.data;
  if (event.type !== 'agent:inference' || context === undefined) return event;
  const other = changed(context as JsonObject);
  return { ...event, data: other === undefined ? data : { ...data, context: other } };
}

/** The last message of the agent before the one that a manifest goes through. */
function beforeIn(
  events: readonly CapturedEvent[],
  { agentId }: CapturedEvent,
  { through = null }: JsonObject,
): string | null {
  const at = events.findIndex(({ id }) => id === through);
  const before = events.slice(0, Math.max(0, at));
  return before.findLast((event) => event.agentId === agentId && event.messageId !== undefined)?.id ?? null;
}

function asNotice({ id, timestamp }: CapturedEvent): CapturedEvent {
  return { id, type: 'system:notice', timestamp, data: {} };
}
