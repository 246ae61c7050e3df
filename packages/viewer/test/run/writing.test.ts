import { expect, it } from 'vitest';
import { RunState } from '../../src/page/live.ts';
import { openStore, taskDir } from '../viewed.ts';
import { play } from './writing-play.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));

/** The faults of some rounds, which are played at the same time. */
async function played(newState: () => RunState, { rounds = 1, first = 0 } = {}): Promise<readonly string[]> {
  const store = await openStore();
  const all = Array.from({ length: rounds }, async (_, round) => {
    await using dispatch = await store.beginDispatch(taskDir, { role: 'worker' });
    return await play(dispatch, seed + first + round, newState);
  });
  return (await Promise.all(all)).flat();
}

it(`pages show each text until they have its row, never twice, never lost, and in the end what the log has (HANSARD_SEED=${seed})`, async () => {
  expect(await played(() => new RunState(), { rounds: 8 })).toEqual([]);
});

/** Forgets no text when its row comes. */
class Doubling extends RunState {
  override rowsTo(): void {}
}

/** Forgets a text before its row comes. */
class Losing extends RunState {
  override received(message: Parameters<RunState['received']>[0]): void {
    super.received({ ...message, ended: message.ended.map(({ key }) => ({ key, position: null })) });
  }
}

/** Forgets nothing after a lost connection. */
class Keeping extends RunState {
  override received(message: Parameters<RunState['received']>[0]): void {
    super.received({ ...message, isFirst: false });
  }
}

/** Takes every piece for a whole text. */
class Replacing extends RunState {
  override received(message: Parameters<RunState['received']>[0]): void {
    super.received({ ...message, texts: message.texts.map((piece) => ({ ...piece, from: -1 })) });
  }
}

it.each([
  ['shows texts beside their rows', () => new Doubling(), 'is also in row'],
  ['forgets texts before their rows are there', () => new Losing(), 'was shown and is lost'],
  ['keeps texts of a lost connection', () => new Keeping(), 'shows other texts than are open'],
  ['shows pieces as whole texts', () => new Replacing(), 'is not what was written'],
])(`catches a page that %s (HANSARD_SEED=${seed})`, async (_what, newState, fault) => {
  const faults: string[] = [];
  for (let first = 0; first < 20 && !faults.join().includes(fault); first += 2)
    faults.push(...(await played(newState, { rounds: 2, first })));
  expect(faults.join()).toContain(fault);
});
