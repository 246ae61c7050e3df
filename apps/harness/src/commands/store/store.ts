import { listAll, readableOf, storePlace } from '@hansard/compose';
import { excludedTask } from '@hansard/dispatch';
import type { Command } from 'commander';
import {
  type AddCommand,
  type CommonOptions,
  withCommonOptions,
  withExamples,
} from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';
import { plainTable } from '../../terminal/plain-table.ts';
import { answerFromStore } from '../../terminal/with-store.ts';
import { addAdopt } from './adopt.ts';
import { addDelete } from './delete.ts';
import { addSeal } from './seal.ts';
import { addSetup } from './setup.ts';
import { addUnlock } from './unlock.ts';
import { addVerify } from './verify.ts';

export const addStore: AddCommand = (command, context) => {
  addVerify(command, context);
  addUnlock(command, context);
  addAdopt(command, context);
  addDelete(command, context);
  addSeal(command, context);
  addInfo(command, context);
  addSetup(command, context);
  withExamples(
    command,
    'store verify',
    'store unlock 4K7Q',
    'store adopt research/route-models',
    'store delete 4K7Q',
    'store seal latest',
    'store info',
    'store setup',
  );
};

/** Adds `store info`: where the store is, how much is in it, and what it can do. */
function addInfo(parent: Command, context: CliContext): void {
  const command = parent
    .command('info')
    .description('print where the store is, how much is in it, and what it can do');
  withExamples(withCommonOptions(command), 'store info', 'store info --json').action(
    (options: CommonOptions) =>
      answerFromStore(context, options, async (harness) => {
        const { store, plugins } = harness;
        const [provider] = plugins.providers('DispatchStoreProvider');
        const tasks = await store.listTasks();
        const { envelopes, errors } = readableOf(await listAll(store, {}));
        const figures = {
          tasks: tasks.length,
          sessions: envelopes.length,
          running: envelopes.filter(({ status }) => status === 'running').length,
          unreadable: errors.length,
          excluded: (await listAll(store, { taskDir: excludedTask })).length,
        };
        const capabilities = { ...store.capabilities };
        const rows = [
          ['store', provider?.id ?? 'unknown'],
          ['place', storePlace(harness)],
          ...Object.entries(figures).map(([name, count]) => [name, count.toLocaleString('en')]),
          ...Object.entries(capabilities).map(([name, value]) => [name, inWords(value)]),
        ];
        return {
          rows: [{ store: provider?.id ?? null, place: storePlace(harness), ...figures, capabilities }],
          text: await plainTable(rows[0] ?? [], rows.slice(1)),
        };
      }),
  );
}

function inWords(value: unknown): string {
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
}
