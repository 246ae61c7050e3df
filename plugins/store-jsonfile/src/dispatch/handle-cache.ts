import type { DispatchHandle } from './dispatch-handle.ts';

const mostHandles = 64;

/** Keeps a limited number of dispatches open. To open one more, it closes the least recently used one. */
export class HandleCache {
  /** In the order of their last use. */
  readonly #handles = new Map<string, DispatchHandle>();
  #latest: DispatchHandle | null = null;

  get(taskDir: string, dispatchId: string): DispatchHandle | null {
    const { name } = this.#latest ?? {};
    if (name !== undefined && name.dispatchId === dispatchId && name.taskDir === taskDir) return this.#latest;
    const key = keyOf(taskDir, dispatchId);
    const handle = this.#handles.get(key);
    if (handle === undefined) return null;
    this.#handles.delete(key);
    return this.#use(key, handle);
  }

  add(handle: DispatchHandle): DispatchHandle {
    const [oldest] = this.#handles.size >= mostHandles ? this.#handles.values() : [];
    if (oldest !== undefined) this.close(oldest);
    return this.#use(keyOf(handle.name.taskDir, handle.name.dispatchId), handle);
  }

  close(handle: DispatchHandle): void {
    this.#handles.delete(keyOf(handle.name.taskDir, handle.name.dispatchId));
    if (this.#latest === handle) this.#latest = null;
    handle.close();
  }

  closeAll(): void {
    for (const handle of this.#handles.values()) this.close(handle);
  }

  #use(key: string, handle: DispatchHandle): DispatchHandle {
    this.#handles.set(key, handle);
    this.#latest = handle;
    return handle;
  }
}

/** Valid names contain no line feed, so different dispatches have different keys. */
function keyOf(taskDir: string, dispatchId: string): string {
  return `${taskDir}\n${dispatchId}`;
}
