import { expect, it, jest } from '@jest/globals';
import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { OperatorQueueModule } from '../../src/ops/operator-queue.js';
import { DeliveryQueue } from '../../src/ports/delivery-queue.js';

@Module({})
class WithRedis {}

it('loads BullMQ before the exchange with Redis, which has a time limit', async () => {
  const steps: string[] = [];
  const step = (name: string) => (): void => void steps.push(name);
  const redis = {
    status: 'ready',
    duplicate: () => redis,
    on: () => redis,
    zadd: step('zadd'),
    sadd: step('sadd'),
    disconnect: step('disconnect'),
  };
  class Queue {
    readonly add = step('add');
    readonly close = step('close');
    readonly on = (): this => this;
  }
  jest.unstable_mockModule('bullmq', () => {
    steps.push('load');
    return { Queue };
  });
  const withRedis = {
    module: WithRedis,
    global: true,
    providers: [{ provide: Redis, useValue: redis }],
    exports: [Redis],
  };
  const app = await Test.createTestingModule({ imports: [withRedis, OperatorQueueModule] }).compile();
  const due = { deliveryId: 'd', endpointId: 'e', kind: 'ladder', turn: '1' } as const;
  await app.get(DeliveryQueue).enqueue(due, new Date(0));
  await app.close();
  expect(steps).toEqual(['load', 'zadd', 'sadd', 'add', 'close', 'disconnect']);
});
