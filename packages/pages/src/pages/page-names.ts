const longest = 80;

/** Names of files and folders for foreign names: of letters, digits, `.`, `_` and `-`, and different on every file system. */
export class PageNames {
  readonly #used = new Set<string>();

  nameFor(text: string): string {
    const plain = text.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, longest);
    const own = /^-*$/.test(plain) ? 'unnamed' : plain;
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? own : `${own}.${number}`;
      const key = name.toLowerCase();
      if (this.#used.has(key) || reserved.test(key)) continue;
      this.#used.add(key);
      return name;
    }
  }
}

/** The names of the index, and of devices on Windows. */
const reserved = /^(?:index|con|prn|aux|nul|com\d|lpt\d)$/;
