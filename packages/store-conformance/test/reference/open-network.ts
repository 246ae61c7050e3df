import { openNetworkStore } from './network-store.ts';

/** For the case in which another process closes its store. */
export const openStore = (address: { host: string; port: number }, answerMs: number, fault: string | null) =>
  openNetworkStore(address, answerMs, (one) => one === fault);
