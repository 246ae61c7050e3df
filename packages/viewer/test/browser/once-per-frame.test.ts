import { expect, it, onTestFinished, vi } from 'vitest';
import { oncePerFrame } from '../../src/page/reader-screen.tsx';

it('draws the first change at once, and later ones together with the next frame', () => {
  let frame: (() => void) | null = null;
  vi.stubGlobal('requestAnimationFrame', (then: () => void) => {
    frame = then;
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const nextFrame = () => {
    const then = frame;
    frame = null;
    then?.();
  };
  let drawn = 0;
  const onChange = oncePerFrame(() => {
    drawn += 1;
  });
  onChange();
  expect(drawn).toBe(1);
  for (let change = 0; change < 5; change += 1) onChange();
  expect(drawn).toBe(1);
  nextFrame();
  expect(drawn).toBe(2);
  nextFrame();
  expect([drawn, frame]).toEqual([2, null]);
  onChange();
  expect(drawn).toBe(3);
});
