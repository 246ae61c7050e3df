import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readableOf, resolveScope, toTaskName } from '@hansard/compose';
import type { DispatchStore } from '@hansard/dispatch';
import { messageOf } from '@hansard/events';
import { formatCount } from '@hansard/facts';
import { compareSeal, isSeal, type Seal, type SealedState, sealDispatch } from '@hansard/maintenance';
import type { Command } from 'commander';
import { printAnswer } from '../../terminal/answer.ts';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import { type CommonOptions, sessionHelp, withCommonOptions, withExamples } from '../../terminal/command.ts';
import { type CliContext, letInterrupt } from '../../terminal/context.ts';
import { shownTime } from '../../terminal/shown-time.ts';
import { withStore } from '../../terminal/with-store.ts';

/** Adds `store seal`: what a log is now, to be kept elsewhere. */
export function addSeal(parent: Command, context: CliContext): void {
  const command = parent
    .command('seal')
    .description('print the number of events of sessions and a checksum over them, as JSON to keep elsewhere')
    .argument('<session...>', `${sessionHelp}; a task stands for all its sessions`);
  withExamples(
    withCommonOptions(command),
    'store seal latest > shop.seal',
    'store seal research/route-models chat/cafe > ours.seal',
    'store verify --against ours.seal',
  ).action((words: readonly string[], options: CommonOptions) =>
    withStore(context, options, ({ store }) =>
      printAnswer(context, { json: true }, { rows: sealsOf(context, store, words), text: '' }),
    ),
  );
}

async function* sealsOf(
  context: CliContext,
  store: DispatchStore,
  words: readonly string[],
): AsyncGenerator<Seal> {
  for (const word of words) {
    const { taskDir, dispatchId, listings } = await resolveScope(store, word);
    const { envelopes, errors } = readableOf(listings);
    if (dispatchId === null && errors[0] !== undefined) throw errors[0];
    const ids = dispatchId === null ? envelopes.map((envelope) => envelope.dispatchId) : [dispatchId];
    for (const id of ids) {
      await letInterrupt(context);
      yield await sealDispatch(
        store,
        { taskDir, dispatchId: id },
        context.now === undefined ? {} : { now: context.now },
      );
    }
  }
}

interface Compared {
  readonly seal: Seal;
  readonly state: SealedState;
}

/** `store verify --against FILE`: compares sessions with their seals. @throws CliError if one is not what was sealed */
export async function verifyAgainst(
  context: CliContext,
  store: DispatchStore,
  file: string,
  options: CommonOptions,
): Promise<void> {
  const seals = readSeals(resolve(context.cwd, file), file);
  let wrong = 0;
  const compared = async function* (): AsyncGenerator<Compared> {
    for (const seal of seals) {
      await letInterrupt(context);
      const state = await compareSeal(store, seal);
      if (state.state === 'changed' || state.state === 'missing') wrong += 1;
      yield { seal, state };
    }
  };
  const rows = async function* () {
    for await (const { seal, state } of compared()) yield { ...seal, sealed: seal.events, ...state };
  };
  const text = async function* () {
    for await (const one of compared()) yield inWords(context, one);
  };
  await printAnswer(context, options, { rows: rows(), text: text() });
  if (wrong > 0)
    throw new CliError(
      exitCode.damaged,
      `${wrong} of ${formatCount(seals.length, 'session')} ${wrong === 1 ? 'is' : 'are'} not what was sealed.`,
      'A copy from the time of the seal shows what it was; `hansard store verify` finds bytes that are damaged.',
    );
}

function inWords(context: CliContext, { seal, state }: Compared): string {
  const name = `Session ${seal.dispatchId} of ${toTaskName(seal.taskDir)}`;
  const sealed = formatCount(seal.events, 'event');
  switch (state.state) {
    case 'same':
      return `${name}: same, ${sealed}.`;
    case 'missing':
      return `${name}: missing. The store has no such session.`;
    case 'continued':
      return `${name}: continued. The seal is of ${sealed}, which are the same; ${state.events - seal.events} more follow.`;
    case 'changed':
      return `${name}: changed. It has ${formatCount(state.events, 'event')}; the seal is of ${sealed}, and no redaction is noted.`;
    case 'rewritten': {
      const at = shownTime(context, state.at);
      return `${name}: rewritten by redaction${at === null ? '' : ` at ${at}`}, as a notice in its log says.`;
    }
  }
}

/** @throws CliError for a file that cannot be read, or has something else than seals */
function readSeals(path: string, name: string): Seal[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new CliError(
      exitCode.usage,
      `${name} can't be read: ${messageOf(cause)}`,
      'Name a file with seals.',
      { cause },
    );
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const seals = lines.map((line, at) => {
    const value = parse(line);
    if (isSeal(value)) return value;
    throw new CliError(
      exitCode.usage,
      `${name}:${at + 1} does not have a seal.`,
      'A seal is a line that `hansard store seal SESSION` printed.',
    );
  });
  if (seals.length > 0) return seals;
  throw new CliError(exitCode.usage, `${name} is empty.`, 'Make one: hansard store seal SESSION > FILE');
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
