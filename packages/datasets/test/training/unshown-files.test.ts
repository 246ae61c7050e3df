import type { JsonObject } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { trainingFormatIds } from '../../src/index.ts';
import { holdsEncodedBytes } from '../../src/training/prompt-renderer.ts';
import { ann, annAlone, type Talk, write } from './talk.ts';

const bytes = 'iVBORw0KGgo=';
const source = { type: 'base64', media_type: 'image/png', data: bytes };
const block = (type: string) => (talk: Talk) => addBlock(talk, type, { source });

function addBlock(talk: Talk, type: string, data: JsonObject): void {
  talk.add(`user:${type}` as never, data, { agentId: ann });
}

function called(output: unknown) {
  return (talk: Talk) => {
    talk.answer(
      talk.ask(ann),
      { calls: [{ toolCallId: 'c1', tool: 'look', input: {} }] },
      { isRecorded: false },
    );
    talk.add(
      'agent:tool_result',
      { toolCallId: 'c1', tool: 'look', status: 'completed', output: output as never, metadata: {} },
      { agentId: ann },
    );
  };
}

const shown: Readonly<Record<string, (talk: Talk) => void>> = {
  'an image in a message': block('image'),
  'a document in a message': block('document'),
  'an image by its address': (talk) =>
    addBlock(talk, 'image', { source: { type: 'url', url: 'https://example.org/' } }),
  'an image in a result': called([
    { type: 'text', text: 'ok' },
    { type: 'image', source },
  ]),
  'an image in a result of MCP': called({ content: [{ type: 'image', data: bytes, mimeType: 'image/png' }] }),
  'a resource of MCP': called([{ type: 'resource', resource: { uri: 'file:///a', blob: bytes } }]),
  'an image by its address in a result': called([
    { type: 'image', source: { type: 'url', url: 'https://example.org/' } },
  ]),
  'an observed image': (talk) =>
    talk.add(
      'agent:output',
      { parts: [{ kind: 'image', mediaType: 'image/png', base64: bytes }] },
      { agentId: ann },
    ),
};

describe.each(Object.entries(shown))('%s', (_, show) => {
  it.each(trainingFormatIds)('takes its call out of %s, with a count, and is never text', async (format) => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    talk.say(ann, 'First', { isRecorded: false });
    talk.tell(ann, 'What is in it?');
    show(talk);
    const dropped = talk.say(ann, 'A dot.', { isRecorded: false });
    const { text, manifest } = await write(talk, { format });
    expect(manifest.dropped).toEqual({ unshown_file: { count: 1, first: [dropped] } });
    expect(text).toContain('First');
    expect(text).not.toContain('A dot.');
    expect(text).not.toContain(bytes);
  });
});

describe('after the answer to an observed image', () => {
  it('the image is no longer in the prompt, so the next call is a row', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    shown['an observed image']?.(talk);
    const dropped = talk.say(ann, 'A dot.', { isRecorded: false });
    talk.tell(ann, 'Two');
    talk.say(ann, 'Later', { isRecorded: false });
    const { rows, manifest } = await write(talk, { format: 'trl' });
    expect(rows.map(({ completion }) => completion[0].content)).toEqual(['Later']);
    expect(manifest.dropped).toEqual({ unshown_file: { count: 1, first: [dropped] } });
  });
});

describe('after a compaction', () => {
  const rest = async (keptFrom: (ids: { early: string; late: string }) => string | undefined) => {
    const talk = annAlone();
    const early = talk.tell(ann, 'One');
    block('image')(talk);
    talk.say(ann, 'First', { isRecorded: false });
    const late = talk.tell(ann, 'Two');
    const kept = keptFrom({ early, late });
    const data = { trigger: 'auto', summary: 'A dot.', ...(kept === undefined ? {} : { keptFrom: kept }) };
    talk.add('session:compaction', data, { agentId: ann });
    talk.tell(ann, 'Three');
    talk.say(ann, 'Last', { isRecorded: false });
    const { rows, manifest } = await write(talk, { format: 'trl' });
    return [rows.length, manifest.dropped.unshown_file?.count];
  };

  it('the file is no longer in the prompt, unless its message was kept', async () => {
    expect(await rest(() => undefined)).toEqual([1, 1]);
    expect(await rest(({ late }) => late)).toEqual([1, 1]);
    expect(await rest(({ early }) => early)).toEqual([0, 2]);
  });
});

describe('a recorded prompt', () => {
  const image = { kind: 'image', mediaType: 'image/png', sha256: 'a'.repeat(64), size: bytes.length };

  it('is a row that names an image whose bytes are not in the log, and the manifest counts it', async () => {
    for (const images of ['named', 'sent'] as const) {
      const talk = annAlone();
      talk.tell(ann, 'One');
      talk.add('agent:output', { parts: [image] }, { agentId: ann });
      const policy = images === 'sent' ? { name: 'full' as const, images } : { name: 'full' as const };
      talk.answer(talk.ask(ann, policy), { text: 'A dot.' });
      talk.tell(ann, 'Two');
      talk.answer(talk.ask(ann, policy), { text: 'Later' });
      const { rows, manifest, text } = await write(talk, { format: 'trl' });
      expect(rows).toHaveLength(2);
      expect(manifest.dropped).toEqual({});
      expect(text.split('[image/png 12 bytes, sha256 aaaaaaaa…]')).toHaveLength(2);
      expect([manifest.images, manifest.named]).toEqual([0, images === 'sent' ? { 'image/png': 1 } : {}]);
      expect(text).not.toContain(bytes);
    }
  });
});

describe('encoded bytes in a text', () => {
  const long = Buffer.from(Array.from({ length: 900 }, (_, at) => (at * 37) % 256)).toString('base64');
  const texts: Readonly<Record<string, readonly [string, boolean]>> = {
    'a data URI': [`See data:image/png;base64,${long.slice(0, 80)} there`, true],
    'a file in Base64': [`$ base64 a.png\n${long}\n`, true],
    'the same at the end': [long, true],
    'the start of a data URI': ['data:image/png;base64,iVBORw0KGgo=', false],
    'a hash': ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', false],
    'a long word': ['a'.repeat(5_000), false],
    'many words': ['Word9 '.repeat(5_000), false],
  };

  it.each(Object.entries(texts))('%s', async (_, [text, isEncoded]) => {
    expect(holdsEncodedBytes(text)).toBe(isEncoded);
    for (const format of trainingFormatIds) {
      const talk = annAlone();
      talk.tell(ann, 'One');
      talk.say(ann, 'First');
      talk.tell(ann, text);
      const said = talk.say(ann, 'Second');
      const { manifest } = await write(talk, { format });
      expect(manifest.dropped).toEqual(isEncoded ? { encoded_bytes: { count: 1, first: [said] } } : {});
    }
  });

  it('are not in an answer either', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    const said = talk.say(ann, long);
    const { rows, manifest } = await write(talk, { format: 'openai' });
    expect([rows, manifest.dropped]).toEqual([[], { encoded_bytes: { count: 1, first: [said] } }]);
  });
});
