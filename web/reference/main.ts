// The reference page at `/docs`. Scalar draws it from the OpenAPI documents of this service. The page calls no other host.
import library from '../../node_modules/@scalar/fastify-api-reference/dist/js/standalone.js?url';

interface Scalar {
  createApiReference(place: string, configuration: object): unknown;
}

/** The APIs in the order of the selector, as the service wrote them into this page. */
interface Source {
  readonly name: string;
  readonly title: string;
}

const sources = JSON.parse(
  document.querySelector<HTMLMetaElement>('meta[name=reference-settings]')?.content ?? '[]',
) as readonly Source[];
/** The address of the API as this browser sees it. A proxy may have put a path before it. */
const api = location.href.replace(/\/docs\/?(?:[?#].*)?$/, '');

const script = document.createElement('script');
script.src = library;
script.onload = () => {
  const { Scalar } = window as unknown as { readonly Scalar: Scalar };
  Scalar.createApiReference('#reference', {
    sources: sources.map(({ name, title }) => ({
      slug: name,
      title,
      url: `${api}/openapi/${name}.json`,
    })),
    // Calls from this page then have the page's own origin.
    servers: [{ url: api }],
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    documentDownloadType: 'json',
    orderSchemaPropertiesBy: 'preserve',
    telemetry: false,
    withDefaultFonts: false,
    showDeveloperTools: 'never',
    hideClientButton: true,
    agent: { disabled: true },
    mcp: { disabled: true },
  });
};
document.head.append(script);
