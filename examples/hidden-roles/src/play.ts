import { resolve } from 'node:path';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { playGame } from './play-game.ts';

const root = resolve(process.env.INIT_CWD ?? process.cwd(), process.argv[2] ?? 'hansard-data');
const provider = await openJsonFileStore({ root });
const { dispatchId, result } = await playGame(provider);
await provider.close?.();
process.stdout.write(`${result}\nvillage/hidden-roles ${dispatchId} in ${root}\n`);
