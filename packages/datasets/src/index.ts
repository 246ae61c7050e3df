export { Cast, readCast } from './game-streams/cast.ts';
export {
  createGameStreams,
  type GameStreams,
  type GameStreamsOptions,
} from './game-streams/create-game-streams.ts';
export {
  type GameMapping,
  type GameMappingInput,
  gameLogMapping,
  mappingFor,
  matchMapping,
  parseGameMapping,
} from './game-streams/game-mapping.ts';
export { type LiveStreams, type LiveStreamsOptions, openLiveStreams } from './game-streams/live-streams.ts';
export {
  type GameStream,
  gameStreams,
  type StreamLine,
  specifiedStreams,
  streamLineSchemas,
  streamText,
} from './game-streams/stream-lines.ts';
export {
  type StreamedRun,
  type StreamsOptions,
  type WrittenStreams,
  writeGameStreams,
} from './game-streams/write-game-streams.ts';
export {
  createJudgePacket,
  type JudgePacketOptions,
  type JudgePacketWriter,
  type WrittenLine,
} from './judging/create-judge-packet.ts';
export { indexPackets } from './judging/index-packets.ts';
export { type JudgePass, judgePasses } from './judging/judge-pass.ts';
export type { NameSuspect, NameSuspects } from './judging/names/name-suspects.ts';
export { type NewVerdicts, newVerdicts } from './judging/new-verdicts.ts';
export {
  type PacketLine,
  type PacketManifest,
  packetLineSchema,
  packetManifestSchema,
} from './judging/packet-line.ts';
export { type Player, playersOf } from './judging/players-of.ts';
export {
  createPseudonyms,
  type Pseudonyms,
  readPseudonyms,
} from './judging/pseudonyms.ts';
export { type PacketIndex, type ReadVerdictsOptions, readVerdicts } from './judging/read-verdicts.ts';
export { type JudgeVerdictData, judgeVerdictData, type Verdict, verdictSchema } from './judging/verdict.ts';
export { countMoves, type VerdictMove, verdictMoves } from './judging/verdict-moves.ts';
export { type WrittenPackets, writeJudgePackets } from './judging/write-judge-packets.ts';
export type { ReasoningMode } from './training/rows/row-options.ts';
export { reasoningModes } from './training/rows/row-options.ts';
export { type DropReason, dropReasons } from './training/training-call.ts';
export type { TrainingEstimate } from './training/training-estimate.ts';
export { type TrainingFormatId, trainingFormatIds, trainingFormats } from './training/training-formats.ts';
export type { TrainingManifest } from './training/training-manifest.ts';
export {
  defaultMaxBytes,
  type TrainingOptions,
  writeTrainingData,
} from './training/write-training-data.ts';
export { writeTrainingFiles } from './training/write-training-files.ts';
