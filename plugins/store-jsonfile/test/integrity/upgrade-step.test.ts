import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dispatchPaths } from '../../src/disk-format.ts';
import { thisSystem } from '../../src/store-system.ts';
import { makeEnvelope } from '../envelope.ts';
import { makeEvent, makeEvents, makeRoot, openStore, taskDir } from '../sample.ts';
import { readByOracle } from './oracle.ts';
import { upgradeFrom0 } from './upgrade-step.ts';

const events = [makeEvent(2, 'ü“\ud800'), ...makeEvents(3, 40), makeEvent(1, '')];

/** A store with a file of the made-up format 0. */
function withFormat0(text = JSON.stringify({ format: 0, envelope: makeEnvelope('d1'), events })) {
  const root = makeRoot();
  const paths = dispatchPaths(join(root, taskDir), 'd1');
  const { file } = paths;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  const upgrade = (files = thisSystem.files) => upgradeFrom0(files, { taskDir, dispatchId: 'd1', paths }, 1);
  return { file, text, upgrade, store: openStore(root) };
}

describe('a step from an earlier disk format', () => {
  it('keeps the envelope and every event, with checksums, and the dispatch can be written', () => {
    const { file, upgrade, store } = withFormat0();
    expect(() => store.getDispatchEvents(taskDir, 'd1')).toThrow(/STORE_CORRUPT|damaged/);
    expect(upgrade()).toBe(true);
    expect(store.getDispatchEnvelope(taskDir, 'd1')).toEqual(makeEnvelope('d1'));
    expect(store.getDispatchEvents(taskDir, 'd1')).toEqual(events);
    expect(store.verifyDispatch(taskDir, 'd1')).toMatchObject({ integrity: 'checksum', damages: [] });
    expect(store.claimDispatch(taskDir, 'd1').epoch).toBe(2);
    store.appendEvent(taskDir, 'd1', makeEvent(99));
    store.close();
    expect(readByOracle(readFileSync(file))).toEqual({ events: [...events, makeEvent(99)] });
  });

  it('leaves a file of the present format as it is', () => {
    const { file, upgrade } = withFormat0();
    upgrade();
    const bytes = readFileSync(file);
    expect(upgrade()).toBe(false);
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  it('that is stopped at any write leaves the earlier file', () => {
    for (let at = 0; ; at += 1) {
      const { file, text, upgrade } = withFormat0();
      let writes = 0;
      const { files } = thisSystem;
      const write: typeof files.write = (...args) => {
        if (writes === at) throw new Error('stopped');
        writes += 1;
        return files.write(...args);
      };
      try {
        upgrade({ ...files, write });
      } catch {
        expect(readFileSync(file, 'utf8')).toBe(text);
        continue;
      }
      expect(at).toBeGreaterThanOrEqual(2);
      return;
    }
  });

  it('leaves a file that cannot be read as it is', () => {
    const { file, text, upgrade } = withFormat0('{"format":0,"envelope":');
    expect(upgrade).toThrow(SyntaxError);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});
