import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomFrom } from '@hansard/testing';
import { openJsonFileStore } from '../../../plugins/store-jsonfile/src/index.ts';
import {
  checkReadOfCut,
  checkRepairOfCut,
  writeCutSample,
} from '../../../plugins/store-jsonfile/test/integrity/cut-file.ts';
import { checkFlip, writeSample } from '../../../plugins/store-jsonfile/test/integrity/damage-battery.ts';
import { makeEvents } from '../../../plugins/store-jsonfile/test/sample.ts';
import { goldenBytes } from '../../../plugins/store-sqlite/test/golden/read-golden.ts';
import {
  checkCut,
  frameLength,
  placeOfFrame,
  writeKilledStore,
} from '../../../plugins/store-sqlite/test/integrity/cut-log.ts';
import { checkFlippedBit } from '../../../plugins/store-sqlite/test/integrity/flip-bit.ts';
import type { Attack, StoreName } from './attack.ts';

/** Cuts the file of a killed process at a byte. As many consecutive seeds as the file has bytes cut it at every byte. */
function cutFiles(folder: string): Attack {
  const sample = writeCutSample(folder, makeEvents(1, 420));
  const count = sample.bytes.length + 1;
  return {
    unit: 'cuts',
    count,
    round: (seed) => {
      // A prime, so that fewer seeds are spread over the file.
      const size = (seed * 7_919) % count;
      const outcome = checkReadOfCut(sample, size);
      checkRepairOfCut(sample, size);
      return {
        cuts: 1,
        'refused as STORE_CORRUPT': outcome === 'refused' ? 1 : 0,
        'read with every whole event': outcome === 'whole' ? 1 : 0,
      };
    },
  };
}

/** Cuts the write-ahead log of a killed process: at a frame, or anywhere. */
function cutLogs(folder: string): Attack {
  const killed = writeKilledStore(folder);
  const { length } = readFileSync(`${killed}-wal`);
  return {
    unit: 'cuts',
    count: 10_000,
    round: (seed) => {
      const random = randomFrom(seed);
      const frame = Math.floor((random() * (length - 32)) / frameLength);
      const bytes = random() < 0.3 ? placeOfFrame(frame) : Math.floor(random() * (length + 1));
      const outcomes = checkCut(killed, join(folder, 'cut.sqlite'), bytes);
      const refused = outcomes.filter((outcome) => outcome === 'STORE_CORRUPT').length;
      return {
        cuts: 1,
        'refused as STORE_CORRUPT': refused,
        'read with every acknowledged event': outcomes.length - refused,
      };
    },
  };
}

function flipsInFiles(folder: string): Attack {
  const open = (root: string) => openJsonFileStore({ root });
  const samples = [true, false].map((isReleased) =>
    writeSample(open, join(folder, `released-${isReleased}`), 12, isReleased),
  );
  return {
    unit: 'bits flipped',
    count: 20_000,
    round: (seed) => {
      const random = randomFrom(seed);
      const sample = samples[seed % 2] ?? samples[0];
      if (sample === undefined) throw new Error('There is no sample.');
      const at = Math.floor(random() * sample.bytes.length);
      const { refused, equal } = checkFlip(
        open,
        sample,
        join(folder, 'flipped'),
        at,
        1 << Math.floor(random() * 8),
      );
      return { 'bits flipped': 1, 'reads refused with their place': refused, 'reads equal': equal };
    },
  };
}

function flipsInDatabases(folder: string): Attack {
  const whole = goldenBytes();
  return {
    unit: 'bits flipped',
    count: 20_000,
    round: (seed) => {
      const bit = Math.floor(randomFrom(seed)() * whole.length * 8);
      const { refused, equal } = checkFlippedBit(whole, bit, join(folder, 'flipped.sqlite'));
      return { 'bits flipped': 1, 'reads refused with their place': refused, 'reads equal': equal };
    },
  };
}

/** A folder that is removed when the campaign ends. */
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-campaign-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  return folder;
}

export const cuts = (name: StoreName): Attack => (name === 'sqlite' ? cutLogs : cutFiles)(makeFolder());

export const flips = (name: StoreName): Attack =>
  (name === 'sqlite' ? flipsInDatabases : flipsInFiles)(makeFolder());
