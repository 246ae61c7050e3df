import type { CapturedEvent, DispatchEnvelope } from '@hansard/provider';
import { dispatchId, late, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { type ClaimStep, type OpeningName, readsOf, runClaimSteps } from '../../model/model-steps.ts';
import { type CapabilityFlag, caseFamily } from '../../run/conformance-case.ts';

/** A case as steps of openings. The model says what each step must answer; at the end every opening reads everything. */
interface ClaimRow {
  readonly name: string;
  readonly title: string;
  readonly needs?: readonly CapabilityFlag[];
  /** A refusal because of another opening must name its process, in the message and in the details. */
  readonly namesOwner?: boolean;
  readonly steps: readonly (ClaimStep | readonly ClaimStep[])[];
}

const again = sampleEvent('event-1', 'other content');
const ended = { status: 'completed' } as const;
const shared = ['durability', 'writers'] as const;
const [a, b, c] = [stepsOf('A'), stepsOf('B'), stepsOf('C')];
/** The ids of the row of many claims. */
const manyIds = Array.from({ length: 200 }, (_, index) => `D${index}`);
/** The ids of the row `states`. The dispatch MISSING exists in another task only. */
const stateIds = ['OWN', 'ENDED', 'FREE', 'OTHER', 'MISSING'];
/** Lists of ids whose claims are asked for at once: in any order, repeated, none, and each after many that do not exist. */
const askedIds = [
  stateIds,
  stateIds.toReversed(),
  ['FREE', 'OTHER', 'FREE', 'OTHER'],
  [],
  stateIds.flatMap((id) => [...Array.from({ length: 400 }, (_, at) => `NONE-${id}-${at}`), id]),
];

const rowsOfOne: readonly ClaimRow[] = [
  {
    name: 'created-running',
    title: 'a dispatch that was created as running is claimed, and accepts every write at once',
    steps: [a.begin(prepared.events), a.update({ cost: 1 }), a.append(late)],
  },
  {
    name: 'created-ended',
    title: 'a dispatch that was created with another status is not claimed, and accepts no write until it is',
    steps: [a.create(ended), a.everyWrite(), a.claim(), a.batch(prepared.events)],
  },
  {
    name: 'append-claims-nothing',
    title: 'an append to a dispatch that is not claimed is STORE_LOCKED, each time, and adds nothing',
    steps: [a.create(ended), a.append(late), a.reads(), a.append(late)],
  },
  {
    name: 'batch-claims-nothing',
    title: 'a batch for a dispatch that is not claimed is STORE_LOCKED, each time, including an empty one',
    steps: [a.create(ended), a.batch([late]), a.reads(), a.batch([]), a.reads(), a.batch([late])],
  },
  {
    name: 'update-claims-nothing',
    title: 'an update of a dispatch that is not claimed is STORE_LOCKED, including one that sets it running',
    steps: [
      a.create(ended),
      ...[{ cost: 1 }, {}, { status: 'running' as const }, { cost: 1 }].map((updates) => [
        a.update(updates),
        ...a.reads(),
      ]),
    ],
  },
  {
    name: 'gives-the-envelope',
    title: 'a claim returns the current envelope',
    steps: [a.begin(), a.claim(), a.update({ status: 'crashed', cost: 2 }), a.release(), a.claim()],
  },
  {
    name: 'ended-dispatch',
    title: 'a dispatch that ended and was released accepts a late event after a claim, and stays ended',
    steps: [a.begin(prepared.events), a.update(ended), a.release(), a.claim(), a.append(late)],
  },
  {
    name: 'again',
    title: 'claiming a claimed dispatch again changes nothing, and one release releases it',
    steps: [
      a.begin(prepared.events),
      [a.claim(), a.claim(), a.claim()],
      a.append(late),
      a.reads(),
      a.release(),
      a.everyWrite(),
    ],
  },
  {
    name: 'lasts-beyond-the-end',
    title: 'a claim lasts until its release, whatever the status becomes',
    steps: [
      a.begin(prepared.events),
      ...(['completed', 'running', 'aborted', 'crashed'] as const).map((status) => [
        a.update({ status }),
        a.append(sampleEvent(`after-${status}`)),
      ]),
      a.reads(),
      a.release(),
      a.everyWrite(),
    ],
  },
  {
    name: 'release',
    title: 'a released dispatch accepts no write until it is claimed again, whether it runs or not',
    steps: [
      a.begin(prepared.events),
      ...(['running', 'completed'] as const).map((status) => [
        a.update({ status }),
        a.release(),
        ...a.everyWrite(),
        a.claim(),
      ]),
      a.append(late),
    ],
  },
  {
    name: 'release-unclaimed',
    title: 'releasing a dispatch that is not claimed changes nothing',
    steps: [a.create(ended), a.release(), a.release(), a.reads(), a.claim(), a.append(late)],
  },
  {
    name: 'one-dispatch',
    title:
      'a claim and a release affect one dispatch: no other one of the task, and none with its id in another task',
    steps: [
      a.begin(prepared.events),
      a.create({}, 'OTHER'),
      a.call('createDispatch', 'research/tasks/other', prepared.envelope),
      a.release(),
      a.append(late, 'OTHER'),
      a.call('appendEvent', 'research/tasks/other', dispatchId, late),
      a.call('releaseDispatch', 'research/tasks/other', dispatchId),
      a.claim(),
      a.call('appendEvent', 'research/tasks/other', dispatchId, sampleEvent('later')),
      a.call('getDispatchEvents', 'research/tasks/other', dispatchId),
    ],
  },
  {
    name: 'many',
    title: 'a store keeps the claims of 200 dispatches, even if it has not written to them for a long time',
    steps: [
      manyIds.map((id) => a.create({}, id)),
      manyIds.map((id) => a.append(late, id)),
      manyIds.slice(100).map((id) => a.release(id)),
      manyIds.map((id) => a.update({ cost: 1 }, id)),
    ],
  },
  {
    name: 'not-inherited',
    title: 'a new dispatch with the id of a deleted one has no claim of the old one; deleting needs no claim',
    needs: ['deleteDispatch'],
    steps: [a.begin(prepared.events), a.remove(), a.create(ended), a.everyWrite(), a.remove(), a.reads()],
  },
  {
    name: 'reopened',
    title: 'closing a store releases its claims, and opening it claims nothing',
    needs: ['durability'],
    steps: [a.begin(prepared.events), a.call('reopen'), a.everyWrite(), a.claim(), a.append(late)],
  },
  {
    name: 'kept-after-a-refusal',
    title: 'a refused write does not end the claim',
    steps: [
      a.begin(prepared.events),
      a.append(again),
      a.create(),
      a.call('readEvents', taskDir, dispatchId, { after: 99 }),
      a.append(late),
      a.update({ cost: 1 }),
    ],
  },
  {
    name: 'reading-needs-none',
    title: 'every read works without a claim, and claims nothing',
    steps: [
      a.call('putTask', taskDir, prepared.task),
      a.begin(prepared.events),
      a.release(),
      a.reads(),
      a.call('putTask', taskDir, prepared.task),
      a.append(late),
      a.update({ cost: 1 }),
    ],
  },
  {
    name: 'changes-no-data',
    title: 'claims and releases change no envelope, event, task or listing',
    steps: [a.create(ended), ...[1, 2, 3].map(() => [a.claim(), ...a.reads(), a.release(), ...a.reads()])],
  },
  {
    name: 'epoch-grows',
    title:
      'each claim of a dispatch has a greater epoch than the claims before it, and a repeated one the same',
    steps: [a.create(ended), ...[1, 2, 3, 4].map(() => [a.claim(), a.claim(), a.release()])],
  },
  {
    name: 'epoch-reopened',
    title: 'the epoch grows after the store was opened again',
    needs: ['durability'],
    steps: [a.begin(), a.claim(), a.call('reopen'), a.claim()],
  },
];

const rowsOfSeveral: readonly ClaimRow[] = [
  {
    name: 'second-claim-refused',
    title: 'a claim of a dispatch that another opening has claimed is STORE_LOCKED and names the owner',
    namesOwner: true,
    steps: [
      b.call('open'),
      a.begin(prepared.events),
      b.claim(),
      a.update(ended),
      b.claim(),
      a.release(),
      b.claim(),
      a.claim(),
      a.everyWrite(),
      b.append(late),
    ],
  },
  {
    name: 'writes-refused-beside',
    title:
      'no opening writes to a dispatch that another one has claimed, and an attempt does not change its claim',
    steps: [b.call('open'), a.begin(prepared.events), b.everyWrite(), b.release(), a.append(late)],
  },
  {
    name: 'passes-on-and-back',
    title: 'a dispatch passes from one opening to another and back, with the events of both',
    steps: [
      b.call('open'),
      a.begin(prepared.events),
      a.release(),
      ...[b, a, b, a].map((opening, turn) => [
        opening.claim(),
        opening.append(sampleEvent(`turn-${turn}`)),
        opening.update({ cost: turn }),
        opening.release(),
        ...a.reads(),
        ...b.reads(),
      ]),
    ],
  },
  {
    name: 'free-after-close',
    title: 'closing a store releases a running dispatch, an ended one and one that it only claimed',
    steps: [
      b.call('open'),
      a.create({}, 'RUNNING'),
      a.create({}, 'ENDED'),
      a.append(late, 'RUNNING'),
      a.update(ended, 'ENDED'),
      a.create(ended, 'CLAIMED'),
      a.claim('CLAIMED'),
      a.call('close'),
      ...['RUNNING', 'ENDED', 'CLAIMED'].map((id) => [b.claim(id), b.append(sampleEvent('later'), id)]),
    ],
  },
  {
    name: 'not-deleted-beside',
    title: 'deleting a dispatch that another opening has claimed is STORE_LOCKED, until it is released',
    needs: ['deleteDispatch'],
    steps: [
      b.call('open'),
      a.begin(prepared.events),
      b.remove(),
      a.reads(),
      a.release(),
      b.remove(),
      a.claim(),
      a.append(late),
    ],
  },
  {
    name: 'state',
    title: 'every opening sees whose claim a dispatch has, from its creation to its release',
    steps: [
      b.call('open'),
      a.begin(),
      [a.state(), b.state()],
      a.update(ended),
      b.state(),
      a.release(),
      [a.state(), b.state()],
      b.claim(),
      [a.state(), b.state()],
      b.call('close'),
      a.state(),
    ],
  },
  {
    name: 'state-of-an-ended-one',
    title: 'a dispatch that was created with another status than running is free',
    steps: [a.create(ended), a.state()],
  },
  {
    name: 'states',
    title:
      'the claims of several dispatches are those of each, in the order of the ids, with null for a free and for a missing one',
    steps: [
      b.call('open'),
      ['OWN', 'ENDED', 'FREE'].map((id) => a.create({}, id)),
      b.create({}, 'OTHER'),
      b.call('createDispatch', `${taskDir}/below`, sampleEnvelope('MISSING')),
      a.update(ended, 'ENDED'),
      a.release('FREE'),
      ...[a, b].map((opening) => [
        ...askedIds.map((ids) => opening.call('findClaims', taskDir, ids)),
        ...['OWN', 'ENDED', 'FREE', 'OTHER'].map((id) => opening.state(id)),
      ]),
    ],
  },
  {
    name: 'broken',
    title: 'an opening whose claim was broken gets STORE_LOCKED for every write until it claims again',
    steps: [
      b.call('open'),
      a.begin(prepared.events),
      b.breakClaim(),
      a.everyWrite(),
      b.state(),
      a.claim(),
      a.append(late),
    ],
  },
  {
    name: 'broken-and-taken',
    title: 'a broken claim can be taken at once, and the former owner writes nothing, even after its release',
    steps: [
      b.call('open'),
      a.begin(prepared.events),
      a.claim(),
      b.breakClaim(),
      b.claim(),
      b.append(sampleEvent('of-the-second')),
      a.everyWrite(),
      a.release(),
      b.append(late),
      b.release(),
      a.everyWrite(),
    ],
  },
  {
    name: 'broken-one-only',
    title: 'breaking one claim, or none, changes no other claim',
    steps: [
      b.call('open'),
      a.begin(prepared.events),
      a.create(ended, 'FREE'),
      [b.breakClaim('FREE'), b.breakClaim('FREE')],
      b.claim(),
      a.append(late),
      a.claim('FREE'),
      a.append(late, 'FREE'),
    ],
  },
];

/** No opening trusts what it knew before another one wrote. */
const rowsOfHandovers: readonly ClaimRow[] = [
  {
    name: 'reads-what-another-writes',
    title: 'each opening of a store that is opened twice reads the events of the other',
    steps: [
      b.call('open'),
      a.begin(prepared.events),
      a.call('putTask', taskDir, prepared.task),
      b.reads(),
      a.append(late),
      a.update({ cost: 1 }),
    ],
  },
  {
    name: 'second-writer-refused',
    title: 'a second writer of one dispatch is STORE_LOCKED, until the first has closed its store',
    steps: [
      a.begin(prepared.events),
      b.claim(),
      b.everyWrite(),
      a.append(sampleEvent('first')),
      a.call('close'),
      b.claim(),
      b.append(sampleEvent('second')),
    ],
  },
  {
    name: 'held-from-creation',
    title: 'a dispatch that was created running is STORE_LOCKED for a second writer before its first event',
    steps: [
      b.call('open'),
      a.begin(),
      b.claim(),
      b.reads(),
      a.call('close'),
      b.claim(),
      b.append(sampleEvent('second')),
    ],
  },
  {
    name: 'held-since-it-runs-again',
    title: 'a dispatch that was set running again is STORE_LOCKED for a second writer before its next event',
    steps: [
      b.call('open'),
      a.begin(),
      a.update(ended),
      a.update({ status: 'running' }),
      b.claim(),
      a.update(ended),
      a.release(),
      b.claim(),
      b.update({ status: 'crashed' }),
    ],
  },
  {
    name: 'held-since-a-claim',
    title: 'a running dispatch that a second writer has claimed is STORE_LOCKED for a third one',
    steps: [
      a.begin(),
      b.call('open'),
      c.call('open'),
      a.call('close'),
      b.claim(),
      c.claim(),
      b.update({ status: 'crashed' }),
      b.release(),
      c.claim(),
      c.update({ cost: 1 }),
    ],
  },
  {
    name: 'owner-named',
    title:
      'every STORE_LOCKED because of another opening names its process, in the message and in its details',
    namesOwner: true,
    steps: [
      a.begin(),
      b.claim(),
      b.removeIfPossible(),
      b.append(late),
      b.batch([late]),
      b.update({ cost: 1 }),
    ],
  },
  {
    name: 'close-frees-own-claims',
    title: 'closing an opening releases its own claims and those of no other',
    steps: [
      a.begin(prepared.events),
      b.call('open'),
      c.create({}, 'THIRD'),
      c.call('close'),
      b.claim(),
      b.claim('THIRD'),
      a.append(late),
    ],
  },
  {
    name: 'release-frees-one-claim',
    title: 'a release frees one dispatch for other openings, and no other dispatch',
    steps: [
      b.call('open'),
      ['A', 'B', 'C'].map((id) => a.create({}, id)),
      a.release('B'),
      b.claim('B'),
      ...['A', 'C'].map((id) => [b.claim(id), a.append(late, id)]),
      a.release('B'),
      b.append(late, 'B'),
    ],
  },
  {
    name: 'retry-after-handover',
    title: 'an opening that claims a dispatch again knows the events that another one appended meanwhile',
    steps: [
      b.call('open'),
      a.begin(prepared.events),
      [a.release(), b.claim()],
      b.batch(sampleEvents(3, 'second')),
      [b.release(), a.claim()],
      a.batch([...sampleEvents(3, 'second'), late]),
      a.append(sampleEvent('second-1', 'other content')),
    ],
  },
  {
    name: 'update-after-handover',
    title: 'an update keeps the fields that another opening has changed before',
    steps: [
      b.call('open'),
      a.begin(),
      a.update({ cost: 1 }),
      [a.release(), b.claim()],
      b.update({ title: 'of the second', cost: 2 }),
      [b.release(), a.claim()],
      a.update({ model: 'model-b' }),
    ],
  },
  {
    name: 'listed-beside',
    title: 'each opening lists the dispatches and tasks that another one has created since it last looked',
    steps: [
      b.call('open'),
      ...['A', 'B', 'C'].map((id, index) => {
        const [writer, reader] = index % 2 === 0 ? [a, b] : [b, a];
        const looks = [
          reader.call('getDispatchEnvelopes', taskDir),
          reader.call('listTasks'),
          reader.call('getDispatchEnvelope', taskDir, id),
        ];
        const task = { ...prepared.task, name: id };
        return [
          ...looks,
          writer.create({}, id),
          writer.call('putTask', `lab/${id}`, task),
          ...looks,
          reader.call('findTask', `lab/${id}`),
        ];
      }),
    ],
  },
  {
    name: 'ended-not-deleted-beside',
    title: 'an ended dispatch that another opening has claimed is not deleted, and keeps its events',
    needs: ['deleteDispatch'],
    steps: [a.create(ended), a.claim(), a.batch(prepared.events), b.remove(), b.reads(), a.append(late)],
  },
  {
    name: 'replaced-beside',
    title: 'an opening that has read a dispatch reads the one that replaced it, and none of the old events',
    needs: ['deleteDispatch'],
    steps: [
      b.call('open'),
      a.begin(prepared.events),
      b.reads(),
      a.remove(),
      b.reads(),
      a.create({ role: 'replacement' }),
      a.append(sampleEvent('event-0', 'of the replacement')),
    ],
  },
  {
    name: 'created-after-loss',
    title:
      'an opening that lost a dispatch, which was then deleted, creates it again with a claim that counts',
    needs: ['deleteDispatch'],
    steps: [
      b.call('open'),
      a.begin(prepared.events),
      b.breakClaim(),
      b.claim(),
      b.remove(),
      a.create({ role: 'second' }),
      b.claim(),
      a.append(late),
    ],
  },
  {
    name: 'broken-after-loss',
    title: 'an opening that lost a dispatch, which was then deleted, has no claim of it to break',
    needs: ['deleteDispatch'],
    steps: [b.call('open'), a.begin(prepared.events), b.breakClaim(), b.claim(), b.remove(), a.breakClaim()],
  },
];

/** One table: what openings do with the claims of a dispatch, each step with the outcome that the model computes. */
export const claimCases = [
  ...caseFamily('claims', [...rowsOfOne, ...rowsOfSeveral.map(ofSeveral)].map(toCase)),
  ...caseFamily('shared', rowsOfHandovers.map(ofSeveral).map(toCase)),
];

function ofSeveral(row: ClaimRow): ClaimRow {
  return { ...row, needs: [...shared, ...(row.needs ?? [])] };
}

function toCase({ steps, namesOwner, ...row }: ClaimRow) {
  return {
    ...row,
    rule: 6,
    run: (context: Parameters<typeof runClaimSteps>[0]) => runClaimSteps(context, steps.flat(), namesOwner),
  };
}

/** The steps of one opening, on the dispatch of most rows unless an id is given. */
function stepsOf(opening: OpeningName) {
  const call = (method: string, ...args: readonly unknown[]): ClaimStep => ({ opening, method, args });
  const create = (fields: Partial<DispatchEnvelope> = {}, id = dispatchId) =>
    call('createDispatch', taskDir, sampleEnvelope(id, fields));
  const append = (event: CapturedEvent, id = dispatchId) => call('appendEvent', taskDir, id, event);
  const batch = (events: readonly CapturedEvent[]) => call('appendEvents', taskDir, dispatchId, events);
  const update = (updates: Partial<DispatchEnvelope>, id = dispatchId) =>
    call('updateDispatch', taskDir, id, updates);
  const reads = () => readsOf(opening);
  const writes = [
    append(late),
    batch([late]),
    batch([]),
    append(prepared.events[0] ?? late),
    update({ cost: 1 }),
    update({ status: 'running' }),
    update({}),
  ];
  return {
    call,
    create,
    append,
    batch,
    update,
    reads,
    /** Creates the dispatch as running, with these events. */
    begin: (events: readonly CapturedEvent[] = []) => [
      create(),
      ...(events.length > 0 ? [batch(events)] : []),
    ],
    claim: (id = dispatchId) => call('claimDispatch', taskDir, id),
    release: (id = dispatchId) => call('releaseDispatch', taskDir, id),
    remove: () => call('deleteDispatch', taskDir, dispatchId),
    /** A step that a store without `deleteDispatch` leaves out. */
    removeIfPossible: () => ({ ...call('deleteDispatch', taskDir, dispatchId), isOptional: true }),
    state: (id = dispatchId) => call('findClaim', taskDir, id),
    breakClaim: (id = dispatchId) => call('breakClaim', taskDir, id),
    /** Each write twice, between reads. */
    everyWrite: () => [...reads(), ...writes, ...writes, ...reads()],
  };
}
