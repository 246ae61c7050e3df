import type { CapturedEvent } from '@hansard/events';
import * as views from '@hansard/views';
import * as datasets from '../../src/index.ts';
import { partMappings, partsGame } from './parts-game.ts';

/** The modules that a mutant replaces. */
export const partReaders = {
  Cast: datasets.Cast,
  createGameStreams: datasets.createGameStreams,
  createJudgePacket: datasets.createJudgePacket,
  createPseudonyms: datasets.createPseudonyms,
  splitMessages: views.splitMessages,
  createTextSplitter: views.createTextSplitter,
};

/** What is wrong with the streams, the packets and the hearing of a random game whose agents write in parts. Empty: nothing. */
export function partsDifference(seed: number, readers: typeof partReaders = partReaders): string[] {
  const { events, truth, shape, isWhole } = partsGame(seed);
  const mapping = partMappings[shape];
  const cast = new readers.Cast(mapping);
  for (const event of events) cast.observe(event);
  const streams = readers.createGameStreams(mapping, { runId: 'D1', cast });
  const lines = [...events.flatMap((event) => streams.add(event)), ...streams.finish()];
  const textOf = (stream: string) =>
    lines.flatMap((line) => (line.stream === stream ? JSON.stringify(line.line) : [])).join('\n');
  const secrets = [...truth.thought, ...truth.whispered, ...truth.perhaps];
  const [chat, reasoning, whispers] = [textOf('chat'), textOf('agent_reasoning'), textOf('whispers')];
  const external = packetOf(events, 'external', shape, readers);
  const internal = packetOf(events, 'internal', shape, readers);
  const [written, withoutThoughts] = textsOf(events, readers.createTextSplitter(mapping.parts ?? {}));
  const heard = hearingOf(readers.splitMessages(events, mapping.parts ?? {}));
  return [
    ...found('in the chat', secrets, chat),
    ...found('in the actions', secrets, textOf('agent_actions').replace(/"text":"[^"]*"/g, '')),
    ...found('in the external packet', secrets, external),
    ...found('in the dialog', [...truth.thought, ...truth.perhaps], heard.dialog),
    ...found('heard by all', truth.whispered, heard.utterances),
    ...found('in a text without thoughts', [...truth.thought, ...truth.perhaps], withoutThoughts),
    ...missing('in the texts without thoughts', [...truth.said, ...truth.whispered], withoutThoughts),
    ...missing('in the texts', [...truth.said, ...truth.thought], written),
    ...missing('in the reasoning', truth.thought, reasoning),
    ...missing('in the internal packet', truth.thought, internal),
    ...missing('in the whispers', truth.whispered, whispers),
    ...missing('among the thoughts', truth.thought, heard.thoughts),
    ...missing('sent to some', truth.whispered, heard.sent),
    ...missing('in whispers or reasoning', truth.perhaps, `${whispers}\n${reasoning}`),
    ...missing('in the chat', truth.said, chat),
    ...missing('in the external packet', truth.said, external),
    ...missing('heard by all', truth.said, heard.utterances),
    ...(isWhole === (Object.keys(streams.faults).length === 0)
      ? []
      : [`faults ${JSON.stringify(streams.faults)}`]),
  ].map((problem) => `seed ${seed} (${shape}): ${problem}`);
}

/** The texts of messages, whole and without their thoughts, split again. */
function textsOf(
  events: readonly CapturedEvent[],
  split: typeof views.createTextSplitter extends (rules: views.PartRules) => infer Splitter
    ? Splitter
    : never,
): readonly [whole: string, withoutThoughts: string] {
  const texts = new Map<string, string>();
  for (const { type, data, messageId = '' } of events)
    if (type === 'agent:text') texts.set(messageId, `${texts.get(messageId) ?? ''}${data.text}`);
  const whole = [...texts.values()];
  return [whole.join('\n'), whole.map((text) => split(text).withoutThoughts).join('\n')];
}

function packetOf(
  events: readonly CapturedEvent[],
  pass: 'external' | 'internal',
  shape: keyof typeof partMappings,
  readers: typeof partReaders,
): string {
  const mapping = partMappings[shape];
  const cast = new readers.Cast(mapping);
  for (const event of events) cast.observe(event);
  const pseudonyms = readers.createPseudonyms([], 'D1');
  const packet = readers.createJudgePacket({ pass, mapping, dispatchId: 'D1', pseudonyms, cast });
  const written = [...events.flatMap((event) => packet.add(event)), ...packet.finish()];
  return written.map(({ line }) => JSON.stringify(line)).join('\n');
}

function hearingOf(events: readonly CapturedEvent[]) {
  const index = views.createLogIndex(events);
  const sayings = views.dialogOf(index);
  return {
    dialog: JSON.stringify(sayings),
    thoughts: JSON.stringify(events.filter(({ type }) => type === 'agent:thinking')),
    sent: JSON.stringify(events.filter(({ type }) => type === 'agent:message_sent')),
    utterances: sayings.flatMap(({ kind, text }) => (kind === 'utterance' ? text : [])).join('\n'),
  };
}

function found(where: string, words: readonly string[], text: string): string[] {
  return words.flatMap((word) => (text.includes(word) ? [`${word} is ${where}`] : []));
}

function missing(where: string, words: readonly string[], text: string): string[] {
  return words.flatMap((word) => (text.includes(word) ? [] : [`${word} is not ${where}`]));
}
