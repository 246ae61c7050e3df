import type { JsonObject } from '@hansard/events';
import {
  type Given,
  type Path,
  type Point,
  type Program,
  SessionWriter,
  seenBy,
  uuidOf,
  type World,
  type WrittenRow,
  type WrittenSession,
} from './written-sessions.ts';

const kinds = {
  old: ['resume', 'resume-print'],
  /** The rows that the model saw. */
  chain: ['fork-session', 'background', 'paid', 'branch'],
  /** All rows: as one line, or as the tree that they are. */
  all: ['branch-of-all', 'sdk'],
} as const;

export type CopyKind = (typeof kinds)['old' | 'chain' | 'all'][number];

/** The kinds of copies that the session allows in its current state. */
function kindsFor(
  { isOld, open, needsMarkers, hasKept, programs }: WrittenSession,
  { isChain, path }: Program,
) {
  if (open !== null || path.length === 0 || programs.some((one) => one.open.length > 0)) return [];
  if (isOld) return [...kinds.old];
  return [
    ...(isChain ? kinds.chain : []),
    ...(hasKept ? [] : ['branch-of-all' as const]),
    ...(hasKept || needsMarkers ? [] : ['sdk' as const]),
  ];
}

/** Writes a session that begins with a copy of another one. Null: the other one cannot be copied now. */
export function copySession(world: World, origin: WrittenSession): SessionWriter | null {
  const program = world.pick(origin.programs);
  const possible = kindsFor(origin, program);
  if (possible.length === 0 || origin.isMoved) return null;
  const kind: CopyKind = world.pick(possible);
  world.wait();
  if (kind === 'background' && world.chance(0.6)) new SessionWriter(world, origin).stopInTurn(program);
  const session = world.begin(origin.isOld);
  for (const one of [...origin.kinds, `copy: ${kind}`]) session.kinds.add(one);
  const isAll = kind === 'branch-of-all' || kind === 'sdk';
  const chain = isAll ? origin.rows : fromRoot(program);
  const rows = isAll || kind === 'background' ? chain : chain.slice(0, world.pick(endsIn(chain)));
  const copied = copyRows(world, { origin, session, kind, rows });
  if (kind === 'sdk') copyTree(origin, session, copied);
  else copyLine(session, program, rows, copied);
  if (kind === 'background') {
    const fields = { type: 'continued-in', sessionId: origin.id, continuedInSessionId: session.id };
    origin.lines.push({ ...fields, timestamp: world.now() });
    origin.isMoved = true;
    for (const one of origin.programs) one.open = [];
  }
  return new SessionWriter(world, session, kind === 'background' ? { sessionKind: 'bg' } : {});
}

/** The rows from the root that the last row hangs below. */
function fromRoot({ path, seenFrom }: Program): Path {
  return path.slice(Math.max(0, seenFrom - 1));
}

/** After how many rows a turn ends. */
function endsIn(rows: Path): number[] {
  const ends = rows.flatMap(({ block, record }, at) => {
    const { stop_reason: stop } = (record.message ?? {}) as JsonObject;
    return block?.kind === 'text' && stop === 'end_turn' ? [at + 1] : [];
  });
  return ends.length === 0 ? [rows.length] : ends;
}

interface Copying {
  readonly origin: WrittenSession;
  readonly session: WrittenSession;
  readonly kind: CopyKind;
  readonly rows: Path;
}

function copyRows(world: World, { origin, session, kind, rows }: Copying): Map<WrittenRow, WrittenRow> {
  const copied = new Map<WrittenRow, WrittenRow>();
  const uuids = new Map<unknown, string>();
  const now = world.now();
  const isNew = kind === 'sdk' || kind === 'resume-print';
  const isLine = kind === 'branch' || kind === 'branch-of-all' || kind === 'resume-print';
  for (const [at, row] of rows.entries()) {
    const { record } = row;
    const uuid = isNew ? world.id() : uuidOf(row);
    uuids.set(record.uuid, uuid);
    const above = isLine
      ? (session.rows.at(-1)?.record.uuid ?? null)
      : isNew
        ? (uuids.get(record.parentUuid) ?? null)
        : record.parentUuid;
    const logical = record.logicalParentUuid;
    const isAnswer = record.type === 'assistant';
    const from = { sessionId: origin.id, messageUuid: String(record.uuid) };
    const changed: JsonObject = {
      'fork-session': { sessionId: session.id },
      background: { sessionId: session.id, sessionKind: 'bg' },
      paid: {
        ...{ sessionId: session.id },
        ...(isAnswer && { requestSessionId: record.requestSessionId ?? record.sessionId ?? '' }),
      },
      branch: { sessionId: session.id, forkedFrom: from },
      'branch-of-all': { sessionId: session.id, forkedFrom: from },
      sdk: {
        ...{ sessionId: session.id, forkedFrom: from },
        ...(at === rows.length - 1 && { timestamp: now }),
        ...(logical !== undefined && { logicalParentUuid: uuids.get(logical) ?? null }),
      },
      resume: isAnswer ? { sessionId: session.id, timestamp: now } : {},
      'resume-print': { sessionId: session.id, timestamp: now },
    }[kind] as JsonObject;
    const copy = edited(world, session, {
      block: row.block,
      record: { ...record, ...changed, uuid, parentUuid: above ?? null },
    });
    copied.set(row, copy);
    session.rows.push(copy);
    session.lines.push(copy.record);
  }
  return copied;
}

/** Sometimes a copied answer is edited in its file. It is then another answer with the same message id. */
function edited(world: World, session: WrittenSession, { block, record }: WrittenRow): WrittenRow {
  const message = block?.message ?? null;
  const { stop_reason: stop, content } = (record.message ?? {}) as JsonObject;
  const isOnly = !session.rows.some((row) => row.block?.message?.key === message?.key);
  const isWhole = block?.kind === 'text' && stop === 'end_turn' && isOnly;
  if (block === null || message === null || session.isOld || !isWhole || !world.chance(0.06))
    return { block, record };
  const word = `w${world.next()}x`;
  const other = { ...block, key: word, word, message: { ...message, key: `${message.key} ${word}` } };
  session.kinds.add('edited copy');
  const [part] = content as JsonObject[];
  return {
    block: other,
    record: { ...record, message: { ...(record.message as JsonObject), content: [{ ...part, text: word }] } },
  };
}

/** The copy is the tree of its origin. */
function copyTree(
  origin: WrittenSession,
  session: WrittenSession,
  copied: ReadonlyMap<WrittenRow, WrittenRow>,
): void {
  const rowOf = (row: WrittenRow) => copied.get(row) ?? row;
  const pathOf = (path: Path) => path.map(rowOf);
  const uuids = new Map([...copied].map(([row, copy]) => [uuidOf(row), uuidOf(copy)]));
  for (const program of origin.programs)
    session.programs.push({
      ...program,
      path: pathOf(program.path),
      leaf: program.leaf === null ? null : (uuids.get(program.leaf) ?? null),
      points: pointsOf(program.points, copied),
    });
  for (const left of origin.left)
    session.left.push({ ...left, path: pathOf(left.path), points: pointsOf(left.points, copied) });
  for (const [uuid, { agent, path, seen }] of origin.given)
    if (agent === '')
      session.given.set(uuids.get(uuid) ?? uuid, { agent, path: pathOf(path), seen: pathOf(seen) });
}

function pointsOf(points: readonly Point[], copied: ReadonlyMap<WrittenRow, WrittenRow>): Point[] {
  const uuids = new Map([...copied].map(([row, copy]) => [uuidOf(row), uuidOf(copy)]));
  return points.flatMap(({ prompt, length, leaf }) => {
    const copy = copied.get(prompt);
    if (copy === undefined) return [];
    return [{ prompt: copy, length, leaf: leaf === null ? null : (uuids.get(leaf) ?? leaf) }];
  });
}

/** The copy is one line. */
function copyLine(
  session: WrittenSession,
  origin: Program,
  rows: Path,
  copied: ReadonlyMap<WrittenRow, WrittenRow>,
): void {
  const path = rows.map((row) => copied.get(row) ?? row);
  const seenFrom = Math.max(
    0,
    path.findLastIndex(({ block }) => block?.kind === 'summary'),
  );
  const points = path.flatMap((prompt, length) => {
    if (prompt.block?.kind !== 'prompt' || length <= seenFrom) return [];
    const leaf = prompt.record.parentUuid;
    return [{ prompt, length, leaf: typeof leaf === 'string' ? leaf : null }];
  });
  const last = path.at(-1);
  const open = origin.open.map((call) => copied.get(call) ?? call);
  const program: Program = {
    ...{ path, leaf: last === undefined ? null : uuidOf(last), seenFrom, kept: [], isChain: true },
    // A prompt without a row before goes back to nothing, which a compaction hides.
    points: points.filter(({ leaf }) => leaf !== null || seenFrom === 0),
    open,
  };
  session.programs.push(program);
  const begun = new Set<string>();
  for (const [at, row] of path.entries()) {
    const message = row.block?.message;
    if (message == null || begun.has(message.key)) continue;
    begun.add(message.key);
    session.given.set(uuidOf(row), givenAt(path, at));
  }
}

function givenAt(path: Path, at: number): Given {
  const before = path.slice(0, at);
  const seenFrom = Math.max(
    0,
    before.findLastIndex(({ block }) => block?.kind === 'summary'),
  );
  return { agent: '', path: before, seen: seenBy({ path: before, seenFrom, kept: [] }) };
}

/** Another session has the same prompts and answers with the same ids, and is not a copy: a gateway or a script gave them. */
export function repeatRows(world: World, session: WrittenSession): SessionWriter {
  const writer = new SessionWriter(world, session);
  const [program] = session.programs;
  const other = world.pick(world.sessions);
  const origin = other.programs[0];
  if (program === undefined || origin === undefined || other === session) return writer;
  const isPlain = ({ block }: WrittenRow) => block !== null && ['prompt', 'text'].includes(block.kind);
  if (session.isOld || other.isOld || !origin.path.slice(0, 2).every(isPlain)) return writer;
  session.kinds.add('repeated ids');
  for (const { block, record } of origin.path.slice(0, 2)) {
    if (block === null) continue;
    const { forkedFrom: _, requestSessionId: __, sessionKind: ___, ...fields } = record;
    const own = { uuid: world.id(), parentUuid: program.leaf, timestamp: world.now(), sessionId: session.id };
    const key = `${block.key} of ${session.id}`;
    const message =
      block.message === null ? null : { ...block.message, key: `${block.message.key} of ${session.id}` };
    const row = { block: { ...block, key, message }, record: { ...fields, ...own } };
    if (message !== null)
      session.given.set(uuidOf(row), { agent: '', path: program.path, seen: program.path });
    if (block.kind === 'prompt')
      program.points.push({ prompt: row, length: program.path.length, leaf: program.leaf });
    program.path = [...program.path, row];
    program.leaf = own.uuid;
    session.rows.push(row);
    session.lines.push(row.record);
  }
  return writer;
}
