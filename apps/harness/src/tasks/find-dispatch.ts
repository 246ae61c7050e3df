import type { DispatchLog, DispatchRef, DispatchStore, ReadAccess } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { findNamed } from '@hansard/facts';
import {
  type DispatchListing,
  isStoreError,
  type ListDispatchesOptions,
  type StoreError,
} from '@hansard/provider';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { explainError } from '../terminal/explain-error.ts';
import { listChoices } from '../terminal/list-choices.ts';
import { toTaskName } from './task-name.ts';

/** The readable dispatches of a task, oldest first, and the errors of the others. */
export interface ReadableDispatches {
  readonly envelopes: readonly DispatchEnvelope[];
  readonly errors: readonly StoreError[];
}

type NamedListing = DispatchListing & { readonly dispatchId: string };

export async function listReadable(store: DispatchStore, taskDir: string): Promise<ReadableDispatches> {
  return readableOf(await listAll(store, { taskDir }));
}

export function readableOf(listings: readonly DispatchListing[]): ReadableDispatches {
  return {
    envelopes: listings.flatMap(({ envelope }) => envelope ?? []),
    errors: listings.flatMap(({ error }) => error ?? []),
  };
}

export async function listAll(
  store: DispatchStore,
  options: ListDispatchesOptions,
): Promise<readonly DispatchListing[]> {
  const listings: DispatchListing[] = [];
  for await (const listing of store.dispatches(options)) listings.push(listing);
  return listings;
}

/** The dispatches of a task, oldest first. Fails if there are none, or if one is unreadable. */
export async function findDispatches(
  store: DispatchStore,
  taskDir: string,
): Promise<readonly DispatchEnvelope[]> {
  const { envelopes, errors } = await listReadable(store, taskDir);
  if (errors[0] !== undefined) throw errors[0];
  if (envelopes.length === 0) throw noDispatch(taskDir);
  return envelopes;
}

/**
 * The readable dispatches of a task, oldest first, and an error that names each unreadable one. Fails if none is readable.
 */
export async function findReadable(
  store: DispatchStore,
  taskDir: string,
): Promise<{ readonly envelopes: readonly DispatchEnvelope[]; readonly failure: CliError | null }> {
  const { envelopes, errors } = await listReadable(store, taskDir);
  const [first] = errors;
  if (envelopes.length === 0) throw first ?? noDispatch(taskDir);
  if (first === undefined) return { envelopes, failure: null };
  const explained = errors.map(explainError);
  const worst = explained.find((one) => one.exitCode === exitCode.damaged) ?? explainError(first);
  const all = envelopes.length + errors.length;
  const count = `${errors.length} of ${all} dispatches of ${toTaskName(taskDir)} can't be read; the others are shown.`;
  const lines = explained.map(({ message }) => message);
  return { envelopes, failure: new CliError(worst.exitCode, [count, ...lines].join('\n  '), worst.advice) };
}

function noDispatch(taskDir: string): CliError {
  return new CliError(
    exitCode.failed,
    `${toTaskName(taskDir)} has no dispatches.`,
    '`hansard ls` lists the tasks and their dispatches.',
    { isMissing: true },
  );
}

/**
 * Opens the dispatch of a task that a text names: see `dispatchHelp`. `latest` fails beside an unreadable dispatch, which can
 * be the latest.
 */
export async function findDispatch(
  store: DispatchStore,
  taskDir: string,
  wanted: string,
  access: ReadAccess = {},
): Promise<DispatchLog> {
  if (wanted !== 'latest') {
    const exact = await openExactly(store, { taskDir, dispatchId: wanted }, access);
    if (exact !== null) return exact;
  }
  const { dispatchId } =
    wanted === 'latest'
      ? await latestDispatch(store, taskDir)
      : await fittingDispatch(store, taskDir, wanted);
  return store.openDispatch(taskDir, dispatchId, access);
}

/** The id of one dispatch of a task, named as for {@link findDispatch}. The dispatch can be damaged. */
export async function findDispatchId(store: DispatchStore, taskDir: string, wanted: string): Promise<string> {
  if (wanted === 'latest') return (await latestDispatch(store, taskDir)).dispatchId;
  const listings = await listAll(store, { taskDir });
  const exact = listings.find(({ dispatchId }) => dispatchId === wanted);
  return exact === undefined ? fittingListing(listings, taskDir, wanted).dispatchId : wanted;
}

async function latestDispatch(store: DispatchStore, taskDir: string): Promise<DispatchEnvelope> {
  return (await findDispatches(store, taskDir)).at(-1) as DispatchEnvelope;
}

/** The only dispatch that `wanted` names. */
async function fittingDispatch(
  store: DispatchStore,
  taskDir: string,
  wanted: string,
): Promise<DispatchEnvelope> {
  const { envelope, error } = fittingListing(await listAll(store, { taskDir }), taskDir, wanted);
  if (envelope === null) throw error;
  return envelope;
}

function fittingListing(listings: readonly DispatchListing[], taskDir: string, wanted: string): NamedListing {
  if (listings.length === 0) throw noDispatch(taskDir);
  for (const { dispatchId, error } of listings) if (dispatchId === null) throw error;
  const named = listings.filter((listing): listing is NamedListing => listing.dispatchId !== null);
  const answer = findNamed(named, wanted, ({ dispatchId, envelope }) => ({
    id: dispatchId,
    names: [envelope?.title ?? null, envelope?.role ?? null],
  }));
  if (answer.kind === 'found') return answer.item;
  const name = toTaskName(taskDir);
  const advice = `\`hansard ls ${name}\` lists them; the last characters of an id are enough, and so is "latest".`;
  throw answer.kind === 'unknown'
    ? new CliError(exitCode.failed, `${name} has no dispatch ${wanted}.`, advice)
    : new CliError(
        exitCode.failed,
        `${wanted} fits ${answer.items.length} dispatches of ${name}:${listChoices(answer.items.map(inWords))}`,
        advice,
      );
}

function inWords({ dispatchId, envelope }: NamedListing): string {
  if (envelope === null) return `${dispatchId}  unreadable`;
  const { role, status, startedAt, title } = envelope;
  return [dispatchId, role, status, startedAt, title ?? ''].filter(Boolean).join('  ');
}

/** Null for an unknown id, and for text that can't be an id. */
async function openExactly(
  store: DispatchStore,
  dispatch: DispatchRef,
  access: ReadAccess,
): Promise<DispatchLog | null> {
  try {
    return await store.openDispatch(dispatch, access);
  } catch (error) {
    if (isStoreError(error, 'STORE_INVALID_PATH') || isStoreError(error, 'STORE_DISPATCH_NOT_FOUND'))
      return null;
    throw error;
  }
}
