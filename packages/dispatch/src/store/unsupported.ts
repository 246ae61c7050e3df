import { type StoreCapabilities, type StoreError, storeErrors } from '@hansard/provider';

export function unsupported(capability: keyof StoreCapabilities, instead: string): StoreError {
  return storeErrors.error('STORE_UNSUPPORTED', `This store has no ${capability}; ${instead}.`, {
    details: { capability },
  });
}
