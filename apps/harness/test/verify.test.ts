import type { CapturedEvent } from '@hansard/events';
import type { DispatchVerification } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import type { Answer, CommandLine } from './command-line.ts';
import { durableStores, recordedIn, typed } from './durable-stores.ts';

interface Row extends DispatchVerification {
  readonly taskDir: string;
  readonly dispatchId: string;
}

const one = 'a/tasks/one';
const damagedArgs = ['store', 'verify', 'a/one/D2SECOND'] as const;

const textsIn = (answer: Answer) =>
  (answer.json() as CapturedEvent[]).flatMap(({ type, data }) =>
    type === 'agent:text' ? (data as { text: string }).text : [],
  );

describe.each(durableStores)('hansard store verify in the $name store', (store) => {
  /** The second event of D2SECOND has another letter than was written. */
  async function damaged(): Promise<CommandLine> {
    const line = await recordedIn(store);
    store.replaceInEvent(line.cwd, { dispatchId: 'D2SECOND', from: 'item two', to: 'item twa' });
    return line;
  }

  it('finds a healthy store whole, as text and as JSON', async () => {
    using line = await recordedIn(store);
    const { code, out, err } = await line.hansard('store', 'verify');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^3 sessions, 9 events, [\d,]+ bytes: all whole\.\n$/);
    const asJson = await line.hansard('store', 'verify', '--json');
    expect(asJson.code).toBe(0);
    expect(asJson.json()).toEqual(
      [
        [one, 'D1FIRST'],
        [one, 'D2SECOND'],
        ['b/tasks/two', 'D3OTHER'],
      ].map(([taskDir, dispatchId]) => ({
        taskDir,
        dispatchId,
        integrity: 'checksum',
        wholeEvents: 3,
        bytes: expect.any(Number),
        damages: [],
      })),
    );
    for (const { bytes } of asJson.json() as Row[]) expect(bytes).toBeGreaterThan(200);
  });

  it('verifies only the task or the dispatch that is named', async () => {
    using line = await damaged();
    expect(await line.hansard('store', 'verify', 'b/two')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^1 session, 3 events/),
    });
    expect((await line.hansard('store', 'verify', 'a/one', '--json')).json()).toHaveLength(2);
    expect(await line.hansard('store', 'verify', 'a/one/D1FIRST')).toMatchObject({ code: 0 });
    const unknown = await line.hansard('store', 'verify', 'a/one/NONE');
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('a/one has no session NONE')]);
  });

  it('names the place of a changed letter, verifies the other sessions, and exits with 3', async () => {
    using line = await damaged();
    const { code, out, err } = await line.hansard('store', 'verify');
    expect(code).toBe(3);
    expect(out).toContain('a/one D2SECOND: damaged, 2 whole events\n');
    expect(out).toMatch(/^ {2}\S.*, at \d+.*\(after 1 event; 1 event lost\)$/m);
    expect(out).toMatch(/^3 sessions, 8 events, [\d,]+ bytes: 1 damaged\.$/m);
    expect(err).toContain("1 of 3 sessions can't be read completely");
    expect(err).toContain('--accept-loss');
    const asJson = await line.hansard('store', 'verify', '--json');
    expect(asJson.code).toBe(3);
    expect(
      (asJson.json() as Row[]).map((row) => [row.dispatchId, row.wholeEvents, row.damages.length]),
    ).toEqual([
      ['D1FIRST', 3, 0],
      ['D2SECOND', 2, 1],
      ['D3OTHER', 3, 0],
    ]);
  });

  it.each(['D2SECOND', 'D2', 'SECOND', 'latest'])(
    'finds the damaged dispatch by the name %s',
    async (name) => {
      using line = await damaged();
      const { code, out } = await line.hansard('store', 'verify', `a/one/${name}`);
      expect([code, out]).toEqual([3, expect.stringMatching(/^a\/one D2SECOND: damaged/)]);
      expect(textsIn(await line.hansard('show', `a/one/${name}`, '--raw', '--damaged', '--json'))).toEqual([
        'item one',
        'item three',
      ]);
    },
  );

  it('leaves show refused, which reads the whole events with --damaged', async () => {
    using line = await damaged();
    for (const options of [[], ['--raw']]) {
      const refused = await line.hansard('show', 'a/one/D2SECOND', ...options);
      expect([refused.code, refused.err]).toEqual([3, expect.stringContaining('STORE_CORRUPT')]);
      const read = await line.hansard('show', 'a/one/D2SECOND', ...options, '--damaged');
      expect([read.code, read.err]).toEqual([0, '']);
      expect(read.out).toContain('item one');
      expect(read.out).toContain('item three');
      expect(read.out).not.toContain('item tw');
    }
  });

  describe('with --accept-loss', () => {
    it('is for one dispatch', async () => {
      using line = await damaged();
      const { code, err } = await line.hansard('store', 'verify', '--accept-loss', '--yes');
      expect([code, err]).toEqual([2, expect.stringContaining('Name it: hansard store verify SESSION')]);
      const several = await line.hansard('store', 'verify', 'a/one', '--accept-loss', '--yes');
      expect([several.code, several.err]).toEqual([1, expect.stringContaining('a/one has 2 sessions:')]);
    });

    it('changes nothing where nobody can answer and --yes is missing', async () => {
      using line = await damaged();
      const before = store.contentOf(line.cwd);
      const { code, err } = await line.hansard(...damagedArgs, '--accept-loss');
      expect([code, err]).toEqual([2, expect.stringContaining('The input is not a terminal')]);
      expect(err).toContain('Add --yes');
      expect(store.contentOf(line.cwd)).toBe(before);
    });

    it('changes nothing after the answer no', async () => {
      using line = await damaged();
      const before = store.contentOf(line.cwd);
      const { code, out, err } = await typed(line, [...damagedArgs, '--accept-loss'], 'n');
      expect([code, out]).toEqual([3, 'Session D2SECOND of a/one is unchanged.\n']);
      expect(err).toContain('Keep the 2 whole events and give up the rest? [y/N]');
      expect(store.contentOf(line.cwd)).toBe(before);
    });

    it.each([
      ['--yes', (line: CommandLine) => line.hansard(...damagedArgs, '--accept-loss', '--yes')],
      ['the answer yes', (line: CommandLine) => typed(line, [...damagedArgs, '--accept-loss'], 'y')],
    ])('after %s, keeps the whole events, a notice of the loss, and the damaged bytes', async (_, accept) => {
      using line = await damaged();
      expect(store.keptAsDamaged(line.cwd)).toBe('');
      const accepted = await accept(line);
      expect(accepted).toMatchObject({
        code: 0,
        out: expect.stringContaining('D2SECOND of a/one keeps 2 events'),
      });
      const verified = await line.hansard('store', 'verify');
      expect([verified.code, verified.out]).toEqual([
        0,
        expect.stringMatching(/^3 sessions, 9 events.*all whole/m),
      ]);
      const events = (
        await line.hansard('show', 'a/one/D2SECOND', '--raw', '--json')
      ).json() as CapturedEvent[];
      expect(events).toMatchObject([
        { type: 'agent:text', data: { text: 'item one' } },
        { type: 'agent:text', data: { text: 'item three' } },
        { type: 'system:notice', data: { wholeEvents: 2, lostEvents: 1, damages: [{ eventsBefore: 1 }] } },
      ]);
      const kept = store.keptAsDamaged(line.cwd);
      for (const text of ['item one', 'item twa', 'item three']) expect(kept).toContain(text);
    });

    it('says that a whole dispatch is whole, and does not change it', async () => {
      using line = await damaged();
      const before = store.contentOf(line.cwd);
      const { code, out } = await line.hansard('store', 'verify', 'a/one/D1FIRST', '--accept-loss');
      expect([code, out]).toEqual([0, 'Session D1FIRST of a/one is whole.\n']);
      expect(store.contentOf(line.cwd)).toBe(before);
    });
  });
});
