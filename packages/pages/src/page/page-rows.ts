import type { Row } from '@hansard/views';
import { packedItem } from './packed-rows.ts';
import { dayItem, rowItem } from './row-item.ts';

/** How many rows of a page are shown without its script. */
const mostPlain = 2_000;
const rowsInGroup = 500;

/** The rows of the dispatches of a page: the first ones plain, the others compressed. */
export class PageRows {
  #rows = 0;

  /** The items of a list with the rows of a dispatch. `scope` begins its anchors; `role` names the dispatched agent. */
  async *items(rows: AsyncIterable<Row>, scope: string, role: string): AsyncGenerator<string> {
    let day = '';
    let group: Row[] = [];
    const htmlOf = (row: Row) => {
      const own = row.timestamp.slice(0, 'YYYY-MM-DD'.length);
      const item = rowItem(row, scope, role);
      const html = own === day ? item : `${dayItem(own)}\n${item}`;
      day = own;
      return `${html}\n`;
    };
    const groupItem = async () => {
      const [first] = group;
      const last = group.at(-1);
      if (first === undefined || last === undefined) return '';
      const html = group.map(htmlOf).join('');
      const isPlain = this.#rows < mostPlain;
      const isFirstPacked = !isPlain && this.#rows - mostPlain < rowsInGroup;
      const packed = { scope, first: first.position, last: last.position, html };
      this.#rows += group.length;
      group = [];
      if (isPlain) return `<li class="group"><ol class="rows happened">\n${html}</ol></li>\n`;
      return `${isFirstPacked ? note : ''}${await packedItem(packed)}`;
    };
    for await (const row of rows) {
      group.push(row);
      if (group.length === rowsInGroup) yield await groupItem();
    }
    yield await groupItem();
  }
}

const note = '<li class="note"><noscript>The other rows of this page need its script.</noscript></li>\n';
