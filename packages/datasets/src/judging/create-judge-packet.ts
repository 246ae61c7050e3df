import { createHash, type Hash } from 'node:crypto';
import type { CapturedEvent } from '@hansard/events';
import {
  type Cast,
  createGameStreams,
  type GameMapping,
  type GameMappingInput,
  parseGameMapping,
  type StreamLine,
} from '@hansard/formats';
import { hiddenJson } from './hidden-json.ts';
import { type JudgePass, packetKind } from './judge-pass.ts';
import type { PacketLine, PacketManifest } from './packet-line.ts';
import { type Pseudonyms, sha256 } from './pseudonyms.ts';

/** A packet under construction, event by event. */
export interface JudgePacketWriter {
  /** The lines that an event adds, each with its event. */
  add(event: CapturedEvent): WrittenLine[];
  finish(): WrittenLine[];
  /** Calls without a line, because the log lacks their input; by tool. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** The players that events of the game name, but that match no agent: names, which no packet may show. */
  readonly unmatchedPlayers: readonly string[];
  /** After `finish`: the manifest of all lines. */
  manifest(): PacketManifest;
}

export interface WrittenLine {
  readonly line: PacketLine;
  readonly eventId: string;
}

export interface JudgePacketOptions {
  readonly pass: JudgePass;
  readonly mapping: GameMappingInput;
  readonly dispatchId: string;
  readonly pseudonyms: Pseudonyms;
  /** The cast of the whole log. */
  readonly cast: Cast;
}

/** @throws FORMAT_MAPPING_INVALID */
export function createJudgePacket(options: JudgePacketOptions): JudgePacketWriter {
  const { pass, dispatchId, pseudonyms, cast } = options;
  const mapping = parseGameMapping(options.mapping);
  // Calls after thoughts are left out: their input may hold whispers and fields that no action shows.
  const reasoning = { ...mapping.reasoning, toolCalls: false };
  const streams = createGameStreams({ ...mapping, reasoning }, { runId: dispatchId, cast });
  const bareTypes = typesWithoutShape(mapping);
  const hash: Hash = createHash('sha256');
  const kinds = { chat: 0, action: 0, ...(pass === 'internal' && { reasoning: 0 }) };
  const excluded = new Map<string, number>();
  let events = 0;
  let n = 0;
  let notPlayers = 0;
  let redactions = 0;
  let bareActions = 0;

  return {
    leftOut: streams.leftOut,
    get unmatchedPlayers() {
      return streams.unmatchedPlayers;
    },
    add(event) {
      if (event.type !== 'judge:verdict') events += 1;
      return streams.add(event).flatMap(toPacket);
    },
    finish: () => streams.finish().flatMap(toPacket),
    manifest: () => ({
      format: 'hansard-judge-packet/1',
      pass,
      events,
      lines: n,
      kinds: { ...kinds },
      excluded: {
        streams: Object.fromEntries([...excluded].sort()),
        not_players: notPlayers,
        calls_without_input: { ...streams.leftOut },
      },
      redactions,
      bare_actions: bareActions,
      players: [...pseudonyms.players],
      pseudonyms_sha256: pseudonyms.sha256,
      sha256: hash.copy().digest('hex'),
    }),
  };

  function toPacket(streamed: StreamLine): WrittenLine[] {
    const kind = packetKind(streamed.stream, pass);
    const speaker = speakerOf(streamed);
    if (kind === null) {
      excluded.set(streamed.stream, (excluded.get(streamed.stream) ?? 0) + 1);
      return [];
    }
    if (kind !== 'chat' && pseudonyms.isNoPlayer(speaker)) {
      notPlayers += 1;
      return [];
    }
    const { event_id: eventId } = streamed.line;
    n += 1;
    kinds[kind] = (kinds[kind] ?? 0) + 1;
    const line: PacketLine = {
      n,
      turn: 'turn' in streamed.line ? hide(streamed.line.turn) : '',
      speaker: pseudonyms.of(speaker),
      kind,
      text: textOf(streamed),
      ref: refOf(dispatchId, eventId),
    };
    hash.update(`${JSON.stringify(line)}\n`);
    return [{ line, eventId }];
  }

  function textOf({ stream, line }: StreamLine): string {
    if (stream === 'chat') return hide(line.message);
    if (stream === 'agent_reasoning') return hide(line.thinking_process);
    if (stream !== 'agent_actions') throw new TypeError(`${stream} is not part of packets.`);
    if (!bareTypes.has(line.action_type)) return `${line.action_type} ${hiddenJson(line.payload, hide)}`;
    bareActions += 1;
    return line.action_type;
  }

  function hide(text: string): string {
    const hidden = pseudonyms.hide(text);
    redactions += hidden.count;
    return hidden.text;
  }
}

/** The reference to an event in packets. */
function refOf(dispatchId: string, eventId: string): string {
  return sha256(`${dispatchId}\n${eventId}`).slice(0, 16);
}

/** A whole input may hold private text, such as the reason that a model gives with its vote. */
function typesWithoutShape({ actions }: GameMapping): ReadonlySet<string> {
  const bare = Object.values(actions).filter(({ payload }) => payload === undefined);
  return new Set(bare.map(({ type }) => type));
}

function speakerOf({ line }: StreamLine): string {
  return 'speaker' in line ? line.speaker : 'agent' in line ? line.agent : '';
}
