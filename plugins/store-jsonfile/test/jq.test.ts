import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { json, raw } from 'jq-wasm';
import { describe, expect, it } from 'vitest';
import { makeEnvelope } from './envelope.ts';
import { dispatchFile, makeEvent, makeEvents, makeRoot, openStore, taskDir } from './sample.ts';

/** The lines of the README: the options of `jq` and its program. */
const lines = [
  ...readFileSync(join(import.meta.dirname, '../README.md'), 'utf8').matchAll(
    /^jq (?:(-\w) )?(?:'([^']+)'|(\S+)) ID\.json/gm,
  ),
].map(([, flag, quoted, bare]) => ({
  flags: flag === undefined ? [] : [flag],
  program: quoted ?? bare ?? '',
}));

/** What the line of the README with this text prints of a file. */
function printed(part: string, file: string): Promise<string> {
  const [line, ...others] = lines.filter(({ program }) => program.includes(part));
  if (line === undefined || others.length > 0) throw new Error(`${lines.length} lines, not one with ${part}`);
  return raw(readFileSync(file, 'utf8'), line.program, line.flags);
}

/** A running dispatch of five events. */
function running() {
  const root = makeRoot();
  const store = openStore(root);
  store.createDispatch(taskDir, makeEnvelope('d1'));
  store.appendEvents(taskDir, 'd1', makeEvents(1, 4));
  store.appendEvent(taskDir, 'd1', { ...makeEvent(5), type: 'agent:thinking' });
  return { store, file: dispatchFile(root, 'd1') };
}

describe('the lines of jq in the README', () => {
  it('find the envelope, after each change of it', async () => {
    const { store, file } = running();
    for (const cost of [0.25, 0.5]) {
      const envelope = store.updateDispatch(taskDir, 'd1', { cost, title: `It cost ${cost}` });
      expect(JSON.parse(await printed('.envelope', file))).toEqual(envelope);
      expect(await json(readFileSync(file, 'utf8'), '.envelope')).toEqual(envelope);
    }
    store.releaseDispatch(taskDir, 'd1');
    expect(JSON.parse(await printed('.envelope', file))).toEqual(store.getDispatchEnvelope(taskDir, 'd1'));
  });

  it('find the head that counts where a process died between its two writes', async () => {
    const { store, file } = running();
    store.updateDispatch(taskDir, 'd1', { title: 'as it was before' });
    const before = readFileSync(file);
    const envelope = store.updateDispatch(taskDir, 'd1', { title: 'as it is now' });
    const after = readFileSync(file);
    const copyAt = after.indexOf('"copy":');
    const eventsAt = after.indexOf('"events":[');
    const newFirst = Buffer.concat([after.subarray(0, copyAt), before.subarray(copyAt, eventsAt)]);
    const newCopy = Buffer.concat([before.subarray(0, copyAt), after.subarray(copyAt, eventsAt)]);
    const events = after.subarray(eventsAt);
    const program = lines[0]?.program ?? '';
    for (const head of [newFirst, newCopy])
      expect(JSON.parse(await raw(Buffer.concat([head, events]).toString(), program))).toEqual(envelope);
    const first = (await json(Buffer.concat([newCopy, events]).toString(), '.envelope')) as { title: string };
    expect(first.title).toBe('as it was before');
  });

  it('give the texts of the agent, and each event as it was appended', async () => {
    const { store, file } = running();
    const events = store.getDispatchEvents(taskDir, 'd1');
    const texts = events.filter(({ type }) => type === 'agent:text').map(({ data }) => data.text);
    expect((await printed('agent:text', file)).trimEnd().split('\n')).toEqual(texts);
    const appended = (await printed('del(.crc)', file)).trimEnd().split('\n');
    expect(appended.map((line) => JSON.parse(line))).toEqual(events);
    expect(lines).toHaveLength(3);
  });

  it('need no events for the status', () => {
    const { store, file } = running();
    store.updateDispatch(taskDir, 'd1', { status: 'completed', completedAt: '2026-03-01T10:00:00.000Z' });
    const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
    const line = /^head -c 4096 ID\.json[^#\n]*\| head -1/m.exec(readme)?.[0] ?? 'false';
    const status = execFileSync('sh', ['-c', line.replace('ID.json', file)], { encoding: 'utf8' });
    expect(status.trim()).toBe('"status":"completed"');
  });
});
