export { Cast, readCast } from './game-streams/cast.ts';
export { createGameStreams, type GameStreams } from './game-streams/create-game-streams.ts';
export {
  type GameMapping,
  type GameMappingInput,
  gameLogMapping,
  mappingFor,
  matchMapping,
  parseGameMapping,
} from './game-streams/game-mapping.ts';
export {
  type GameStream,
  gameStreams,
  type StreamLine,
  specifiedStreams,
  streamLineSchemas,
  streamText,
} from './game-streams/stream-lines.ts';
export { type LiveStreams, openLiveStreams, writeGameStreams } from './game-streams/write-game-streams.ts';
export {
  createJudgePacket,
  type JudgePacketWriter,
  type JudgePass,
  judgePasses,
  type PacketManifest,
  type WrittenLine,
  type WrittenPackets,
  writeJudgePackets,
} from './judging/judge-packets.ts';
export type { NameSuspect, NameSuspects } from './judging/names/name-suspects.ts';
export { type Player, playersOf } from './judging/players-of.ts';
export { createPseudonyms, type Pseudonyms, readPseudonyms } from './judging/pseudonyms.ts';
export {
  countMoves,
  indexPackets,
  newVerdicts,
  readVerdicts,
  type VerdictMove,
  verdictMoves,
} from './judging/verdicts.ts';
export type { ReasoningMode } from './training/rows.ts';
export type { TrainingEstimate } from './training/training-estimate.ts';
export { type TrainingFormatId, trainingFormatIds, trainingFormats } from './training/training-formats.ts';
export {
  defaultMaxBytes,
  type TrainingManifest,
  writeTrainingData,
  writeTrainingFiles,
} from './training/write-training-data.ts';
