import { RoutesModule } from '../../src/modules/routes.module.js';
import { offlineDocuments } from '../../src/surfaces/documents/offline-documents.js';

export const DOCUMENTS = ['platform', 'server', 'direct', 'dashboard'] as const;

/** Each document by its name; `all` describes all APIs together. */
export async function openApiDocuments(): Promise<Readonly<Record<(typeof DOCUMENTS)[number] | 'all', any>>> {
  return (await offlineDocuments(RoutesModule, 'https://api.screening.test')) as any;
}
