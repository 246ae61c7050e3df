import type { CapturedEvent } from '@hansard/events';
import { isStraightEvent, type TranscriptPath, TranscriptTree } from '@hansard/prompt';
import { isAnswerBlock } from './answer-block.ts';
import type { DropReason } from './training-call.ts';

/** The current branches of the agents of a dispatch: what may be trained. */
export class TrainedBranches {
  readonly #tree: TranscriptTree<string>;
  readonly #dropped = new Set<string>();
  readonly #inheriting = new Set<string>();
  readonly #paths = new Map<string, TranscriptPath<string>>();

  private constructor(tree: TranscriptTree<string>) {
    this.#tree = tree;
  }

  /** Null: no event of the log begins a branch. */
  static async read(events: AsyncIterable<CapturedEvent>, count: number): Promise<TrainedBranches | null> {
    const tree = new TranscriptTree<string>();
    const branches = new TrainedBranches(tree);
    let read = 0;
    let isStraight = true;
    for await (const event of events) {
      if (read === count) break;
      read += 1;
      tree.add(event, event.id);
      isStraight &&= isStraightEvent(event);
      if (event.type === 'agent:created' && event.data.inherits !== undefined)
        branches.#inheriting.add(event.agentId ?? '');
    }
    return isStraight ? null : branches;
  }

  takenBackOf(agentId: string): ReadonlySet<string> {
    return this.#pathOf(agentId).takenBack;
  }

  /** Whether no prompt and no answer of a row may have an event. */
  leavesOut({ id }: CapturedEvent): boolean {
    return this.#tree.isRetracted(id) || !this.#tree.isCurrent(id);
  }

  /** Why the answer that an event is a block of is not trained; null: it can be, or its reason was given before. */
  reasonToDrop(event: CapturedEvent): DropReason | null {
    const { id, agentId = '', messageId = id } = event;
    const key = `${agentId} ${messageId}`;
    if (!isAnswerBlock(event) || this.#dropped.has(key)) return null;
    const reason = this.#reasonOf(id, agentId, messageId);
    if (reason !== null) this.#dropped.add(key);
    return reason;
  }

  /** Whether an answer was dropped. Its blocks are still part of later prompts. */
  isDropped({ id, agentId = '', messageId = id }: CapturedEvent): boolean {
    return this.#dropped.has(`${agentId} ${messageId}`);
  }

  /** The tree is whole: the current path of an agent no longer changes. */
  #pathOf(agentId: string): TranscriptPath<string> {
    const path = this.#paths.get(agentId) ?? this.#tree.currentPath(agentId);
    this.#paths.set(agentId, path);
    return path;
  }

  #reasonOf(id: string, agentId: string, messageId: string): DropReason | null {
    const tree = this.#tree;
    if (tree.isRetracted(id)) return 'retracted';
    const path = this.#pathOf(agentId);
    const standing = tree.standing(id);
    if (standing === 'parallel') return 'parallel';
    if (standing !== 'current' || path.cut.has(messageId)) return 'abandoned';
    // The rows of one agent have no events of another.
    if (this.#inheriting.has(agentId)) return 'not_reproducible';
    if (tree.retractions.length === 0) return null;
    const given = tree.pathBefore(id)?.values ?? [];
    return given.some((one) => tree.isRetracted(one)) ? 'retracted' : null;
  }
}
