// The files of the transparency log in the data folder, the key that signs its checkpoints, and the anchors.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Global, Module } from '@nestjs/common';
import { DataFolderSettings } from '../../config/data-folder.js';
import { SealSettings } from '../../config/sealing.js';
import { SealSigningKey, TransparencyFiles } from '../../ports/transparency-files.js';
import { Anchors } from '../../ports/anchors.js';
import { DirectoryAnchor } from '../anchors/directory.js';
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
    { provide: Anchors, useFactory: openAnchors, inject: [SealSettings] },
  ],
  exports: [TransparencyFiles, SealSigningKey, Anchors],
})
export class TransparencyFilesModule {}

async function openAnchors({ anchorFolder, anchorBucket }: SealSettings): Promise<Anchors> {
  return {
    list: [
      ...(anchorFolder === null ? [] : [new DirectoryAnchor(anchorFolder)]),
      // Loaded only when it is used, because otherwise every operator command would start more slowly.
      ...(anchorBucket === null ? [] : [new (await import('../anchors/s3.js')).S3Anchor(anchorBucket)]),
    ],
  };
}

/** A key that is not configured is made at the first start. */
async function madeKey(directory: string): Promise<string> {
  const make = (): string => `made:${randomBytes(32).toString('base64')}\n`;
  return (await fileMadeOnce(directory, 'seal-signing-key', make)).trim();
}
