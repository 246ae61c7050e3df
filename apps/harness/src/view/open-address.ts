import { spawn } from 'node:child_process';
import { type CliContext, note } from '../terminal/context.ts';

/** The programs that open an address as their user has chosen, by the platform. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/**
 * Opens an address with the platform's opener, and does not wait for it. Where there is none, or it fails, a note with a code says so:
 * `VIEW_NO_OPENER`, `VIEW_OPENER_FAILED`. The address is in the arguments of programs, which every user of the machine can read.
 */
export function openAddress(context: CliContext, address: string, platform = process.platform): void {
  const [program, ...args] = openers[platform] ?? ['xdg-open'];
  const fail = (code: string, reason: string) =>
    note(context, `${code}: ${reason} Open the printed address yourself.`);
  const child = spawn(program, [...args, address], { env: context.env, stdio: 'ignore', detached: true });
  child.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') fail('VIEW_NO_OPENER', `There is no ${program} here.`);
    else fail('VIEW_OPENER_FAILED', `${program} could not be started: ${error.message}.`);
  });
  child.on('exit', (status) => {
    if (status !== 0) fail('VIEW_OPENER_FAILED', `${program} failed (${status ?? 'ended by a signal'}).`);
  });
  child.unref();
}
