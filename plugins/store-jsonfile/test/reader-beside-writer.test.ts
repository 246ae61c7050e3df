import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { systemFiles } from '../src/files.ts';
import { makeEnvelope } from './envelope.ts';
import { reopened } from './integrity/cut-file.ts';
import { dispatchFile, makeEvents, makeRoot, openStore, taskDir } from './sample.ts';

it.each([
  ['nothing after it', []],
  ['another append after it', makeEvents(5_000, 700)],
])(
  'a reader beside a writer that removes a failed append, with %s, reads the log before or after',
  (_, later) => {
    const root = makeRoot();
    const file = dispatchFile(root, 'd1');
    const before = makeEvents(1, 2);
    const failed = makeEvents(10, 700);
    const [old, written] = reopened(root, (store) => {
      store.createDispatch(taskDir, makeEnvelope('d1'));
      store.appendEvents(taskDir, 'd1', before);
      const bytes = readFileSync(file);
      store.appendEvents(taskDir, 'd1', failed);
      return [bytes, readFileSync(file)];
    });
    // The head never acknowledges an append that fails.
    const start = old.indexOf('"events":[');
    const torn = Buffer.concat([old.subarray(0, start), written.subarray(start)]);
    writeFileSync(file, old);
    const after = reopened(root, (store) => {
      store.claimDispatch(taskDir, 'd1');
      store.appendEvents(taskDir, 'd1', later);
      return readFileSync(file);
    });
    let reads = 0;
    let removesAt = 0;
    const read: typeof systemFiles.read = (fd, ...rest) => {
      reads += 1;
      if (reads === removesAt) {
        truncateSync(file, old.length);
        writeFileSync(file, after, { flag: 'r+' });
      }
      return systemFiles.read(fd, ...rest);
    };
    for (let at = 1; at < 40; at += 1) {
      removesAt = 0;
      writeFileSync(file, torn);
      const reader = openStore(root, {}, { files: { ...systemFiles, read } });
      // It then knows the place of event 512.
      expect(reader.readEvents(taskDir, 'd1').next).toBe(701);
      [reads, removesAt] = [0, at];
      const events = reader.getDispatchEvents(taskDir, 'd1');
      expect([before.length + failed.length, before.length + later.length]).toContain(events.length);
      if (reads >= at) expect(reader.getDispatchEvents(taskDir, 'd1')).toEqual([...before, ...later]);
      if (later.length === 0) continue;
      const { events: page } = reader.readEvents(taskDir, 'd1', { after: 600, limit: 5 });
      expect([failed, later].map((added) => added.slice(599, 604))).toContainEqual(page);
      if (reads >= at)
        expect(reader.readEvents(taskDir, 'd1', { after: 600, limit: 5 }).events).toEqual(
          later.slice(599, 604),
        );
      reader.close();
    }
  },
);
