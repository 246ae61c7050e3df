import { readFileSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { expect, it } from 'vitest';
import { makeEnvelope } from '../envelope.ts';
import { dispatchFile, makeEvents, makeRoot, openStore, taskDir } from '../sample.ts';
import { reopened } from './cut-file.ts';

/** The file with one text replaced in its events, and the checksums that another program would write. */
function rewritten(bytes: Buffer, from: string, to: string): Buffer {
  const text = bytes.toString('latin1');
  const start = text.indexOf('"events":[') + '"events":['.length;
  let events = text.slice(start).replace(from, to);
  for (const { index } of events.matchAll(/(?<=,"crc":")[0-9a-f]{8}(?="\})/g)) {
    const crc = crc32(Buffer.from(events.slice(0, index), 'latin1'), crc32(`${taskDir}\nd1`))
      .toString(16)
      .padStart(8, '0');
    events = events.slice(0, index) + crc + events.slice(index + crc.length);
  }
  return Buffer.from(text.slice(0, start) + events, 'latin1');
}

it.each([1, 4, 6])(
  'line %d of six that is whole and not an event is damage, and not counted as whole',
  (number) => {
    const root = makeRoot();
    const file = dispatchFile(root, 'd1');
    const bytes = reopened(root, (store) => {
      store.createDispatch(taskDir, makeEnvelope('d1'));
      store.appendEvents(taskDir, 'd1', makeEvents(1, 6));
      return readFileSync(file);
    });
    writeFileSync(file, rewritten(bytes, `"data":{"text":"This is event ${number}."}`, '"data":"no object"'));
    const store = openStore(root);
    const words = [
      'no whole event before it',
      '',
      '',
      '3 events before it are whole',
      '',
      '5 events before it are whole',
    ];
    expect(() => store.getDispatchEvents(taskDir, 'd1')).toThrow(
      `this line is not an event. ${number === 1 ? 'There is' : 'The'} ${words[number - 1]}`,
    );
  },
);
