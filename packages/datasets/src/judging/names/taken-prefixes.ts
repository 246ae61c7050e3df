import type { CapturedEvent, JsonValue } from '@hansard/events';

const numbered = /(?<![A-Za-z0-9])([P-Zp-z]{1,3})[0-9]{1,6}(?![A-Za-z0-9])/g;

/**
 * The letters that stand before a number in a text of the log, such as `P` in `P1`, in capitals. Signatures are not
 * texts, and verdicts are about pseudonyms, so both are left out.
 */
export class TakenPrefixes {
  readonly taken = new Set<string>();

  add({ type, data }: CapturedEvent): void {
    if (type !== 'judge:verdict') this.#addValue(data);
  }

  #addValue(value: JsonValue | undefined): void {
    if (typeof value === 'string') {
      for (const [, letters = ''] of value.matchAll(numbered)) this.taken.add(letters.toUpperCase());
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        if (key === 'signature') continue;
        if (!Array.isArray(value)) this.#addValue(key);
        this.#addValue(item);
      }
    }
  }
}
