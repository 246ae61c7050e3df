import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import type { InjectedFault, InjectedFaults } from '../../src/index.ts';
import type { ReferenceStore } from './reference-store.ts';
import type { World } from './world.ts';

/** The machine under a reference store: its calls can fail, its power can be lost, and the file of the store can be moved. */
export class Machine {
  /** Whether another program has moved the file. */
  isDisplaced = false;
  readonly #world: World;
  #onDisk: World['data'];
  #fault: InjectedFault | null = null;
  #calls = 0;
  #failed = 0;

  constructor(world: World) {
    this.#world = world;
    this.#onDisk = structuredClone(world.data);
  }

  readonly faults: InjectedFaults = {
    begin: (fault) => {
      this.#fault = fault;
      this.#calls = 0;
      this.#failed = 0;
    },
    end: () => {
      this.#fault = null;
      return this.#failed;
    },
  };

  /** A call of the system. @throws STORE_UNAVAILABLE if a fault makes it fail */
  call(): void {
    if (this.#fault === null) return;
    const { after, isLasting, kind } = this.#fault;
    this.#calls += 1;
    if (this.#calls !== after + 1 && !(isLasting && this.#calls > after)) return;
    this.#failed += 1;
    throw storeErrors.error('STORE_UNAVAILABLE', `The system refused: ${kind}.`, {
      isTransient: kind === 'EMFILE',
    });
  }

  /** Waits until everything is on the disk. */
  sync(): void {
    this.#onDisk = structuredClone(this.#world.data);
  }

  /** Takes the name of a dispatch from the disk. */
  forget(taskDir: string, dispatchId: string): void {
    this.#onDisk.dispatches.get(taskDir)?.delete(dispatchId);
  }

  losePower(): void {
    const { data, claims } = this.#world;
    claims.clear();
    const { tasks, dispatches } = structuredClone(this.#onDisk);
    data.tasks.clear();
    for (const [taskDir, task] of tasks) data.tasks.set(taskDir, task);
    data.dispatches.clear();
    for (const [taskDir, inTask] of dispatches) data.dispatches.set(taskDir, inTask);
  }

  /** @throws STORE_CORRUPT if the file was moved */
  assertInPlace(): void {
    if (this.isDisplaced)
      throw storeErrors.error('STORE_CORRUPT', 'The file was moved.', { details: { file: 'the log' } });
  }
}

/** The writes of a store, each of which needs the machine: one call before it, and the disk after it. */
export function onMachine(good: ReferenceStore, machine: Machine): DispatchStoreProvider {
  let isReported = false;
  const needing =
    <Args extends readonly unknown[], Answer>(work: (...args: Args) => Answer) =>
    (...args: Args): Answer => {
      isReported ||= machine.isDisplaced;
      machine.assertInPlace();
      machine.call();
      const answer = work(...args);
      machine.sync();
      return answer;
    };
  return {
    ...good,
    createDispatch: needing(good.createDispatch),
    claimDispatch: needing(good.claimDispatch),
    releaseDispatch: needing(good.releaseDispatch),
    updateDispatch: needing(good.updateDispatch),
    appendEvent: needing(good.appendEvent),
    appendEvents: needing(good.appendEvents),
    putTask: needing(good.putTask),
    close: () => {
      good.close();
      if (isReported) return;
      isReported = true;
      machine.assertInPlace();
    },
  };
}
