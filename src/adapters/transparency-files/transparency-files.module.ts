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
        text: signingKey ?? (await madeKey(join(path, 'keys'))),
      }),
      inject: [SealSettings, DataFolderSettings],
    },
  ],
  exports: [TransparencyFiles, SealSigningKey],
})
export class TransparencyFilesModule {}

/** A key that is not configured is made at the first start. */
async function madeKey(directory: string): Promise<string> {
  const make = (): string => `made:${randomBytes(32).toString('base64')}\n`;
  return (await fileMadeOnce(directory, 'seal-signing-key', make)).trim();
}
