// Serves everything that describes the API: the OpenAPI documents, the reference page and the guides
// (docs/contract/general.md#documents).
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Surfaces } from '../../platform/http/surface.js';
import { errorsDocument } from '../errors-document.js';
import { serveOpenApi } from '../openapi.js';
import { serveStart } from '../start-page.js';
import { serveGuides } from './guides.js';
import { serveReference } from './reference-page.js';

interface Served {
  /** Where the root of the service and errors lead. Null: the root is 404. */
  readonly docsUrl: string | null;
  /** Whether this service serves the documents itself. */
  readonly servesDocs: boolean;
  /** The public address of the service, without a trailing slash. */
  readonly publicUrl: string;
  /** Whether the service has demo accounts, so that the calls of the documents work as they stand. */
  readonly demoAccounts: boolean;
}

interface Folders {
  /** The built reference page. */
  readonly reference: string;
  /** `docs` of the repository. */
  readonly guides: string;
}

export function serveDocuments(
  app: NestFastifyApplication,
  surfaces: Surfaces,
  { docsUrl, servesDocs, publicUrl, demoAccounts }: Served,
  folders: Folders,
): void {
  const fastify = app.getHttpAdapter().getInstance();
  if (docsUrl !== null) serveStart(fastify, docsUrl);
  if (!servesDocs) return;
  const documents = serveOpenApi(app, publicUrl, surfaces, demoAccounts);
  serveReference(fastify, { folder: folders.reference, documents });
  const written = { errors: errorsDocument(surfaces.all) };
  serveGuides(fastify, { folder: folders.guides, written, publicUrl, documents });
}
