import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { createRedactor } from '@hansard/redaction';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openViewer } from './viewer-page.ts';

const taskDir = 'lab/tasks/maps';
const place = `/d/${encodeURIComponent(taskDir)}/images`;

/** A PNG of one colour with a transparent half. */
function png(width: number, height: number, colour: readonly [number, number, number]): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([8, 6, 0, 0, 0], 8);
  const line = Buffer.concat([
    Buffer.from([0]),
    ...Array.from({ length: width }, (_, x) => Buffer.from([...colour, x < width / 2 ? 255 : 0])),
  ]);
  const lines = Buffer.concat(Array.from({ length: height }, () => line));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function crc(bytes: Buffer): number {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return (value ^ 0xffffffff) >>> 0;
}

const picture = png(320, 160, [200, 60, 30]);
const gone = png(10, 10, [0, 0, 0]);
const svg = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg"><script>globalThis.taken = true</script></svg>',
);
const pdf = Buffer.from('%PDF-1.4 nothing');
const broken = Buffer.from('not an image at all');
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

let root: string;
let store: DispatchStore;
let viewer: Awaited<ReturnType<typeof openViewer>>;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'hansard-viewer-'));
  store = openDispatchStore(openJsonFileStore({ root }));
  const dispatch = await store.beginDispatch(taskDir, {
    role: 'worker',
    dispatchId: 'images',
    fidelity: 'full',
  });
  const parts = [
    { kind: 'image' as const, mediaType: 'image/png', base64: picture.toString('base64'), name: 'map.png' },
    { kind: 'image' as const, mediaType: 'image/svg+xml', base64: svg.toString('base64') },
    {
      kind: 'document' as const,
      mediaType: 'application/pdf',
      base64: pdf.toString('base64'),
      name: 'map.pdf',
    },
    { kind: 'image' as const, mediaType: 'image/png', base64: broken.toString('base64') },
    { kind: 'image' as const, mediaType: 'image/png', base64: gone.toString('base64') },
  ];
  await dispatch.append(
    newEvent('user:message', { text: 'What is on it?', source: { kind: 'user' }, parts }),
  );
  await dispatch.end({ status: 'completed' });
  const contents = [sha256Of(gone)];
  await store.redactDispatch(dispatch, createRedactor({ formats: false, contents }));
  viewer = await openViewer(store);
});

afterAll(async () => {
  await viewer?.close();
  await store?.close();
  rmSync(root, { recursive: true, force: true });
});

it.each([false, true])(
  'shows an image, names other content, and keeps the policy of the page (dark: %s)',
  async (dark) => {
    await using opened = await viewer.open(`${place}?at=5`, { dark });
    const { page, problems } = opened;
    await page.waitForSelector('.row[data-position="5"] .what');
    if ((await page.locator('aside').count()) === 0)
      await page.locator('.row[data-position="5"] button').first().click();
    await page.waitForSelector('aside .media img');
    const image = page.locator('aside .media img');
    await expect.poll(() => image.evaluate((one) => (one as HTMLImageElement).naturalWidth)).toBe(320);
    expect(await image.getAttribute('src')).toBe(`data:image/png;base64,${picture.toString('base64')}`);
    // Bytes that are not what they say are named, and the SVG is never an element.
    await page.waitForSelector('aside .media .note');
    expect(await page.locator('aside .media img').count()).toBe(1);
    const text = (await page.locator('aside').textContent()) ?? '';
    for (const bytes of [picture, svg, pdf, broken])
      expect(text).toContain(`sha256 ${sha256Of(bytes).slice(0, 8)}`);
    expect(text).toContain(`sha256 ${sha256Of(gone).slice(0, 8)}…, removed]`);
    const links = page.locator('aside .media a');
    expect(await links.evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).download))).toEqual([
      'map.png',
      sha256Of(svg).slice(0, 8),
      'map.pdf',
      sha256Of(broken).slice(0, 8),
    ]);
    const [download] = await Promise.all([page.waitForEvent('download'), links.nth(2).click()]);
    expect(download.suggestedFilename()).toContain('map.pdf');
    expect(await page.evaluate('globalThis.taken')).toBeUndefined();
    expect(problems).toEqual([]);
    const folder = process.env.HANSARD_PICTURES;
    if (folder !== undefined)
      await page.screenshot({ path: join(folder, `images${dark ? '-dark' : ''}.png`) });
  },
);
