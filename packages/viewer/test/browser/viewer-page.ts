import { type DispatchStore, NoteWriter } from '@hansard/dispatch';
import { openBrowser } from '../../../../scripts/engines/browser.ts';
import { builtViewer } from './built-viewer.ts';

export { faultsIn } from '../../../../scripts/engines/faults-in.ts';

type Browser = Awaited<ReturnType<typeof openBrowser>>;
export type Page = Awaited<ReturnType<Browser['newPage']>>;

export interface PageOptions {
  readonly width?: number;
  readonly dark?: boolean;
}

/** A browser and the viewer of a store, as it is published. `reader`: who makes marks on its pages. */
export async function openViewer(store: DispatchStore, { reader }: { readonly reader?: string } = {}) {
  const { createViewer } = await builtViewer();
  const running = await createViewer({
    store,
    notes: reader === undefined ? undefined : new NoteWriter(store, reader),
  }).start();
  const browser = await openBrowser();
  const origin = `http://127.0.0.1:${running.port}/`;
  return {
    running,
    browser,
    /** A page, with what must not happen: a script that fails, a rule of the page that is broken, a request to another host. */
    open: async (hash: string, { width = 1_280, dark = false }: PageOptions = {}) => {
      const page = await browser.newPage({
        viewport: { width, height: 900 },
        colorScheme: dark ? 'dark' : 'light',
      });
      const problems: string[] = [];
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text());
      });
      page.on('dialog', (dialog) => problems.push(`dialog ${dialog.message()}`));
      page.on('request', (request) => {
        if (!request.url().startsWith(origin) && !request.url().startsWith('data:'))
          problems.push(request.url());
      });
      await page.goto(`${running.url}#${hash}`);
      return { page, problems, [Symbol.asyncDispose]: () => page.close() };
    },
    close: async () => {
      await browser.close();
      await running.close();
    },
  };
}

/** The positions of the rows in the window, from top to bottom. */
export const positionsIn = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('.row')]
      .sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top)
      .map((row) => Number(row.dataset.position)),
  );
