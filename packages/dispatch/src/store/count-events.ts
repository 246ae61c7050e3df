import { type DispatchStoreProvider, isStoreError } from '@hansard/provider';

/** How many events a dispatch has: asks for single positions, ever further apart, then between the last two. */
export async function countEvents(
  provider: DispatchStoreProvider,
  taskDir: string,
  dispatchId: string,
): Promise<number> {
  const has = async (position: number): Promise<boolean> => {
    try {
      const page = await provider.readEvents(taskDir, dispatchId, { after: position - 1, limit: 1 });
      return page.events.length > 0;
    } catch (error) {
      if (isStoreError(error, 'STORE_INVALID_CURSOR')) return false;
      throw error;
    }
  };
  let beyond = 1;
  while (await has(beyond - 1)) beyond *= 2;
  let count = Math.floor(beyond / 2);
  while (count < beyond - 1) {
    const middle = Math.floor((count + beyond) / 2);
    if (await has(middle - 1)) count = middle;
    else beyond = middle;
  }
  return count;
}
