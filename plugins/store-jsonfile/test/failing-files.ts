import { constants } from 'node:fs';
import type { InjectedFault, InjectedFaults } from '@hansard/store-conformance';
import type { Files } from '../src/files.ts';

type Call = keyof Files;

/** The calls that a system can fail with this code. */
const failing: Readonly<Record<InjectedFault['kind'], readonly Call[]>> = {
  EIO: [
    'open',
    'read',
    'write',
    'truncate',
    'sync',
    'syncData',
    'touch',
    'rename',
    'link',
    'remove',
    'makeFolder',
    'list',
  ],
  EMFILE: ['open', 'list'],
  ENOSPC: ['open', 'write', 'rename', 'link', 'makeFolder'],
  'short write': ['write'],
};

/** The files of a system, and the faults that the kit can begin in them. */
export function failingFiles(files: Files): { readonly files: Files; readonly faults: InjectedFaults } {
  let fault: InjectedFault | null = null;
  let calls = 0;
  let failed = 0;

  /** Whether this call is to fail. */
  const isHit = (call: Call, flags: unknown): boolean => {
    if (fault === null || !failing[fault.kind].includes(call)) return false;
    // Only a new file needs space.
    if (fault.kind === 'ENOSPC' && call === 'open' && (Number(flags) & constants.O_CREAT) === 0) return false;
    calls += 1;
    const isFirst = calls === fault.after + 1;
    if (!isFirst && !(fault.isLasting && calls > fault.after)) return false;
    failed += 1;
    return true;
  };
  const failingCall =
    (call: Call) =>
    (...args: never[]): unknown => {
      const work = files[call] as (...args: never[]) => unknown;
      if (!isHit(call, args[1]) || fault === null) return work(...args);
      const { kind } = fault;
      if (kind !== 'short write')
        throw Object.assign(new Error(`${kind}: injected, ${call}`), { code: kind, syscall: call });
      const [fd, buffer, offset, length, position] = args as unknown as Parameters<Files['write']>;
      return files.write(fd, buffer, offset, Math.ceil(length / 2), position);
    };
  const names = Object.keys(files) as Call[];
  return {
    files: Object.fromEntries(names.map((name) => [name, failingCall(name)])) as unknown as Files,
    faults: {
      begin(next) {
        fault = next;
        calls = 0;
        failed = 0;
      },
      end() {
        fault = null;
        return failed;
      },
    },
  };
}
