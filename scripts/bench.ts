import { execFileSync } from 'node:child_process';

for (const name of [
  'append',
  'batches',
  'fold',
  'sqlite-integrity',
  'listings',
  'reads',
  'sessions',
  'session-appends',
  'causes',
  'context',
  'import',
  'import-again',
  'exports',
  'training',
  'memory',
])
  execFileSync(process.execPath, ['--conditions=@hansard/source', '--expose-gc', `benchmarks/${name}.ts`], {
    stdio: 'inherit',
  });
