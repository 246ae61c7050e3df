/** The check of packets for `hansard judge pack` and `judge check`, apart from the code that writes them. */
export { type CheckedPacket, checkPacket, type PacketProblem } from './checking/check-packet.ts';
export type { PacketMapping } from './checking/game-reading.ts';
