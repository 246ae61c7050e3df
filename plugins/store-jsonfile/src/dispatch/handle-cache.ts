import type { DispatchHandle } from './dispatch-handle.ts';

const mostHandles = 64;

/** Keeps a limited number of dispatches open. To open one more, it closes the one with the oldest use. */
export class HandleCache {
  readonly #handles = new Map<string, DispatchHandle>();
  #latest: DispatchHandle | null = null;
  #uses = 0;

  get(taskDir: string, dispatchId: string): DispatchHandle | null {
    const { name } = this.#latest ?? {};
    if (name !== undefined && name.dispatchId === dispatchId && name.taskDir === taskDir) return this.#latest;
    const handle = this.#handles.get(keyOf(taskDir, dispatchId));
    return handle === undefined ? null : this.#use(handle);
  }

  add(handle: DispatchHandle): DispatchHandle {
    if (this.#handles.size >= mostHandles) this.#closeOldest();
    this.#handles.set(keyOf(handle.name.taskDir, handle.name.dispatchId), handle);
    return this.#use(handle);
  }

  close(handle: DispatchHandle): void {
    this.#handles.delete(keyOf(handle.name.taskDir, handle.name.dispatchId));
    if (this.#latest === handle) this.#latest = null;
    handle.close();
  }

  closeAll(): void {
    for (const handle of this.#handles.values()) this.close(handle);
  }

  #use(handle: DispatchHandle): DispatchHandle {
    this.#uses += 1;
    handle.lastUsed = this.#uses;
    this.#latest = handle;
    return handle;
  }

  #closeOldest(): void {
    const [oldest] = [...this.#handles.values()].sort((a, b) => a.lastUsed - b.lastUsed);
    if (oldest !== undefined) this.close(oldest);
  }
}

/** Valid names contain no line feed, so different dispatches have different keys. */
function keyOf(taskDir: string, dispatchId: string): string {
  return `${taskDir}\n${dispatchId}`;
}
