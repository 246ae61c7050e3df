import type { ContextPart } from './context-manifest.ts';
import type { ContextHistory } from './history/context-history.ts';
import type { ContextItem } from './history/context-item.ts';
import type { ContextZones } from './history/context-zones.ts';
import type { Detail } from './history/detail.ts';

interface Run {
  readonly kind: ContextPart['kind'];
  readonly detail: Detail;
  readonly messages: number;
  readonly tokens: number;
  readonly first: ContextItem | undefined;
  readonly last: ContextItem | undefined;
}

/** The parts of a manifest, from the sums of the zones: does not iterate over the messages. */
export function partsOf(history: ContextHistory, zones: ContextZones, isCounted: boolean): ContextPart[] {
  return [systemPrompts(history, zones), summary(history), ...shownZones(history, zones)].flatMap((run) => {
    const { first, last, messages, tokens, kind, detail } = run;
    if (messages === 0 || first === undefined || last === undefined) return [];
    const counted = isCounted ? { tokens } : {};
    return [{ kind, detail, messages, ...counted, first: first.first, last: last.first }];
  });
}

function systemPrompts({ groups }: ContextHistory, { systemPrompts: indexes, systemTokens }: ContextZones) {
  return {
    kind: 'systemPrompts',
    detail: 'high',
    messages: indexes.length,
    tokens: systemTokens,
    first: groups[indexes[0] ?? -1]?.items[0],
    last: groups[indexes.at(-1) ?? -1]?.items[0],
  } satisfies Run;
}

function summary({ summary: item }: ContextHistory): Run {
  const isThere = item !== null;
  return {
    kind: 'summary',
    detail: 'high',
    messages: isThere ? 1 : 0,
    tokens: item?.tokensAt('high') ?? 0,
    first: item ?? undefined,
    last: item ?? undefined,
  };
}

function shownZones({ groups }: ContextHistory, zones: ContextZones): Run[] {
  const runs = (['low', 'medium', 'high'] as const).map((zone): Run => {
    const [from, to] = zones.rangeOf(zone);
    return {
      kind: 'messages',
      detail: zone,
      messages: zones.messages(zone),
      tokens: zones.tokens(zone),
      first: groups[from]?.items[0],
      last: groups[to - 1]?.items.at(-1),
    };
  });
  const newest = groups[zones.newest];
  const high = runs.pop();
  if (newest === undefined || high === undefined) return runs;
  if (!zones.isSqueezed(zones.newest)) return [...runs, high];
  const { items, squeezedTokens, newest: item } = newest;
  const tokens = item.tokensAt('high');
  const whole: Run = { ...high, messages: 1, tokens, first: item, last: item };
  const rest = { messages: items.length - 1, tokens: squeezedTokens - tokens };
  return [...runs, { ...high, ...rest, detail: 'low', first: items[0], last: items.at(-1) }, whole];
}
