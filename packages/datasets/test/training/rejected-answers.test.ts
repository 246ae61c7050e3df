import { describe, expect, it } from 'vitest';
import { trainingFormatIds } from '../../src/index.ts';
import { ann, annAlone, type Talk, write } from './talk.ts';

/** An answer of Ann that a hook rejected. */
function reject(talk: Talk): string {
  const data = { text: 'The code is 4711.', reason: 'no codes', hook: 'review', retry: true };
  return talk.add('agent:rejected', data, { agentId: ann, messageId: 'rejected-1' });
}

describe.each(trainingFormatIds)('in rows of the format %s', (format) => {
  it('an answer that nobody received is in no byte, and neither are the answers whose prompts have it', async () => {
    const talk = annAlone();
    talk.tell(ann, 'Hello.');
    talk.say(ann, 'Good day.');
    talk.tell(ann, 'The code?');
    const rejected = reject(talk);
    const after = talk.say(ann, 'I can not say.');
    talk.add('session:compaction', { trigger: 'auto', summary: 'They talked.' }, { agentId: ann });
    talk.tell(ann, 'And now?');
    talk.say(ann, 'Nothing.');
    const { text, manifest } = await write(talk, { format });
    expect(text).not.toContain('4711');
    expect(text).not.toContain('no codes');
    expect(text).toContain('Good day.');
    expect(text).toContain('Nothing.');
    expect(manifest.dropped).toEqual({ rejected: { count: 2, first: [rejected, after] } });
  });

  it('an agent that reviewed such an answer is not trained on it', async () => {
    const talk = annAlone();
    const message = { text: 'The code is 4711.', source: { kind: 'system' as const, hook: 'review' } };
    talk.add('user:message', { ...message, withheld: true }, { agentId: ann });
    const dropped = talk.say(ann, 'DENY 4711');
    const { text, manifest } = await write(talk, { format });
    expect(text).not.toContain('4711');
    expect(manifest.dropped).toEqual({ rejected: { count: 1, first: [dropped] } });
  });
});
