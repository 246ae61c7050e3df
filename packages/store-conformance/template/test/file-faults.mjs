import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** The functions of `node:fs` with which the store changes or opens files, by the codes with which a system can fail them. */
const failing = {
  EIO: ['appendFileSync', 'writeFileSync', 'readFileSync', 'renameSync', 'truncateSync', 'mkdirSync'],
  EMFILE: ['appendFileSync', 'writeFileSync', 'readFileSync'],
  ENOSPC: ['appendFileSync', 'writeFileSync', 'renameSync', 'mkdirSync'],
  // `node:fs` itself repeats a short write.
  'short write': [],
};
const original = { ...fs };
let failed = 0;

function end() {
  for (const name of failing.EIO) fs[name] = original[name];
  syncBuiltinESMExports();
  return failed;
}

/** Makes calls of `node:fs` fail, for the kit. A failing append or write stores a part of its text. */
export const fileFaults = {
  begin({ kind, after, isLasting }) {
    let calls = 0;
    failed = 0;
    for (const name of failing[kind])
      fs[name] = (path, text, ...rest) => {
        calls += 1;
        if (calls !== after + 1 && !(isLasting && calls > after)) return original[name](path, text, ...rest);
        failed += 1;
        if (kind !== 'EMFILE' && (name === 'appendFileSync' || name === 'writeFileSync'))
          original[name](path, text.slice(0, text.length / 2), ...rest);
        throw Object.assign(new Error(`${kind}: injected, ${name} '${path}'`), {
          code: kind,
          syscall: name,
          path,
        });
      };
    syncBuiltinESMExports();
  },
  end,
};
