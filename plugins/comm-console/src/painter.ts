import {
  type LineSegment,
  lineSegments,
  type RenderLineOptions,
  type Tone,
  type Words,
} from '@hansard/views';
import picocolors from 'picocolors';

type Paint = (text: string) => string;

export interface Painter {
  line(words: Words, options: RenderLineOptions): string;
  readonly dim: Paint;
  readonly notice: Paint;
}

/** Colours each part of a line, or returns it unchanged. */
export function createPainter(enabled: boolean): Painter {
  const colors = picocolors.createColors(enabled);
  const plain: Paint = (text) => text;
  const tones: Readonly<Record<Tone, Paint>> = {
    plain,
    dim: colors.dim,
    good: colors.green,
    bad: colors.red,
    notice: colors.yellow,
  };
  const quietTones: Readonly<Record<Tone, Paint>> = { ...tones, good: plain, notice: plain };
  const parts: Readonly<Record<LineSegment['part'], (tone: Tone) => Paint>> = {
    time: () => colors.dim,
    role: () => colors.cyan,
    agent: () => colors.magenta,
    word: (tone) => tones[tone],
    head: (tone) => (tone === 'dim' ? colors.dim : colors.bold),
    status: (tone) => tones[tone],
    text: (tone) => quietTones[tone],
  };
  return {
    line: (words, options) =>
      lineSegments(words, options)
        .map(({ part, text }) => parts[part](words.tone)(text))
        .join(''),
    dim: colors.dim,
    notice: colors.yellow,
  };
}
