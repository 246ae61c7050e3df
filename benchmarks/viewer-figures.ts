/// <reference lib="dom" />
/** The figures of a page of the viewer, each with its limit. */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { openBrowser } from '../scripts/engines/browser.ts';
import { median } from './measure.ts';
import { rounded } from './report.ts';
import { type openStore, taskDir } from './viewer-log.ts';

type Browser = Awaited<ReturnType<typeof openBrowser>>;
export type Page = Awaited<ReturnType<Browser['newPage']>>;
export type Context = Awaited<ReturnType<Browser['newContext']>>;
export type Say = (figures: Record<string, number>, limits: Record<string, number>) => void;

export const rounds = 5;
const ticksPerSecond = 100;

/** What `watchRows` writes down in a page. */
export interface Seen {
  readonly seen: { readonly rows?: number; readonly total?: number };
  readonly delays: readonly number[];
}

export async function jumps(page: Page, place: string, events: number, say: Say): Promise<void> {
  const times: number[] = [];
  for (const part of [0.5, 0.25, 0.75, 0.123_456, 0.9]) {
    const at = Math.floor(events * part);
    times.push(
      await page.evaluate(
        ([hash, from]) =>
          new Promise<number>((resolve) => {
            const began = performance.now();
            location.hash = `${hash}?at=${from}`;
            const look = () => {
              const near = [...document.querySelectorAll<HTMLElement>('.row')].some(
                (row) =>
                  Math.abs(Number(row.dataset.position) - Number(from)) < 8 &&
                  row.querySelector('.what') !== null,
              );
              if (near) resolve(performance.now() - began);
              else requestAnimationFrame(look);
            };
            look();
          }),
        [place, at] as const,
      ),
    );
  }
  const jumpMs = rounded(median(times));
  say({ jumpMs, longestJumpMs: rounded(Math.max(...times)) }, { jumpMs: 60 });
}

export async function wheel(page: Page, events: number, say: Say): Promise<void> {
  await page.evaluate(
    (at) => {
      location.hash = location.hash.replace(/at=\d+/, `at=${at}`);
    },
    Math.floor(events / 3),
  );
  await wait(1_000);
  await page.evaluate(() => {
    const frames: number[] = [];
    let last = performance.now();
    let blank = 0;
    const frame = () => {
      const now = performance.now();
      frames.push(now - last);
      last = now;
      if (document.querySelector('.row .what') === null) blank += 1;
      Object.assign(globalThis, { frames, blank });
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  await page.mouse.move(640, 450);
  for (let turn = 0; turn < 180; turn += 1) await page.mouse.wheel(0, 240);
  const { frames, blank } = await page.evaluate(() => {
    const measured = globalThis as unknown as { readonly frames: number[]; readonly blank: number };
    return { frames: measured.frames, blank: measured.blank };
  });
  const sorted = [...frames].sort((left, right) => left - right);
  const wheelFrameMs = rounded(sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN);
  say({ wheelFrameMs, blankFrames: blank }, { wheelFrameMs: 33, blankFrames: 0 });
}

export async function memory(page: Page, pid: number, say: Say): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN;
  const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  const figures = { pageHeapMegabytes: rounded(heap / 2 ** 20), serverMegabytes: rounded(kilobytes / 1_024) };
  say(figures, { pageHeapMegabytes: 60, serverMegabytes: 150 });
}

/** From the request to the last row that was found. */
export async function lens(origin: string, cookie: string, say: Say): Promise<void> {
  for (const [figure, query] of [
    ['filterMs', 'failed=1'],
    ['textMs', 'text=nowhere'],
    ['frequentTextMs', 'text=candidates'],
  ] as const) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const began = performance.now();
      const place = `/api/d/${encodeURIComponent(taskDir)}/lens/find?${query}`;
      const answer = await fetch(origin + place, { headers: { cookie } });
      let text = '';
      for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text = text.slice(-20) + piece;
        if (text.includes('event: done')) break;
      }
      times.push(performance.now() - began);
    }
    say({ [figure]: rounded(median(times)) }, { [figure]: 1_000 });
  }
}

/** 200 events a second for 5 s, and 5,000 a second for 4 s. */
export async function live(
  context: Context,
  store: ReturnType<typeof openStore>,
  address: string,
  say: Say,
): Promise<void> {
  await using dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId: 'live' });
  await dispatch.append({ type: 'agent:text', data: { text: 'begin' } });
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForSelector('.row .what');
  let sent = 0;
  const send = (count: number) =>
    dispatch.append(
      Array.from({ length: count }, () => {
        sent += 1;
        return { type: 'agent:text' as const, data: { text: `sent ${sent} ${Date.now()}` } };
      }),
    );
  for (let turn = 0; turn < 500; turn += 1) {
    await send(2);
    await wait(10);
  }
  await wait(500);
  const delays = await page.evaluate(() => [...(globalThis as unknown as Seen).delays]);
  const sorted = delays.sort((left, right) => left - right);
  const liveMs = sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
  const neverShown = sent - delays.length;
  for (let turn = 0; turn < 80; turn += 1) {
    const due = wait(50);
    await send(250);
    await due;
  }
  const began = performance.now();
  const whole = `${(sent + 1).toLocaleString('en-GB')} events`;
  await page.waitForFunction(
    ([text, last]) =>
      document.querySelector('.count')?.textContent === text &&
      document.querySelector(`.row[data-position="${last}"]`) !== null,
    [whole, sent] as const,
  );
  say({ liveMs, neverShown, settledMs: rounded(performance.now() - began) }, { liveMs: 120, neverShown: 0 });
  await page.close();
}

/** Processor time of the server, in percent of a core: without a page, and with a page that has been hidden for 31 s. */
export async function idle(context: Context, address: string, pid: number, say: Say): Promise<void> {
  const idlePercent = await percentOf(pid, 30);
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForSelector('.row .what');
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await wait(31_000);
  const hiddenPercent = await percentOf(pid, 30);
  await page.close();
  say({ idlePercent, hiddenPercent }, { idlePercent: 0.5, hiddenPercent: 1 });
}

async function percentOf(pid: number, seconds: number): Promise<number> {
  const ticks = () => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  };
  const before = ticks();
  await wait(seconds * 1_000);
  return rounded(((ticks() - before) / ticksPerSecond / seconds) * 100);
}
