import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SessionsFound } from '@hansard/compose/reading';
import { writeTrainingData } from '@hansard/datasets';
import {
  type DispatchStore,
  type ListedDispatch,
  openDispatchStore,
  openTaskSource,
  usageOf,
} from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { CopyFinder, openCallEvents, sessionToCompare } from '@hansard/facts';
import { importLogs, logImporters } from '@hansard/import';
import { renderCalls, TranscriptTree } from '@hansard/prompt';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { createLogIndex, knowledgeOf, type LogIndex } from '@hansard/views';
import { abandonedIn, trainedIn, WorldTruth } from './world-truth.ts';
import { type Block, type Path, uuidOf, type WrittenSession } from './written-sessions.ts';
import { WrittenWorld } from './written-world.ts';

const task = 'lab/trees';

/** What reads the files, or broken ones. */
export const readers = {
  ...{ importLogs, importers: logImporters, usageOf, openTaskSource, writeTrainingData, SessionsFound },
  ...{ TranscriptTree, renderCalls, createLogIndex, knowledgeOf, CopyFinder },
  /** Called for each comparison. */
  onCompared: (_what: string): void => {},
};

export type Readers = typeof readers;

interface ReadSession {
  readonly written: WrittenSession;
  readonly envelope: DispatchEnvelope;
  readonly events: readonly CapturedEvent[];
}

/** A random world whose files were imported as they grew. */
export interface ReadWorld {
  readonly seed: number;
  readonly made: WrittenWorld;
  readonly store: DispatchStore;
  readonly listed: readonly ListedDispatch[];
  readonly sessions: readonly ReadSession[];
}

/** Writes the files of a random world and imports them as they grow. The caller closes the store. */
export async function readWorld(seed: number, tools: Readers = readers): Promise<ReadWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-trees-'));
  const store = openDispatchStore(createMemoryStore());
  try {
    const made = new WrittenWorld(seed);
    await made.grow(folder, async (paths) => {
      for await (const item of tools.importLogs(store, paths, { task, importers: tools.importers }))
        if (item.kind === 'failed') throw item.error;
    });
    const listed: ListedDispatch[] = [];
    for await (const entry of store.dispatches()) if (!('error' in entry)) listed.push(entry);
    const sessions: ReadSession[] = [];
    for (const { envelope } of listed) {
      const written = made.sessions.find(({ id }) => id === nameOf(envelope));
      if (written === undefined) throw new Error(`The session ${nameOf(envelope)} was not written.`);
      sessions.push({
        ...{ written, envelope },
        events: await store.getDispatchEvents(task, envelope.dispatchId),
      });
    }
    return { seed, made, store, listed, sessions };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The first difference in the reading of a world. Null if there is none. */
export async function differenceOf(read: ReadWorld, tools: Readers = readers): Promise<string | null> {
  const { made, sessions } = read;
  if (sessions.length !== made.sessions.length)
    return `${sessions.length} sessions, not ${made.sessions.length}`;
  for (const session of sessions) {
    const wrong = inSession(session, tools);
    if (wrong !== null) return `${session.written.id}: ${wrong}`;
  }
  return (
    inCopies(read, tools) ??
    (await inSums(read, tools)) ??
    (await inTraining(read, tools)) ??
    (await inSearch(read, tools))
  );
}

/** The first difference in the reading of a seed's world. Null if there is none. */
export async function differenceIn(seed: number, tools: Readers = readers): Promise<string | null> {
  const read = await readWorld(seed, tools);
  await using _ = read.store;
  return await differenceOf(read, tools);
}

const nameOf = ({ source }: DispatchEnvelope) => source?.files[0]?.name.replace('.jsonl', '');

/** The record that an event was made of. */
const rowOf = ({ id }: Pick<CapturedEvent, 'id'>) => id.replace(/\.\d+$/, '');

function differ(what: string, is: readonly string[], should: readonly string[]): string | null {
  if (is.join() === should.join()) return null;
  const more = is.filter((one) => !should.includes(one));
  const less = should.filter((one) => !is.includes(one));
  return `${what} has ${more.join() || 'nothing'} too much, and lacks ${less.join() || 'nothing'}${more.length + less.length > 0 ? '' : `: ${is.join()}, not ${should.join()}`}`;
}

const wordsIn = (value: unknown) => [...new Set(JSON.stringify(value).match(/w\d+x/g) ?? [])];

const blocksOf = (path: Path) => path.flatMap(({ block }) => (block === null ? [] : [block]));

/** The words of a prompt: the rows of a message stand together, and each result where its call does among the calls. */
function promptWords(seen: Path): string[] {
  const blocks: Block[] = [];
  for (const block of blocksOf(seen)) {
    const { message } = block;
    const last = message === null ? -1 : blocks.findLastIndex((one) => one.message?.key === message.key);
    blocks.splice(last < 0 ? blocks.length : last + 1, 0, block);
  }
  const callOf = new Map(
    blocks.flatMap((block, at) => (block.kind === 'call' ? [[block.callId, at] as const] : [])),
  );
  const words: string[] = [];
  for (let at = 0; at < blocks.length; at += 1) {
    const run = blocks.slice(at).findIndex(({ kind }) => kind !== 'result');
    const end = run < 0 ? blocks.length : at + Math.max(run, 1);
    const part = blocks.slice(at, end);
    if (part[0]?.kind === 'result')
      part.sort((a, b) => (callOf.get(a.callId) ?? 0) - (callOf.get(b.callId) ?? 0));
    words.push(...part.map(({ word }) => word));
    at = end - 1;
  }
  return [...new Set(words)];
}

interface IndexedSession extends ReadSession {
  readonly index: LogIndex;
}

function inSession(read: ReadSession, tools: Readers): string | null {
  const session = { ...read, index: tools.createLogIndex(read.events) };
  return (
    inPaths(session, tools) ??
    inPrompts(session, tools) ??
    inKnowledge(session, tools) ??
    inBranches(session, tools) ??
    inHearings(session, tools)
  );
}

function inPaths({ written, events }: ReadSession, tools: Readers): string | null {
  const tree = new tools.TranscriptTree<CapturedEvent>();
  for (const event of events) tree.add(event, event);
  if (tree.problems.length > 0) return JSON.stringify(tree.problems);
  for (const [answer, { path }] of written.given) {
    const values = tree.pathBefore(answer)?.values ?? [];
    const is = values.filter(({ type }) => type !== 'agent:inference').map(rowOf);
    const should = path.flatMap((row) => (row.block === null ? [] : [uuidOf(row)]));
    tools.onCompared('paths');
    const wrong = differ(`path of ${answer}`, [...new Set(is)], should);
    if (wrong !== null) return wrong;
  }
  return null;
}

function inPrompts({ written, events }: ReadSession, tools: Readers): string | null {
  const byMessage = new Map<string, string>();
  for (const row of [...written.rows, ...written.agents.flatMap(({ rows }) => rows)])
    if (written.given.has(uuidOf(row)) && row.block?.message != null)
      byMessage.set(row.block.message.id, uuidOf(row));
  let calls = 0;
  for (const { inference, messages } of tools.renderCalls(events)) {
    const answer = byMessage.get(inference.messageId ?? '') ?? '';
    const given = written.given.get(answer);
    if (given === undefined) return `${inference.id} was not written`;
    calls += 1;
    tools.onCompared('prompts');
    const wrong = differ(`prompt of ${answer}`, wordsIn(messages), promptWords(given.seen));
    if (wrong !== null) return wrong;
  }
  const open = written.given.size - calls;
  return open < 0 || open > 2 + written.agents.length ? `${calls} prompts of ${written.given.size}` : null;
}

function inKnowledge({ written, index }: IndexedSession, tools: Readers): string | null {
  for (const [answer, { seen }] of written.given) {
    const node = index.eventWithId(answer);
    const known = node === null ? null : tools.knowledgeOf(index).answerOf(node);
    if (known === null) return `${answer} is not known`;
    const is = known.given.map(({ node: { event } }) => event.messageId ?? rowOf(event));
    const should = [
      ...new Set(seen.flatMap((row) => (row.block === null ? [] : [row.block.message?.id ?? uuidOf(row)]))),
    ];
    tools.onCompared('given');
    const wrong = differ(`given to ${answer}`, [...new Set(is)].sort(), should.sort());
    if (wrong !== null) return wrong;
  }
  return null;
}

const entryTypes = /^(user:message|agent:(text|tool_call|tool_result)|session:compaction)$/;

function inBranches({ written, envelope, index }: IndexedSession, tools: Readers): string | null {
  tools.onCompared('branches');
  const { openRewind = null } = envelope.source ?? {};
  const { open, programs, current } = written;
  const is = openRewind === null ? 'none' : `${openRewind.keptThrough}`;
  const should = open === null || isNothing(open) ? 'none' : `${open.keptThrough}`;
  if (is.replace(/\.\d+$/, '') !== should) return `the open rewind is ${is}, not ${should}`;
  const own = index.nodes.filter(({ event }) => event.agentId === undefined && entryTypes.test(event.type));
  const abandoned = own.filter((node) => index.fateOf(node) === 'abandoned').map(({ event }) => rowOf(event));
  const left = [...abandonedIn(written)].sort();
  if (programs.length === 1) return differ('abandoned', [...new Set(abandoned)].sort(), left);
  // A program that has not prompted since another one did looks like a prompt that was taken back.
  const found = new Set(abandoned);
  const lost = (current?.path ?? []).filter((row) => found.has(uuidOf(row))).map(uuidOf);
  return (
    differ(
      'abandoned',
      left.filter((id) => found.has(id)),
      left,
    ) ?? differ('lost', lost, [])
  );
}

/** Whether a marker names the end of the conversation. */
function isNothing({ keptThrough, before }: NonNullable<WrittenSession['open']>): boolean {
  const last = before.findLast(({ block }) => block !== null);
  return last !== undefined && uuidOf(last) === keptThrough;
}

function inHearings({ written, index }: IndexedSession, tools: Readers): string | null {
  const abandoned = abandonedIn(written);
  const isShared = written.programs.length > 1;
  for (const { answer, heardIn } of written.agents) {
    if (answer === null) continue;
    const saying = index.sayings.find(({ id }) => id === uuidOf(answer));
    if (saying === undefined) return `${uuidOf(answer)} was not said`;
    const is = saying.hearings.map(
      ({ agentId, event, fate = 'has it' }) => `${agentId} ${rowOf(event)} ${isShared ? '' : fate}`,
    );
    const at = heardIn === null ? '' : uuidOf(heardIn.row);
    const fate = isShared ? '' : abandoned.has(at) ? 'abandoned' : 'has it';
    const should = heardIn === null ? [] : [`${heardIn.agent} ${at} ${fate}`];
    tools.onCompared('hearings');
    const wrong = differ(`heard of ${uuidOf(answer)}`, is, should);
    if (wrong !== null) return wrong;
  }
  return null;
}

async function inSums({ seed, made, store, listed }: ReadWorld, tools: Readers): Promise<string | null> {
  const random = randomFrom(seed);
  const some = listed.filter(() => random() < 0.5);
  for (const seen of [listed, some, ...listed.map((one) => [one])]) {
    const names = new Set(seen.map(({ envelope }) => nameOf(envelope)));
    const { rows } = await tools.usageOf(store, { by: ['day', 'model'], zone: 'utc', dispatches: seen });
    const cells = rows.flatMap(({ values, modelCalls, inputTokens, outputTokens }) =>
      modelCalls === 0 || modelCalls === null
        ? []
        : [`${values.join(' ')}: ${modelCalls} calls, ${(inputTokens ?? 0) + (outputTokens ?? 0)}`],
    );
    const right = new WorldTruth(made.sessions.filter(({ id }) => names.has(id))).cells();
    const should = Object.entries(right).map(([key, cell]) => `${key}: ${cell}`);
    tools.onCompared('usage per day and model');
    const wrong = differ(`usage of ${[...names].join()}`, cells.sort(), should.sort());
    if (wrong !== null) return wrong;
  }
  return null;
}

async function inTraining({ made, store, sessions }: ReadWorld, tools: Readers): Promise<string | null> {
  const source = await tools.openTaskSource(store, task);
  const is: string[] = [];
  const lines = tools.writeTrainingData(source, { format: 'trl' });
  let next = await lines.next();
  for (; next.done !== true; next = await lines.next()) {
    const { prompt, metadata } = JSON.parse(next.value);
    const written = sessions.find(({ envelope }) => envelope.dispatchId === metadata.dispatch_id)?.written;
    const given = written?.given.get(rowOf({ id: metadata.event_id }));
    if (given === undefined) return `the row of ${JSON.stringify(metadata)} was not written`;
    tools.onCompared('training rows');
    const wrong = differ(`row of ${metadata.event_id}`, wordsIn(prompt), promptWords(given.seen));
    if (wrong !== null) return wrong;
    is.push(`${written?.id} ${metadata.event_id}`);
  }
  const trained = new Map(made.sessions.map((session) => [session, trainedIn(session)]));
  const should = new WorldTruth(made.sessions).messages().flatMap(({ session, rows: [first] }) => {
    const id = first === undefined ? '' : uuidOf(first);
    return trained.get(session)?.has(id) === true ? [`${session.id} ${id}`] : [];
  });
  // Answers that equal another one after equal prompts are counted, and the first of them are named.
  const { count = 0, first = [] } = next.value.dropped.duplicate ?? {};
  const named = should.filter((one) => first.some((id) => one.endsWith(` ${id}`)));
  const duplicates = named.filter((one) => !is.includes(one));
  if (duplicates.length !== first.length || (count > first.length && should.length !== is.length + count))
    return `trained: ${count} duplicates, of which ${duplicates.length} of ${first.length} can be trained`;
  if (count > first.length) return null;
  return differ('trained', [...is, ...duplicates].sort(), should.sort());
}

/** Each row that another session has first is a copy, and no other one. */
function inCopies({ made, sessions }: ReadWorld, tools: Readers): string | null {
  const finder = new tools.CopyFinder();
  for (const { envelope, events } of sessions) {
    finder.begin(sessionToCompare(envelope));
    for (const event of [...events, ...openCallEvents(envelope, () => false)]) finder.add(event);
  }
  const found = finder.find();
  const owned = new Set(new WorldTruth(made.sessions).rows().map(({ row }) => row));
  for (const { written, envelope } of sessions) {
    const copied = new Set(
      [...(found.get(envelope.dispatchId)?.copied.keys() ?? [])].map((id) => rowOf({ id })),
    );
    const rows = written.rows.filter(({ block }) => block !== null);
    const is = rows.filter((row) => copied.has(uuidOf(row))).map(uuidOf);
    const should = rows.filter((row) => !owned.has(row)).map(uuidOf);
    tools.onCompared('copies');
    const wrong = differ(`${written.id}: copied`, is, should);
    if (wrong !== null) return wrong;
  }
  return null;
}

async function inSearch({ seed, made, store, sessions }: ReadWorld, tools: Readers): Promise<string | null> {
  const plain = new Set(['prompt', 'result', 'text', 'summary']);
  const rows = new WorldTruth(made.sessions).rows();
  const counts = new Map<string, number>();
  for (const { block } of rows) counts.set(block.word, (counts.get(block.word) ?? 0) + 1);
  const asked = rows.filter(({ block }) => plain.has(block.kind));
  const random = randomFrom(seed);
  for (const { block } of asked.slice(Math.floor(random() * asked.length)).slice(0, 1)) {
    const search = new tools.SessionsFound(store, {
      ...{ text: block.word, scope: null, limit: 20, withRecords: false },
      ...{ signal: new AbortController().signal, request: { isOpen: true } as never },
      onSession: async () => {},
      onIndexed: () => {},
    });
    const is: string[] = [];
    for await (const { hits, dispatchId } of search.hits()) {
      const name = sessions.find(({ envelope }) => envelope.dispatchId === dispatchId)?.written.id;
      for (const { event } of hits) is.push(`${name} ${rowOf(event)}`);
    }
    const should = rows
      .filter((one) => one.block.word === block.word)
      .map(({ session, row }) => `${session.id} ${uuidOf(row)}`);
    tools.onCompared('searches');
    const wrong = differ(`found ${block.word}`, is.sort(), should.sort());
    if (wrong !== null) return wrong;
  }
  return null;
}
