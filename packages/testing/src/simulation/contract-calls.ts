import {
  type CapturedEvent,
  type DispatchEnvelope,
  type DispatchStatus,
  newEvent,
  type TaskRecord,
} from '@hansard/events';
import { type DispatchPage, storeErrors } from '@hansard/provider';
import type { SynchronousStore } from './contract-faults.ts';
import { got, type Steps } from './steps.ts';

/** The task of the dispatches. */
export const taskDir = 'lab/tasks/one';
/** A dispatch that a newer version of the program wrote, in the same task. */
export const newerId = 'n0';
/** How many tasks have records only. A newer version of the program writes the last one, too. */
export const tasks = 3;
/** The ids of events with this word are those that {@link isSecret} gives. */
export const searched = ['secret', 'word1', 'word2', 'rewritten', 'redacted', 'nothing'] as const;

/** A call of a store. `dispatch` and `task` are numbers, `mark` is a text that no other call has. */
export type ContractCall =
  | { readonly kind: 'create'; readonly dispatch: number; readonly mark: string }
  | {
      readonly kind: 'claim' | 'release' | 'break claim' | 'end' | 'delete' | 'verify';
      readonly dispatch: number;
    }
  | { readonly kind: 'read'; readonly dispatch: number }
  /** With `isSensible`, a process that has not claimed the dispatch creates or claims it instead. */
  | {
      readonly kind: 'append';
      readonly dispatch: number;
      readonly ids: readonly string[];
      readonly isSensible: boolean;
    }
  /** Appends an event with other content than {@link textOf}. */
  | { readonly kind: 'conflict'; readonly dispatch: number; readonly id: string }
  /** A long result makes the envelope outgrow its place in the file. */
  | {
      readonly kind: 'update';
      readonly dispatch: number;
      readonly field: 'model' | 'structuredResult';
      readonly value: string;
    }
  /** All events are rewritten, or those with the secret, or none because the notice fails. Of `ids`, the first is that of the notice. */
  | {
      readonly kind: 'rewrite';
      readonly dispatch: number;
      readonly what: 'all' | 'secret' | 'fail';
      readonly ids: readonly string[];
    }
  | { readonly kind: 'accept loss'; readonly dispatch: number; readonly ids: readonly string[] }
  | { readonly kind: 'put task'; readonly task: number; readonly mark: string; readonly isNewer: boolean }
  | { readonly kind: 'read tasks' }
  | {
      readonly kind: 'list';
      readonly scope: 'store' | 'task' | 'internal';
      readonly limit: number;
      readonly order: 'oldest' | 'newest';
      readonly status: DispatchStatus | null;
    }
  | { readonly kind: 'search'; readonly word: string; readonly scope: 'store' | 'task' | 'dispatch' }
  /** The page after the last one of this opening. */
  | { readonly kind: 'follow'; readonly dispatch: number; readonly limit: number }
  /** A listener of the store, of the task, or of a dispatch. */
  | {
      readonly kind: 'watch';
      readonly dispatch: number | null;
      readonly scope: 'store' | 'task' | 'dispatch';
    }
  | { readonly kind: 'send letter'; readonly dispatch: number; readonly id: string }
  /** Lists the letters, and appends those that the log does not have. */
  | { readonly kind: 'take letters'; readonly dispatch: number }
  | { readonly kind: 'create newer'; readonly mark: string }
  | { readonly kind: 'use newer'; readonly how: 'read' | 'claim' | 'rewrite' | 'verify' };

/** The fields of an envelope that the simulation changes. */
export type Fields = Readonly<Record<'title' | 'status' | 'model' | 'structuredResult' | 'botId', string>>;

export type EventText = readonly [id: string, text: string];

export interface ListedEntry {
  readonly taskDir: string;
  readonly dispatchId: string | null;
  readonly startedAt: string | null;
  readonly fields: Fields | null;
  readonly code: string | null;
}

/** The result of a call, as plain data. */
export type ContractAnswer =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'positions'; readonly positions: readonly number[] }
  | { readonly kind: 'envelope'; readonly fields: Fields; readonly epoch: number | null }
  | { readonly kind: 'events'; readonly events: readonly EventText[]; readonly fields: Fields | null }
  | { readonly kind: 'damages'; readonly losses: number }
  | {
      readonly kind: 'page';
      readonly after: number;
      readonly first: number;
      readonly next: number;
      readonly events: readonly EventText[];
    }
  | { readonly kind: 'tasks'; readonly marks: readonly (string | null)[] }
  | { readonly kind: 'listing'; readonly entries: readonly ListedEntry[] }
  | { readonly kind: 'hits'; readonly hits: readonly (readonly [dispatchId: string, ...EventText])[] }
  /** `taken`: the letters that were appended, because the log did not have them. */
  | { readonly kind: 'letters'; readonly listed: readonly string[]; readonly taken: readonly string[] }
  /** The events of each dispatch in a copy of the store, or a code. */
  | { readonly kind: 'copy'; readonly dispatches: readonly (readonly EventText[] | string)[] }
  | { readonly kind: 'code'; readonly code: string };

/** What one opening of a store keeps between its calls. */
export interface OpeningState {
  readonly cursors: Map<number, number>;
  /** How many listeners it has added. */
  watches: number;
  /** Is called with the number of a listener. */
  readonly onHeard: (watch: number) => void;
}

export function numberOf(id: string): number {
  return Number(/(?<!\d)\d+$/.exec(id)?.[0] ?? 0);
}

/** Every fourth event has a secret. */
export function isSecret(id: string): boolean {
  return numberOf(id) % 4 === 0;
}

export function textOf(id: string): string {
  const word = isSecret(id) ? 'secret' : `word${numberOf(id) % 4}`;
  return `<${id}> ${word} ${'x'.repeat(id.length * 8)}`;
}

function eventOf(id: string, text: string = textOf(id)): CapturedEvent {
  return newEvent('agent:text', { text }, { id, timestamp: '2026-01-01T00:00:00.000Z' }) as CapturedEvent;
}

function startOf(mark: string): string {
  return `2026-03-01T09:${String(numberOf(mark) % 60).padStart(2, '0')}:00.000Z`;
}

export function inboxOf(dispatch: number): string {
  return `_hansard/inbox/d${dispatch}`;
}

function taskOf(task: number): string {
  return `lab/tasks/t${task}`;
}

function envelopeOf(dispatchId: string, mark: string, changes: object = {}): DispatchEnvelope {
  return {
    dispatchId,
    taskSlug: 'one',
    role: 'worker',
    title: mark,
    model: null,
    cwd: null,
    startedAt: startOf(mark),
    completedAt: null,
    status: 'running',
    ended: null,
    cost: null,
    usage: null,
    models: null,
    periods: null,
    prices: null,
    openCalls: null,
    folded: null,
    source: null,
    structuredResult: null,
    parentDispatchId: null,
    botId: null,
    fidelity: 'full',
    schemaVersion: 1,
    ...changes,
  };
}

function fieldsOf({ title, status, model, structuredResult, botId }: DispatchEnvelope): Fields {
  const result = structuredResult as string | null;
  const short = result === null ? 'null' : `${result.length} ${result.replace(/^r*/, '')}`;
  return { title: `${title}`, status, model: `${model}`, structuredResult: short, botId: `${botId}` };
}

function textsOf(events: readonly CapturedEvent[]): EventText[] {
  return events.map(({ id, data }) => [id, (data as { text: string }).text]);
}

/** Makes a call of a store, in steps. @throws StoreError */
export function* callStore(
  store: SynchronousStore,
  call: ContractCall,
  state: OpeningState,
): Steps<ContractAnswer> {
  if (!('dispatch' in call) || call.dispatch === null) return yield* callForAll(store, call, state);
  const id = `d${call.dispatch}`;
  switch (call.kind) {
    case 'create':
      yield* got(store.createDispatch(taskDir, envelopeOf(id, call.mark)));
      break;
    case 'claim': {
      const { envelope, epoch } = yield* got(store.claimDispatch(taskDir, id));
      return { kind: 'envelope', fields: fieldsOf(envelope), epoch };
    }
    case 'release':
      yield* got(store.releaseDispatch(taskDir, id));
      break;
    case 'break claim':
      yield* got(store.breakClaim(taskDir, id));
      break;
    case 'delete':
      yield* got(store.deleteDispatch(taskDir, id));
      break;
    case 'end':
      return yield* updated(store, id, { status: 'completed' });
    case 'update':
      return yield* updated(store, id, { [call.field]: call.value });
    case 'accept loss':
      for (const notice of call.ids) yield* got(store.acceptLoss(taskDir, id, eventOf(notice)));
      break;
    case 'verify': {
      // A loss of power can tear one copy of a head, which loses nothing: the next claim repairs it.
      const { damages } = yield* got(store.verifyDispatch(taskDir, id));
      return { kind: 'damages', losses: damages.filter(({ lostEvents }) => lostEvents !== 0).length };
    }
    default:
      return yield* callLog(store, call, id, state);
  }
  return { kind: 'nothing' };
}

function* updated(store: SynchronousStore, id: string, changes: object): Steps<ContractAnswer> {
  const envelope = yield* got(store.updateDispatch(taskDir, id, changes));
  return { kind: 'envelope', fields: fieldsOf(envelope), epoch: null };
}

type CallOf<Kind extends ContractCall['kind']> = Extract<ContractCall, { readonly kind: Kind }>;

function* callLog(
  store: SynchronousStore,
  call: CallOf<
    'append' | 'conflict' | 'rewrite' | 'read' | 'follow' | 'watch' | 'send letter' | 'take letters'
  >,
  id: string,
  state: OpeningState,
): Steps<ContractAnswer> {
  switch (call.kind) {
    case 'append': {
      const events = call.ids.map((one) => eventOf(one));
      const [first] = events;
      if (events.length === 1 && first !== undefined)
        return { kind: 'positions', positions: [yield* got(store.appendEvent(taskDir, id, first))] };
      return { kind: 'positions', positions: yield* got(store.appendEvents(taskDir, id, events)) };
    }
    case 'conflict':
      return {
        kind: 'positions',
        positions: [yield* got(store.appendEvent(taskDir, id, eventOf(call.id, `<${call.id}> other`)))],
      };
    case 'rewrite':
      return yield* rewrite(store, id, call);
    case 'read': {
      const envelope = yield* got(store.getDispatchEnvelope(taskDir, id));
      const fields = envelope === null ? null : fieldsOf(envelope);
      const events = yield* got(store.getDispatchEvents(taskDir, id));
      return { kind: 'events', events: textsOf(events), fields };
    }
    case 'follow': {
      const after = state.cursors.get(call.dispatch) ?? -1;
      const page = store.readEvents(taskDir, id, { after, limit: call.limit });
      const { first, next, events } = yield* got(page);
      state.cursors.set(call.dispatch, next);
      return { kind: 'page', after, first, next, events: textsOf(events) };
    }
    case 'watch':
      return yield* watch(store, { taskDir, dispatchId: id }, state);
    case 'send letter': {
      const message = { from: call.id, taskDir, source: { kind: 'user' }, text: call.id };
      const letter = envelopeOf(call.id, call.id, { status: 'completed', letter: message });
      yield* got(store.createDispatch(inboxOf(call.dispatch), letter));
      return { kind: 'nothing' };
    }
    case 'take letters':
      return yield* takeLetters(store, id, call.dispatch);
  }
}

function* watch(
  store: SynchronousStore,
  scope: Parameters<SynchronousStore['watch']>[0],
  state: OpeningState,
): Steps<ContractAnswer> {
  // By the order of the calls that succeeded: another one can be added meanwhile.
  let number: number | null = null;
  yield* got(store.watch(scope, () => number !== null && state.onHeard(number)));
  number = state.watches;
  state.watches += 1;
  return { kind: 'nothing' };
}

class Refusal extends Error {}

function* rewrite(
  store: SynchronousStore,
  id: string,
  { what, ids: [notice = ''] }: CallOf<'rewrite'>,
): Steps<ContractAnswer> {
  const changed = (event: CapturedEvent): CapturedEvent => {
    if (what === 'secret' && !isSecret(event.id)) return event;
    return {
      ...event,
      data: { text: `<${event.id}> ${what === 'secret' ? 'redacted' : `rewritten ${notice}`}` },
    };
  };
  try {
    yield* got(
      store.rewriteDispatch(taskDir, id, {
        envelope: (envelope) => ({ ...envelope, botId: notice }),
        event: changed,
        notice() {
          if (what === 'fail') throw new Refusal('no notice');
          return eventOf(notice, `<${notice}> rewritten notice`);
        },
      }),
    );
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  return { kind: 'nothing' };
}

function* takeLetters(store: SynchronousStore, id: string, dispatch: number): Steps<ContractAnswer> {
  const letters = yield* listAll(store, { taskDir: inboxOf(dispatch) });
  const listed = letters.flatMap(({ dispatchId }) => dispatchId ?? []);
  const known = new Set((yield* got(store.getDispatchEvents(taskDir, id))).map((event) => event.id));
  const taken = listed.filter((letter) => !known.has(letter));
  for (const letter of taken) yield* got(store.appendEvent(taskDir, id, eventOf(letter)));
  return { kind: 'letters', listed, taken };
}

function* listAll(
  store: SynchronousStore,
  options: NonNullable<Parameters<SynchronousStore['listDispatches']>[0]>,
): Steps<ListedEntry[]> {
  const entries: ListedEntry[] = [];
  for (let after: string | null = null, pages = 0; pages < 100; pages += 1) {
    const page: DispatchPage = yield* got(
      store.listDispatches(after === null ? options : { ...options, after }),
    );
    for (const { taskDir: task, dispatchId, envelope, error } of page.dispatches)
      entries.push({
        taskDir: task,
        dispatchId,
        startedAt: envelope?.startedAt ?? null,
        fields: envelope === null ? null : fieldsOf(envelope),
        code: error?.code ?? null,
      });
    after = page.next;
    if (after === null) break;
  }
  return entries;
}

function* callForAll(
  store: SynchronousStore,
  call: ContractCall,
  state: OpeningState,
): Steps<ContractAnswer> {
  switch (call.kind) {
    case 'put task':
      yield* got(store.putTask(taskOf(call.task), taskRecord(call.mark, call.isNewer)));
      return { kind: 'nothing' };
    case 'read tasks':
      return { kind: 'tasks', marks: yield* readTasks(store) };
    case 'list': {
      const { scope, limit, order, status } = call;
      const options = {
        limit,
        order,
        ...(scope === 'task' && { taskDir }),
        ...(scope === 'internal' && { internal: true }),
        ...(status !== null && { status: [status] }),
      };
      return { kind: 'listing', entries: yield* listAll(store, options) };
    }
    case 'search': {
      const scope = {
        ...(call.scope !== 'store' && { taskDir }),
        ...(call.scope === 'dispatch' && { dispatchId: 'd0' }),
      };
      const hits = yield* got(store.searchEvents(call.word, { ...scope, limit: 10_000 }));
      return {
        kind: 'hits',
        hits: hits.map(({ dispatchId, event }) => [dispatchId, ...(textsOf([event])[0] as EventText)]),
      };
    }
    case 'watch':
      return yield* watch(store, call.scope === 'store' ? {} : { taskDir }, state);
    case 'create newer':
      yield* got(
        store.createDispatch(taskDir, envelopeOf(newerId, call.mark, { status: 'paused', schemaVersion: 2 })),
      );
      return { kind: 'nothing' };
    case 'use newer':
      return { kind: 'code', code: yield* codeOf(() => useNewer(store, call.how)) };
    default:
      throw new Error(`${call.kind} without a dispatch`);
  }
}

function taskRecord(mark: string, isNewer: boolean): TaskRecord {
  const record = { slug: mark, name: mark, project: 'lab', status: 'open', created: startOf(mark) };
  return (isNewer ? { ...record, status: { is: 'open' } } : record) as unknown as TaskRecord;
}

/** The mark of each task, from its record and from the listing. */
function* readTasks(store: SynchronousStore): Steps<(string | null)[]> {
  const alone: (string | null)[] = [];
  for (let task = 0; task < tasks; task += 1) {
    let mark: string | null = null;
    const code = yield* codeOf(function* () {
      mark = (yield* got(store.findTask(taskOf(task))))?.name ?? null;
    });
    alone.push(code === 'none' ? mark : code);
  }
  const listed = new Map(
    (yield* got(store.listTasks())).map((one) => [one.taskDir, one.error?.code ?? one.task?.name ?? null]),
  );
  return [...alone, ...Array.from({ length: tasks }, (_, task) => listed.get(taskOf(task)) ?? null)];
}

function* useNewer(store: SynchronousStore, how: CallOf<'use newer'>['how']): Steps<unknown> {
  switch (how) {
    case 'read':
      return (yield* got(store.getDispatchEnvelope(taskDir, newerId))) === null ? missing() : null;
    case 'claim':
      return yield* got(store.claimDispatch(taskDir, newerId));
    case 'rewrite':
      return yield* got(
        store.rewriteDispatch(taskDir, newerId, { envelope: (one) => one, event: (one) => one }),
      );
    case 'verify':
      return yield* got(store.verifyDispatch(taskDir, newerId));
  }
}

function missing(): never {
  throw storeErrors.error('STORE_DISPATCH_NOT_FOUND', 'null', {});
}

/** The code of the error; `none` without one. A failing step of the machine is an error of the call. */
function* codeOf(work: () => Steps<unknown>): Steps<string> {
  try {
    yield* work();
    return 'none';
  } catch (error) {
    if (!storeErrors.is(error) || error.code === 'STORE_UNAVAILABLE') throw error;
    return error.code;
  }
}
