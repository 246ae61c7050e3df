import { describe, it } from 'node:test';
import { defineStoreConformance } from '@hansard/store-conformance';
import store from './store-under-test.mjs';

defineStoreConformance({ ...store, name: 'store-example', describe, it });
