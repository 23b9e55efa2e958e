// The host script in a real browser: what it refuses, what it tells, and what it leaves behind.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Embedding, type HostPage } from '../../support/embedding.js';

let embedding: Embedding;
let host: HostPage | undefined;

beforeAll(async () => {
  embedding = await Embedding.start();
});
afterAll(() => embedding.stop());
afterEach(async () => {
  await host?.close();
  host = undefined;
});

describe('a mounted view', () => {
  it('is told to be ready, with the token of the page', async () => {
    host = await embedding.open();
    await host.mount();
    expect(await host.hears('onReady')).toEqual({ view: 'screening' });
  });
});
