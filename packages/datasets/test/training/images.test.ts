import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type NewEvent, parseEvent, separateContent } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import {
  type TrainingEstimate,
  type TrainingFormatId,
  trainingFormatIds,
  writeTrainingData,
} from '../../src/index.ts';
import { documentedSchemas } from './documented-schemas.ts';
import { ann, annAlone, envelopeOf, type Row, type Talk, write } from './talk.ts';

type Writer = typeof writeTrainingData;

const types = ['image/png', 'image/jpeg', 'image/gif', 'application/pdf', 'audio/wav'] as const;
const shownTypes = ['image/png', 'image/jpeg'];
const kindOf = (type: string) =>
  type.startsWith('image/') ? 'image' : type.startsWith('audio/') ? 'audio' : 'document';

interface Known {
  readonly type: string;
  readonly base64: string;
  readonly sha256: string;
  /** Whether its bytes are still in the log. */
  readonly isStored: boolean;
  readonly inMessage: boolean;
}

/** A talk with files in messages and results, and what each answer was given, noted while it is made. */
class TalkWithFiles {
  readonly talk = annAlone();
  /** For each answer the files of its prompt, in order. */
  readonly prompts: Known[][] = [];
  readonly #random: () => number;
  readonly #seen: Known[] = [];
  readonly #stored = new Set<string>();
  #files = 0;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    for (let turn = 0; turn < 8; turn += 1) {
      this.#tell(turn);
      const isRecorded = this.#random() < 0.5;
      this.prompts.push([...this.#seen]);
      if (this.#random() < 0.3) {
        const calls = [{ toolCallId: `c${turn}`, tool: 'look', input: {} }];
        this.talk.answer(this.talk.ask(ann), { calls }, { isRecorded });
        const files = this.#someFiles(false);
        const output = [{ type: 'text', text: `seen ${turn}` }, ...files.map(partOf)];
        this.#add(
          'agent:tool_result',
          { toolCallId: `c${turn}`, tool: 'look', status: 'completed', metadata: {}, output },
          files,
        );
        this.prompts.push([...this.#seen]);
      }
      this.talk.say(ann, `answer ${turn}`, { isRecorded });
    }
  }

  #tell(turn: number): void {
    const files = this.#someFiles(true);
    const data = {
      text: this.#random() < 0.2 && files.length > 0 ? '' : `look ${turn}`,
      source: { kind: 'user' },
    };
    this.#add('user:message', { ...data, parts: files.map(partOf) }, files);
  }

  #someFiles(inMessage: boolean): Known[] {
    const files: Known[] = [];
    while (this.#random() < 0.35) {
      const isAgain = this.#seen.length > 0 && this.#random() < 0.3;
      this.#files += 1;
      const bytes = Buffer.from(`file ${this.#files} ${'x'.repeat(Math.floor(this.#random() * 40))}`);
      const type = types[Math.floor(this.#random() * types.length)] ?? types[0];
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const fresh = {
        type,
        base64: bytes.toString('base64'),
        sha256,
        isStored: this.#random() > 0.15,
        inMessage,
      };
      files.push(isAgain ? { ...(this.#seen[0] as Known), inMessage } : fresh);
    }
    return files;
  }

  #add(type: 'user:message' | 'agent:tool_result', data: object, files: readonly Known[]): void {
    const { event, contents } = separateContent({ type, data } as unknown as NewEvent);
    for (const content of contents) {
      if (this.#stored.has(content.data.sha256)) continue;
      this.#stored.add(content.data.sha256);
      const { isStored = true } = files.find(({ sha256 }) => sha256 === content.data.sha256) ?? {};
      const kept = isStored ? content.data : { ...content.data, base64: '' };
      this.talk.events.push(parseEvent({ ...content, data: kept }));
    }
    this.talk.add(type, event.data as never, { agentId: ann });
    this.#seen.push(...files);
  }
}

function partOf({ type, base64 }: Known) {
  return { kind: kindOf(type), mediaType: type, base64, name: 'a file' };
}

async function rowsOf(writer: Writer, talk: Talk, format: TrainingFormatId) {
  let estimate: TrainingEstimate | undefined;
  const source = {
    taskDir: 't/tasks/t',
    task: null,
    envelopes: [envelopeOf(talk)],
    async *readEvents() {
      yield* talk.events;
    },
  };
  const lines = writer(source, {
    format,
    onEstimate: (one) => {
      estimate = one;
    },
  });
  const rows: Row[] = [];
  let bytes = 0;
  let next = await lines.next();
  for (; next.done !== true; next = await lines.next()) {
    bytes += Buffer.byteLength(next.value);
    rows.push(JSON.parse(next.value));
  }
  return { rows, bytes, manifest: next.value, estimate };
}

/** The URLs of the images of a row, from the form of its target. */
function urlsIn(row: Row, format: TrainingFormatId): string[] {
  if (format !== 'openai') return row.images ?? [];
  return row.messages.flatMap(({ content }: Row) =>
    Array.isArray(content) ? content.flatMap(({ image_url: image }: Row) => image?.url ?? []) : [],
  );
}

/** Checks one talk in one format; throws at the first wrong answer. */
async function check(seed: number, format: TrainingFormatId, writer: Writer): Promise<void> {
  const { talk, prompts } = new TalkWithFiles(seed);
  const { rows, bytes, manifest, estimate } = await rowsOf(writer, talk, format);
  for (const row of rows) documentedSchemas[format].parse(row);
  expect(manifest.dropped.unshown_file).toBeUndefined();
  const shows = format === 'openai' || format === 'trl' || format === 'trl-chat';
  const isShown = ({ type, isStored, inMessage }: Known) =>
    shows && inMessage && isStored && shownTypes.includes(type);
  const urlOf = ({ type, base64 }: Known) => `data:${type};base64,${base64}`;
  // A row for each call, or one for all of them.
  const wanted = format === 'trl' || format === 'sft' ? prompts : prompts.slice(-1);
  if (format === 'trl' || format === 'sft' || format === 'openai') {
    expect(rows).toHaveLength(wanted.length);
    expect(rows.map((row) => urlsIn(row, format))).toEqual(
      wanted.map((files) => files.filter(isShown).map(urlOf)),
    );
    expect(manifest.images).toBe(wanted.flat().filter(isShown).length);
    const named: Record<string, number> = {};
    for (const file of wanted.flat()) if (!isShown(file)) named[file.type] = (named[file.type] ?? 0) + 1;
    expect(manifest.named).toEqual(named);
    for (const [at, row] of rows.entries())
      for (const { sha256, ...file } of wanted[at] ?? [])
        if (!isShown({ sha256, ...file }))
          expect(JSON.stringify(row)).toContain(`sha256 ${sha256.slice(0, 8)}`);
  }
  for (const row of rows) {
    const places = JSON.stringify([row.prompt, row.messages]).split('{"type":"image"}').length - 1;
    if (format.startsWith('trl')) expect(places).toBe(urlsIn(row, format).length);
  }
  if (format.startsWith('trl')) {
    // One schema for Arrow.
    const forms = new Set(
      rows.flatMap((row) =>
        [...(row.prompt ?? row.messages), ...(row.completion ?? [])].map(({ content }: Row) =>
          Array.isArray(content),
        ),
      ),
    );
    expect(forms.size).toBeLessThanOrEqual(1);
    expect(new Set(rows.map((row) => 'images' in row)).size).toBeLessThanOrEqual(1);
  }
  expect(estimate?.rows).toBe(rows.length);
  expect(estimate?.bytes).toBeGreaterThanOrEqual(bytes);
  expect((estimate?.bytes ?? 0) - bytes).toBeLessThanOrEqual(3 * rows.length);
}

const seeds = Array.from({ length: 40 }, (_, at) => at + 1);

describe('files of prompts, in random talks', () => {
  it.each(trainingFormatIds)(
    `are shown or named in %s, and counted (seeds 1 to ${seeds.length})`,
    async (format) => {
      for (const seed of seeds) await check(seed, format, writeTrainingData);
    },
  );
});

const mutants: readonly (readonly [name: string, file: string, piece: string, instead: string])[] = [
  ['shows no image', 'rows.ts', 'shownTypes.has(mediaType) && this', 'false && this'],
  ['shows images of any type', 'rows.ts', 'shownTypes.has(mediaType) && this', 'this'],
  ['shows images whose bytes were removed', 'rows.ts', "if (base64 !== '') this", 'this'],
  [
    'shows images in results',
    'rows.ts',
    "if (message.role !== 'user') return [];",
    "if (message.role !== 'user' && message.role !== 'tool') return [];",
  ],
  ['measures rows without their images', 'rows.ts', 'this.#unwritten += bytes', 'this.#unwritten += 0'],
  ['writes the wrong type', 'rows.ts', '{mediaType};base64,', "{'image/png'};base64,"],
  [
    'has the column in some rows only',
    'training-formats.ts',
    'return files.hasImages ? { images } : {};',
    'return images.length > 0 ? { images } : {};',
  ],
  [
    'has lists in some rows only',
    'training-formats.ts',
    '!files.hasImages && images.length === 0',
    'images.length === 0',
  ],
  [
    'has no place for an image',
    'training-formats.ts',
    "const shown = images.map(() => ({ type: 'image' }));",
    'const shown: JsonObject[] = [];',
  ],
  [
    'measures texts of a file with images as texts',
    'training-estimate.ts',
    "files.hasImages && source.format.id.startsWith('trl')",
    'false',
  ],
  ['counts shown images as named', 'write-training-data.ts', 'if (!shown.includes(file)) add', 'add'],
  ['counts no image', 'write-training-data.ts', 'this.#images += shown.length', 'this.#images += 0'],
  ['keeps the files of the dispatch before', 'training-source.ts', 'files.add(event);', ''],
];

describe('a broken rendering of files is caught', () => {
  it.each(mutants)('%s', async (_, file, piece, instead) => {
    const home = join(import.meta.dirname, '../..');
    const broken = (await importMutated(home, [`training/${file}`, piece, instead], 'index.ts')) as {
      writeTrainingData: Writer;
    };
    const run = async () => {
      for (const seed of seeds)
        for (const format of trainingFormatIds) await check(seed, format, broken.writeTrainingData);
    };
    await expect(run()).rejects.toThrow();
  });
});

describe('a message with a file that the log only names by its address', () => {
  it('takes its call out of the rows, with a count', async () => {
    const talk = annAlone();
    const parts = [{ kind: 'image', url: 'https://example.org/a.png' }];
    talk.add('user:message', { text: 'look', source: { kind: 'user' }, parts } as never, { agentId: ann });
    const dropped = talk.say(ann, 'A dot.', { isRecorded: false });
    const { manifest } = await write(talk, { format: 'openai' });
    expect(manifest.dropped).toEqual({ unshown_file: { count: 1, first: [dropped] } });
  });
});
