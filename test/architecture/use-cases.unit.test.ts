// Commands change data, and queries only read data. Each command or query has one handler.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Module, type Type } from '@nestjs/common';
import { DiscoveryModule, NestFactory } from '@nestjs/core';
import {
  Command,
  CommandBus,
  CqrsModule,
  type ICommandHandler,
  type IQueryHandler,
  Query,
  QueryBus,
} from '@nestjs/cqrs';
import { describe, expect, it } from '@jest/globals';
import { Handles, UseCase, UseCaseCheck } from '../../src/platform/aggregates/use-case.js';

@UseCase()
class Rename extends Command<string> {}
@UseCase()
class ReadName extends Query<string> {}

@Handles(Rename)
class RenameHandler implements ICommandHandler<Rename> {
  execute = async (): Promise<string> => 'renamed';
}
@Handles(ReadName)
class ReadNameHandler implements IQueryHandler<ReadName> {
  execute = async (): Promise<string> => 'a name';
}
@Handles(ReadName)
class OtherHandler implements IQueryHandler<ReadName> {
  execute = async (): Promise<string> => 'another name';
}

async function started<Result>(
  providers: Type[],
  use: (buses: [CommandBus, QueryBus]) => Promise<Result>,
): Promise<Result> {
  @Module({ imports: [CqrsModule.forRoot(), DiscoveryModule], providers: [UseCaseCheck, ...providers] })
  class House {}
  const app = await NestFactory.createApplicationContext(House, { logger: false, abortOnError: false });
  try {
    return await use([app.get(CommandBus), app.get(QueryBus)]);
  } finally {
    await app.close();
  }
}

describe('a start with commands and queries', () => {
  it('passes each to its handler', async () => {
    const answers = started([RenameHandler, ReadNameHandler], async ([commands, queries]) => [
      await commands.execute(new Rename()),
      await queries.execute(new ReadName()),
    ]);
    await expect(answers).resolves.toEqual(['renamed', 'a name']);
  });

  it.each([
    ['a query has no handler', [RenameHandler], 'ReadName has no handler'],
    [
      'a query has two handlers',
      [RenameHandler, ReadNameHandler, OtherHandler],
      'ReadName has 2 handlers (ReadNameHandler, OtherHandler)',
    ],
    ['a command has no handler', [ReadNameHandler], 'Rename has no handler'],
  ])('fails when %s', async (_when, providers, fault) => {
    await expect(started(providers, async () => undefined)).rejects.toThrow(
      `Every command and query needs exactly one handler: ${fault}`,
    );
  });
});

describe('a use case of the service', () => {
  const files = readdirSync('src/modules', { recursive: true, encoding: 'utf8' })
    .filter((file) => /[/\\]application[/\\].*\.ts$/.test(file))
    .map((file) => ({ file, text: readFileSync(join('src/modules', file), 'utf8') }));
  const of = (kind: 'Command' | 'Query') =>
    files.flatMap(({ file, text }) =>
      [...text.matchAll(new RegExp(`(@UseCase\\(\\)\\s+)?export class (\\w+) extends ${kind}\\b`, 'g'))].map(
        ([, marked, name = '']) => ({ file, text, name, marked: marked !== undefined }),
      ),
    );
  const queries = of('Query');

  it('is marked, so that the start looks for its handler', () => {
    const all = [...of('Command'), ...queries];
    expect(all.length).toBeGreaterThan(50);
    expect(all.filter(({ marked }) => !marked).map(({ name }) => name)).toEqual([]);
  });

  it('is a query when its name says that it reads', () => {
    const reads = /^(?:Read|Fetch|Find|View|List|Get)/;
    expect(of('Command').filter(({ name }) => reads.test(name))).toEqual([]);
    expect(queries.map(({ name }) => name)).toContain('ReadSharing');
  });

  it('appends nothing when it is a query, except the record that a reader saw the data', () => {
    const appends = queries.flatMap(({ text }) => [
      ...(/appendTogether|CommandBus|ExternalCalls/.exec(text) ?? []),
      ...[...text.matchAll(/\.execute\(\s*(\w+)/g)].map(([, decider = '']) => decider),
    ]);
    expect([...new Set(appends)]).toEqual(['incomeReportView']);
  });
});

/** The application classes of a module that the handlers need, directly or indirectly. */
function classesBehind(handlers: readonly string[], folder: string): string[] {
  const needs = new Map<string, string[]>();
  for (const file of readdirSync(folder)) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, name = '', body = ''] of text.matchAll(/^export class (\w+)[^{]*\{([\s\S]*?)^\}/gm))
      needs.set(
        name,
        [...body.matchAll(/private readonly \w+: (\w+)/g)].map(([, need = '']) => need),
      );
  }
  const found = new Set(handlers);
  for (const name of found) for (const need of needs.get(name) ?? []) if (needs.has(need)) found.add(need);
  return [...found].filter((name) => !handlers.includes(name)).sort();
}

describe('the reading of reports', () => {
  it('needs only these eight classes for every API', () => {
    const handlers = ['OpenReport', 'OpenReportOnServer', 'OpenRenterReport', 'OpenLinkedReport', 'ReadCreditScore'];
    const names = [...handlers, 'ReadReportExpiry'].map((name) => `${name}Handler`);
    expect(classesBehind(names, 'src/modules/reports/application')).toEqual([
      'PartyReports',
      'ReadPurposes',
      'ReadRefusals',
      'ReportAccess',
      'ReportPolicy',
      'ReportPull',
      'ReportRelease',
      'ReportViewer',
    ]);
  });
});
