import type { CapturedEvent, DispatchEnvelope, DispatchRewrite, JsonValue } from '@hansard/provider';
import type { Change, Mutant } from './mutant.ts';

/** A store that changes the new forms of a rewrite before it stores them. */
const rewriting =
  (change: {
    event?: (next: CapturedEvent, old: CapturedEvent) => CapturedEvent;
    envelope?: (next: DispatchEnvelope, old: DispatchEnvelope) => DispatchEnvelope;
    notice?: (notice: CapturedEvent) => CapturedEvent;
  }): Change =>
  (good) => ({
    rewriteDispatch: (taskDir, dispatchId, rewrite) => {
      const { notice } = rewrite;
      const changed: DispatchRewrite = {
        envelope: (old) => {
          const before = structuredClone(old);
          const next = structuredClone(rewrite.envelope(old));
          return change.envelope?.(next, before) ?? next;
        },
        event: (old) => {
          const before = structuredClone(old);
          const next = structuredClone(rewrite.event(old));
          return change.event?.(next, before) ?? next;
        },
        ...(notice !== undefined && {
          notice: () => {
            const next = structuredClone(notice());
            return change.notice?.(next) ?? next;
          },
        }),
      };
      return good.rewriteDispatch(taskDir, dispatchId, changed);
    },
  });

const only =
  (...keys: string[]) =>
  <Value extends object>(value: Value): Value =>
    Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key))) as Value;

const without =
  (...keys: string[]) =>
  <Value extends object>(value: Value): Value =>
    Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key))) as Value;

const deeply = (value: JsonValue, change: (value: JsonValue) => JsonValue): JsonValue => {
  if (Array.isArray(value)) return change(value.map((item) => deeply(item, change)));
  if (typeof value !== 'object' || value === null) return change(value);
  return change(
    Object.fromEntries(Object.entries(value).map(([key, item]) => [key, deeply(item as JsonValue, change)])),
  );
};

const cents = (value: JsonValue) => (typeof value === 'number' ? Math.round(value * 1e4) / 1e4 : value);
const sorted = (value: JsonValue) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;
const isKnown = (type: string) => /^(?:agent|user|session|harness|system|content|request):/.test(type);
const eventKeys = ['id', 'type', 'v', 'timestamp', 'agentId', 'messageId', 'data'];

/** Stores that are wrong with rich data in operations that are rare. */
export const rareMutants: readonly Mutant[] = [
  [
    'keeps the keys of an event that a rewrite removes',
    'rich/rewrite-removes',
    rewriting({ event: (next, old) => ({ ...old, ...next }) }),
  ],
  [
    'keeps the keys of data that a rewrite removes',
    'rich/rewrite-removes',
    rewriting({ event: (next, old) => ({ ...next, data: { ...old.data, ...next.data } }) }),
  ],
  [
    'keeps the keys of an envelope that a rewrite removes',
    'rich/rewrite-removes',
    rewriting({ envelope: (next, old) => ({ ...old, ...next }) }),
  ],
  [
    'keeps the value of an envelope that a rewrite makes null',
    'rich/rewrite-removes',
    rewriting({
      envelope: (next, old) =>
        Object.fromEntries(
          Object.entries(next).map(([key, value]) => [key, value ?? old[key as keyof DispatchEnvelope]]),
        ) as unknown as DispatchEnvelope,
    }),
  ],
  [
    'loses the links of an event in a rewrite',
    'rich/rewrite-keeps',
    rewriting({ event: without('cause', 'substance', 'via', 'follows', 'retracts') as never }),
  ],
  [
    'loses keys of newer versions in a rewritten event',
    'rich/rewrite-keeps',
    rewriting({ event: only(...eventKeys, 'cause', 'substance', 'via', 'follows', 'retracts') as never }),
  ],
  [
    'loses keys of newer versions in a rewritten envelope',
    'rich/rewrite-keeps',
    rewriting({ envelope: without('next', 'later', 'newField', 'addedLater', 'conformance') as never }),
  ],
  [
    'leaves events of unknown types as they are in a rewrite',
    'rich/rewrite-keeps',
    rewriting({ event: (next, old) => (isKnown(old.type) ? next : old) }),
  ],
  [
    'sorts the keys of rewritten data',
    'rich/rewrite-keeps',
    rewriting({ event: (next) => ({ ...next, data: deeply(next.data, sorted) as CapturedEvent['data'] }) }),
  ],
  [
    'rounds numbers of rewritten data to four digits',
    'rich/rewrite-keeps',
    rewriting({ event: (next) => ({ ...next, data: deeply(next.data, cents) as CapturedEvent['data'] }) }),
  ],
  [
    'rounds the cost of a rewritten envelope to four digits',
    'rich/rewrite-keeps',
    rewriting({ envelope: (next) => ({ ...next, cost: cents(next.cost) as number | null }) }),
  ],
  [
    'rounds an updated cost to four digits',
    'rich/envelopes',
    (good) => ({
      updateDispatch: (taskDir, dispatchId, updates) =>
        good.updateDispatch(taskDir, dispatchId, {
          ...updates,
          ...(updates.cost !== undefined && { cost: cents(updates.cost) as number | null }),
        }),
    }),
  ],
  [
    'rounds the cost of a created envelope to four digits',
    'rich/envelopes',
    (good) => ({
      createDispatch: (taskDir, envelope) =>
        good.createDispatch(taskDir, { ...envelope, cost: cents(envelope.cost) as number | null }),
    }),
  ],
  [
    'cuts an updated title at 255 characters',
    'rich/envelopes',
    (good) => ({
      updateDispatch: (taskDir, dispatchId, updates) =>
        good.updateDispatch(taskDir, dispatchId, {
          ...updates,
          ...(typeof updates.title === 'string' && { title: updates.title.slice(0, 255) }),
        }),
    }),
  ],
  [
    'cuts the name of a task at 255 characters',
    'rich/envelopes',
    (good) => ({
      putTask: (taskDir, task) => good.putTask(taskDir, { ...task, name: task.name.slice(0, 255) }),
    }),
  ],
  [
    'cuts texts at 8 MB',
    'rich/rewrite-of-large-content',
    (good) => ({
      appendEvents: (taskDir, dispatchId, events) =>
        good.appendEvents(
          taskDir,
          dispatchId,
          events.map((event) => {
            const text = (event.data as { base64?: unknown }).base64;
            if (typeof text !== 'string' || text.length <= 8_000_000) return event;
            return { ...event, data: { ...event.data, base64: text.slice(0, 8_000_000) } };
          }),
        ),
    }),
  ],
  [
    'empties content of more than 1 MB in a rewrite',
    'rich/rewrite-of-large-content',
    rewriting({
      event: (next) => {
        const text = (next.data as { base64?: unknown }).base64;
        if (typeof text !== 'string' || text.length <= 1_000_000) return next;
        return { ...next, data: { ...next.data, base64: '' } };
      },
    }),
  ],
  [
    'loses the cause of a notice',
    'rich/rewrite-keeps',
    rewriting({ notice: without('cause', 'agentId', 'messageId') as never }),
  ],
  [
    'gives a rewritten event without a time that of the rewrite',
    'rich/rewrite-keeps',
    rewriting({ event: (next) => ({ ...next, timestamp: next.timestamp ?? '2026-03-02T00:00:00.000Z' }) }),
  ],
  [
    'asks for the notice of a rewrite first',
    'rewrite/gives-every-event',
    (good) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) => {
        const notice = rewrite.notice?.();
        return good.rewriteDispatch(taskDir, dispatchId, {
          ...rewrite,
          ...(notice !== undefined && { notice: () => notice }),
        });
      },
    }),
  ],
  [
    'asks twice for the new form of each event',
    'rewrite/gives-every-event',
    (good) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) =>
        good.rewriteDispatch(taskDir, dispatchId, {
          ...rewrite,
          event: (event) => {
            rewrite.event(structuredClone(event));
            return rewrite.event(event);
          },
        }),
    }),
  ],
  [
    'gives a rewrite its own objects, which a refused rewrite may have changed',
    'rich/refused-rewrite',
    (good, world) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) => {
        const events = world.data.dispatches.get(taskDir)?.get(dispatchId)?.events ?? [];
        let index = -1;
        return good.rewriteDispatch(taskDir, dispatchId, {
          ...rewrite,
          event: () => {
            index += 1;
            return rewrite.event(events[index] as CapturedEvent);
          },
        });
      },
    }),
  ],
  [
    'finds events without their links by a search',
    'rich/hits',
    (good) => ({
      searchEvents: (query, options) =>
        good.searchEvents(query, options).map((hit) => ({ ...hit, event: only(...eventKeys)(hit.event) })),
    }),
  ],
  [
    'finds events without their large content by a search',
    'rich/hits',
    (good) => ({
      searchEvents: (query, options) =>
        good.searchEvents(query, options).map((hit) => ({
          ...hit,
          event: { ...hit.event, data: without('base64', 'input', 'output')(hit.event.data) },
        })),
    }),
  ],
  [
    'lists envelopes without their figures by period',
    'rich/envelopes',
    (good) => ({
      listDispatches: (options) => {
        const page = good.listDispatches(options);
        return {
          ...page,
          dispatches: page.dispatches.map((one) =>
            one.envelope === null ? one : { ...one, envelope: { ...one.envelope, periods: null } },
          ),
        };
      },
    }),
  ],
  [
    'lists envelopes without keys of newer versions',
    'rich/envelopes',
    (good) => ({
      listDispatches: (options) => {
        const page = good.listDispatches(options);
        const known = (envelope: DispatchEnvelope) =>
          without('next', 'later', 'conformance', 'addedLater', 'newField')(envelope);
        return {
          ...page,
          dispatches: page.dispatches.map((one) =>
            one.envelope === null ? one : { ...one, envelope: known(one.envelope) },
          ),
        };
      },
    }),
  ],
  [
    'claims with an envelope without its source',
    'rich/envelopes',
    (good) => ({
      claimDispatch: (taskDir, dispatchId) => {
        const claim = good.claimDispatch(taskDir, dispatchId);
        return { ...claim, envelope: { ...claim.envelope, source: null } };
      },
    }),
  ],
  [
    'has the latest time of all events as the last activity',
    'rich/last-activity',
    (good) => ({
      listDispatches: (options) => {
        const page = good.listDispatches(options);
        return {
          ...page,
          dispatches: page.dispatches.map((one) => {
            if (one.envelope === null || one.dispatchId === null) return one;
            let times: (string | null)[] = [];
            try {
              times = good.getDispatchEvents(one.taskDir, one.dispatchId).map(({ timestamp }) => timestamp);
            } catch {
              return one;
            }
            return times.length === 0 ? one : { ...one, lastActiveAt: times.toSorted().at(-1) ?? null };
          }),
        };
      },
    }),
  ],
  [
    'keeps what was deleted where only listings of the internal tasks find it',
    'rich/delete-unfindable',
    (good, world) => ({
      deleteDispatch: (taskDir, dispatchId) => {
        const deleted = world.data.dispatches.get(taskDir)?.get(dispatchId);
        good.deleteDispatch(taskDir, dispatchId);
        if (deleted !== undefined)
          world.data.dispatches.set('_hansard/trash', new Map([[dispatchId, deleted]]));
      },
    }),
  ],
  [
    'still finds the old words of nested data after a rewrite',
    'rich/rewrite-unfindable',
    (good, world) => {
      const old = new Map<string, CapturedEvent>();
      return {
        rewriteDispatch: (taskDir, dispatchId, rewrite) => {
          for (const event of good.getDispatchEvents(taskDir, dispatchId))
            if (Object.values(event.data).some((value) => typeof value === 'object'))
              old.set(event.id, event);
          return good.rewriteDispatch(taskDir, dispatchId, rewrite);
        },
        searchEvents: (query, options) => {
          const hits = good.searchEvents(query, options);
          if (hits.length > 0) return hits;
          const [taskDir, dispatches] = [...world.data.dispatches][0] ?? [];
          const [dispatchId, dispatch] = [...(dispatches ?? [])][0] ?? [];
          const word = query.toLowerCase();
          const found = [...old.values()].find((event) =>
            JSON.stringify(event.data).toLowerCase().includes(word),
          );
          const event = dispatch?.events.find(({ id }) => id === found?.id);
          if (event === undefined || word === '') return hits;
          return [{ taskDir: taskDir ?? '', dispatchId: dispatchId ?? '', position: 0, event }];
        },
      };
    },
  ],
  [
    'says nothing of the position of a rewritten event after the notice',
    'rewrite/gives-every-event',
    (good, world) => ({
      rewriteDispatch: (taskDir, dispatchId, rewrite) => {
        const answer = good.rewriteDispatch(taskDir, dispatchId, rewrite);
        const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
        // The notice stands first where the log had more than a hundred events.
        if (dispatch !== undefined && rewrite.notice !== undefined && dispatch.events.length > 100)
          dispatch.events = [dispatch.events.at(-1) as CapturedEvent, ...dispatch.events.slice(0, -1)];
        return answer;
      },
    }),
  ],
];
