import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function temporaryFolder(purpose: string): string {
  return mkdtempSync(join(tmpdir(), `hansard-${purpose}-`));
}
