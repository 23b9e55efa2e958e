// The files in the data folder next to the log and the vault.
import { join } from 'node:path';
import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { DataFolderSettings } from '../config/data-folder.js';
import { Health } from '../platform/http/health.js';
import { Log } from '../platform/observability/log.js';
import { Metrics } from '../platform/observability/metrics.js';
import { rolePart } from '../platform/roles/role-part.js';
import { CredentialsFile } from '../ports/credentials-file.js';
import { DiskCredentialsFile } from './credentials-file/disk.js';
import { DiskSpace } from './disk-space.js';
import type { SpaceUsage } from './lmdb/space.js';

@Global()
@Module({
  providers: [
    {
      provide: DiskSpace,
      useFactory: ({ path, diskLowBytes }: DataFolderSettings, log: Log) => watchDisk(path, diskLowBytes, log),
      inject: [DataFolderSettings, Log],
    },
    {
      provide: CredentialsFile,
      useFactory: ({ path }: DataFolderSettings) => new DiskCredentialsFile(join(path, 'demo-credentials.json')),
      inject: [DataFolderSettings],
    },
    rolePart('every-role', DiskSpace),
  ],
  exports: [DiskSpace, CredentialsFile],
})
export class DataFolderModule implements OnModuleInit {
  constructor(
    private readonly disk: DiskSpace,
    private readonly health: Health,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    const { disk, health, metrics } = this;
    health.add('disk', () => (disk.full ? 'The disk of the data folder is full.' : null));
    metrics.beforeScrape(async () => metrics.diskFree.set(disk.freeBytes));
  }
}

function watchDisk(directory: string, lowBytes: number, log: Log): DiskSpace {
  return new DiskSpace(
    { directory, lowBytes },
    {
      low: (freeBytes) => log.warn({ freeBytes }, 'the disk of the data folder is getting full'),
      full: (freeBytes) =>
        log.error(
          { freeBytes },
          'the disk of the data folder is full: nothing new is stored until it has room again; the reserve file was removed',
        ),
      roomAgain: (freeBytes) => log.warn({ freeBytes }, 'the disk of the data folder has room again'),
      failed: (error) => log.error({ err: error }, 'the disk of the data folder could not be checked'),
    },
  );
}

/** The settings of an LMDB file. `variable` sets the file's largest size. */
export function nearlyFull(log: Log, what: string, variable: string): (usage: SpaceUsage) => void {
  return ({ usedBytes, totalBytes }) =>
    log.warn(
      { usedBytes, totalBytes, variable },
      `${what} is nearly full: give it more room, or the disk if the disk is short`,
    );
}
