import { type StoreCapabilities, StoreError } from '@hansard/provider';

export function unsupported(capability: keyof StoreCapabilities, instead: string): StoreError {
  return new StoreError('STORE_UNSUPPORTED', `This store has no ${capability}; ${instead}.`, {
    details: { capability },
  });
}
