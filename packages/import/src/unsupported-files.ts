import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { formatErrors } from '@hansard/events';
import { toAbsolute } from './find/find-logs.ts';
import { readHead } from './find/read-source.ts';
import { importErrors } from './import-errors.ts';
import type { ImportFailure } from './import-report.ts';
import { unsupported } from './importers/choose-importer.ts';
import { nameProduct } from './importers/name-product.ts';

/** The files of an import whose products cannot be imported, by product. */
export class UnsupportedFiles {
  readonly #files = new Map<string, string[]>();
  readonly #folders = new Set<string>();
  count = 0;

  /** Adds the files of products below the folders among some paths that are not `.jsonl` files. */
  addBelow(paths: readonly string[]): void {
    for (const path of paths.map(toAbsolute)) {
      if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) continue;
      for (const file of findOtherFiles(path)) {
        const product = productOf(file);
        if (product === null) continue;
        this.#add(product, file);
        this.#folders.add(path);
      }
    }
  }

  /** Adds the file that an error is about; false for any other error. */
  take(error: unknown): boolean {
    if (!importErrors.is(error, 'IMPORT_PRODUCT_UNSUPPORTED')) return false;
    const { product, files } = error.details;
    for (const file of files as readonly string[]) this.#add(String(product), file);
    return true;
  }

  /** Whether a folder has files of a product, so that it is not without logs. */
  isBelow(folder: string): boolean {
    return this.#folders.has(folder);
  }

  /** One failure for each product. `isAll`: whether the import had nothing else. */
  failures(isAll: boolean): ImportFailure[] {
    const isOnly = isAll && this.#files.size === 1;
    return [...this.#files].map(([product, files]) => ({
      kind: 'failed',
      path: files[0] ?? '',
      error: unsupported(product, files),
      isOnly,
      files: files.length,
    }));
  }

  #add(product: string, file: string): void {
    this.count += 1;
    const files = this.#files.get(product);
    if (files === undefined) this.#files.set(product, [file]);
    else files.push(file);
  }
}

function productOf(file: string): string | null {
  try {
    return nameProduct(readHead(file));
  } catch (error) {
    if (formatErrors.is(error)) return null;
    throw error;
  }
}

/** Where products keep sessions, beside `.jsonl` files. */
const sessionNames = /\.(json|db|vscdb|sqlite3?|eval|traj)$|^\.aider\.(chat|llm)\.history(\.md)?$/;
const sidecars = /\.meta\.json$/;
const mostFiles = 10_000;

/** The other files of a folder and below that may be of a product, at most 10,000. What cannot be read is left out. */
function findOtherFiles(folder: string): string[] {
  const found: string[] = [];
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined && found.length < mostFiles; next = folders.pop()) {
    for (const entry of entriesOf(next)) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && sessionNames.test(entry.name) && !sidecars.test(entry.name))
        found.push(path);
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
