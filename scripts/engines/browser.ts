import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { unpackedBrowser } from './unpack-browser.ts';

/**
 * Starts a real headless Chromium: the one that `HANSARD_BROWSER` names, else the one of this folder's packages. It
 * talks to nobody by itself. Close it.
 */
export async function openBrowser(): Promise<Browser> {
  const executablePath = process.env.HANSARD_BROWSER ?? unpackedBrowser();
  if (executablePath === null)
    throw new Error('The browser is not installed; `npx pnpm@12 test` installs it.');
  if (!existsSync(executablePath))
    throw new Error(`There is no browser ${executablePath} (HANSARD_BROWSER).`);
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--disable-dev-shm-usage',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  return chromium.launch({ executablePath, headless: true, args });
}
