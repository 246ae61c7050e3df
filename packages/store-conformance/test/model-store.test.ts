import { describe, it } from 'vitest';
import { defineStoreConformance } from '../src/index.ts';
import { modelCapabilities, openAsyncModel, openModel } from './open-model.ts';
import { openReference } from './open-reference.ts';
import { referenceCapabilities } from './reference/reference-store.ts';

defineStoreConformance({
  name: 'the model, answering at once',
  describe,
  it,
  capabilities: modelCapabilities,
  create: openModel,
});

defineStoreConformance({
  name: 'the model, answering with promises',
  describe,
  it,
  capabilities: modelCapabilities,
  create: async () => openAsyncModel(),
});

defineStoreConformance({
  name: 'the reference store',
  describe,
  it,
  capabilities: referenceCapabilities,
  create: openReference,
});
