import { execFile } from 'node:child_process';
import { cpSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { temporaryPath } from '../temporary-store.ts';

const plugin = join(import.meta.dirname, '../..');
const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 31));

interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Faults that the checks of damaged rows must find. */
const mutants: readonly Mutant[] = [
  {
    name: 'no chain: each checksum starts from zero',
    file: 'database/decode.ts',
    from: 'checksumOf(line, (previous ^ batch) >>> 0)',
    to: 'checksumOf(line, (batch + 0 * previous) >>> 0)',
  },
  {
    name: 'the chains of all dispatches start from the same value',
    file: 'events/event-scan.ts',
    from: 'chainStart(dispatch.taskDir, dispatch.dispatchId)',
    to: '0 * chainStart(dispatch.taskDir, dispatch.dispatchId)',
  },
  {
    name: 'the mark of a batch is not part of the checksum',
    file: 'database/decode.ts',
    from: '(previous ^ batch) >>> 0',
    to: '(previous ^ (batch * 0)) >>> 0',
  },
  {
    name: 'reads do not compare checksums',
    file: 'events/event-reader.ts',
    from: '!isNext(previous, row)',
    to: 'row.line.length < 0',
  },
  {
    name: 'verification does not compare checksums',
    file: 'events/event-scan.ts',
    from: "follows ? null : 'does not",
    to: "line.length > 0 || follows ? null : 'does not",
  },
  {
    name: 'reads ignore the acknowledged length',
    file: 'events/event-scan.ts',
    from: 'const least = Math.max(acknowledged, inFile);',
    to: 'const least = Math.min(0, acknowledged, inFile);',
  },
  {
    name: 'after damage nothing is whole',
    file: 'events/event-scan.ts',
    from: 'previous = row.crc;\n',
    to: 'previous = reason === null ? row.crc : -1;\n',
  },
  {
    name: 'a row after a missing one is taken for damaged',
    file: 'events/event-scan.ts',
    from: "reason: decodeEvent(line) === null ? 'is not",
    to: "reason: line !== '' ? 'is not",
  },
  {
    name: 'missing rows are no damage',
    file: 'events/event-scan.ts',
    from: 'if (missing > 0) yield lost(',
    to: 'if (missing > 1e9) yield lost(',
  },
  {
    name: 'a missing end is no damage',
    file: 'events/event-scan.ts',
    from: 'if (position < wanted) yield',
    to: 'if (position < 0) yield',
  },
  {
    name: 'an accepted loss keeps the old checksums',
    file: 'events/renewal.ts',
    from: 'crc = eventChecksum(crc, 0, line);',
    to: 'crc = eventChecksum(0, 0, line) + crc * 0;',
  },
  {
    name: 'an accepted loss drops the notice',
    file: 'events/renewal.ts',
    from: 'add(notice.id, encodeEvent(notice));',
    to: 'encodeEvent(notice);',
  },
];

/** The outcome of the checks for the store with some files changed. */
async function outcomeOf(changes: readonly Mutant[]): Promise<string> {
  const path = temporaryPath();
  const folder = realpathSync(dirname(path));
  cpSync(join(plugin, 'src'), join(folder, 'src'), { recursive: true });
  symlinkSync(join(plugin, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const { file, from, to } of changes) {
    const source = readFileSync(join(folder, 'src', file), 'utf8');
    expect(source.split(from), `${file} has the text of the mutant once`).toHaveLength(2);
    writeFileSync(join(folder, 'src', file), source.replace(from, to));
  }
  const script = join(import.meta.dirname, '../processes/check-damage.ts');
  const node = ['--conditions=@hansard/source', '--disable-warning=ExperimentalWarning', script];
  const args = [...node, join(folder, 'src/index.ts'), join(folder, 'db'), String(seed)];
  return (await promisify(execFile)(process.execPath, args)).stdout;
}

describe(`the checks of damaged rows (seed ${seed})`, () => {
  it('pass for the store as it is', async () => {
    expect(await outcomeOf([])).toBe('survived');
  });

  it.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    'find the fault: %s',
    async (_, mutant) => {
      expect(await outcomeOf([mutant])).toMatch(/^AssertionError|^HansardError/);
    },
  );
});
