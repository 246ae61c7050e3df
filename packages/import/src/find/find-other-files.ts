import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where products keep sessions, beside `.jsonl` files. */
const names = /\.(json|db|vscdb|sqlite3?|eval|traj)$|^\.aider\.(chat|llm)\.history(\.md)?$/;
const sidecars = /\.meta\.json$/;
const most = 10_000;

/** The other files of a folder and below that may be of a product, at most 10,000. What cannot be read is left out. */
export function findOtherFiles(folder: string): string[] {
  const found: string[] = [];
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined && found.length < most; next = folders.pop()) {
    for (const entry of entriesOf(next)) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && names.test(entry.name) && !sidecars.test(entry.name)) found.push(path);
    }
  }
  return found.sort();
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // The walk for logs reports it.
    return [];
  }
}
