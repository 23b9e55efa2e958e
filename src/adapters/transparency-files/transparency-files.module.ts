// The files of the transparency log in the data folder, and the key that signs its checkpoints.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Global, Module } from '@nestjs/common';
import { DataFolderSettings } from '../../config/data-folder.js';
import { SealSettings } from '../../config/sealing.js';
import { SealSigningKey, TransparencyFiles } from '../../ports/transparency-files.js';
import { fileMadeOnce } from '../file-made-once.js';
import { DiskTransparencyFiles } from './disk.js';

@Global()
@Module({
  providers: [
    {
      provide: TransparencyFiles,
      useFactory: ({ path }: DataFolderSettings) => new DiskTransparencyFiles(join(path, 'transparency')),
      inject: [DataFolderSettings],
    },
    {
      provide: SealSigningKey,
      useFactory: async ({ signingKey }: SealSettings, { path }: DataFolderSettings): Promise<SealSigningKey> => ({
        text: signingKey ?? (await developmentKey(join(path, 'keys'))),
      }),
      inject: [SealSettings, DataFolderSettings],
    },
  ],
  exports: [TransparencyFiles, SealSigningKey],
})
export class TransparencyFilesModule {}

/** Outside production, the key need not be configured, because the first start makes one. */
async function developmentKey(directory: string): Promise<string> {
  const make = (): string => `development:${randomBytes(32).toString('base64')}\n`;
  return (await fileMadeOnce(directory, 'seal-signing-key', make)).trim();
}
