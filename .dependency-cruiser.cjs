// The import rules of docs/architecture.md, one rule per room. Each rule has a fixture of its name under test/architecture/fixtures/
// that breaks it.

const anyOf = (paths) => `(?:${paths.join('|')})`;

/** The rooms of this repository. */
const KERNEL = '^src/kernel/';
const PORTS = '^src/ports/';
const PUBLISHED = '^src/published/';
const SURFACES = '^src/surfaces/';
const PLATFORM = '^src/platform/';
const HANDLING = '^src/platform/aggregates/';
const PLATFORM_HTTP = '^src/platform/http/';
const EXTERNAL_CALLS = '^src/external-calls/';
const CHALLENGES = '^src/challenges/';
const CHALLENGE_DOMAIN = '^src/challenges/domain/';
const TRANSPARENCY = '^src/transparency/';
const ADAPTERS = '^src/adapters/';
const CONFIG = '^src/config/';
const MODULES = '^src/modules/';
const MODULE_FILES = '^src/modules/[^/]+/[^/]+\\.module\\.ts$';
/** The modules, the lowest first. */
const FLOORS = ['holds', 'accounts', 'vendors', 'screening', 'parties', 'payments', 'reports', 'income', 'webhooks'];
const VENDOR_KIT = '^src/vendor-kit/';
const VENDORS = '^src/vendors/';
/** A vendor's server in the sandbox, and the common parts of these servers. */
const DOUBLES = '^src/(?:vendors/[^/]+|vendor-kit)/double/';
/** The certification of a vendor, which runs in its test alone. */
const CERTIFICATION = ['^src/vendor-kit/certification/', '^src/vendors/[^/]+/vendor\\.test\\.ts$'];
/** In a rule's `to`, $1 is the module's name that its `from` captured. */
const inModule = (room) => `^src/modules/([^/]+)/${room}/`;
const own = (room) => `^src/modules/$1/${room}/`;

/** Packages, and the modules of Node. */
const packages = (names) => `(?:^|/)node_modules/${anyOf(names)}/`;
const builtins = (names) => `^(?:node:)?${anyOf(names)}$`;
const LIBRARIES = ['(?:^|/)node_modules/', '^node:', builtins(require('node:module').builtinModules)];
const NEST = packages(['@nestjs/[^/]+']);
/** Libraries that only routes need. */
const ROUTE_LIBRARIES = ['@nestjs/(?:swagger|passport|platform-fastify)', 'class-validator', 'passport[^/]*'];
/** A bounded cache. It is a data structure and reaches nothing outside. */
const CACHE = packages(['lru-cache']);

const allowOnly = (name, from, to, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { pathNot: to },
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    allowOnly(
      'kernel',
      KERNEL,
      [KERNEL, builtins(['crypto']), packages(['uuid'])],
      'The kernel holds words; of libraries only what makes and hashes ids.',
    ),
    allowOnly('ports', PORTS, [PORTS, KERNEL], 'A port is a contract in prose and types.'),
    {
      name: 'published',
      comment:
        'What modules may know of each other depends on no module. The command that writes its document writes a file.',
      severity: 'error',
      from: { path: PUBLISHED, pathNot: '/generate-docs\\.ts$' },
      to: { pathNot: [PUBLISHED, KERNEL] },
    },
    {
      name: 'surfaces',
      comment:
        'An API surface knows the engine of HTTP and published facts, and no module; of libraries, what hashes, and the rules of body classes for documents. The command that writes its document writes a file.',
      severity: 'error',
      from: { path: SURFACES, pathNot: '/generate-docs\\.ts$' },
      to: {
        pathNot: [
          SURFACES,
          PLATFORM_HTTP,
          PUBLISHED,
          KERNEL,
          NEST,
          packages(['fastify', 'class-validator']),
          builtins(['crypto']),
        ],
      },
    },
    allowOnly(
      'challenge-domain',
      CHALLENGE_DOMAIN,
      [CHALLENGE_DOMAIN, KERNEL],
      'What a challenge decides is pure, as the domain of its holders is.',
    ),
    allowOnly(
      'challenges',
      '^src/challenges/application/',
      [CHALLENGES, PORTS, PUBLISHED, KERNEL, HANDLING, EXTERNAL_CALLS, packages(['@nestjs/common'])],
      'How a challenge is answered knows its holders as data: no module.',
    ),
    allowOnly(
      'domain',
      inModule('domain'),
      [own('domain'), CHALLENGE_DOMAIN, KERNEL, builtins(['crypto'])],
      'Pure: hashing is the one thing it takes from outside.',
    ),
    allowOnly(
      'application',
      inModule('application'),
      [
        own('application'),
        own('domain'),
        CHALLENGES,
        PORTS,
        PUBLISHED,
        KERNEL,
        HANDLING,
        EXTERNAL_CALLS,
        packages(['@nestjs/common', '@nestjs/cqrs']),
        CACHE,
        builtins(['crypto', 'timers/promises', 'util', 'zlib']),
      ],
      'A use case reaches the outside through ports.',
    ),
    allowOnly(
      'read',
      inModule('read'),
      [
        own('read'),
        own('domain'),
        CHALLENGE_DOMAIN,
        PORTS,
        PUBLISHED,
        KERNEL,
        packages(['@nestjs/common']),
        CACHE,
        '^(?:node:)?events$',
      ],
      'A projection knows events and its store.',
    ),
    allowOnly(
      'http',
      inModule('http'),
      [
        own('http'),
        own('application'),
        own('read'),
        PLATFORM_HTTP,
        '^src/surfaces/[^/]+/',
        PUBLISHED,
        KERNEL,
        NEST,
        packages(['class-validator', 'fastify']),
      ],
      'Controllers run use cases and readers, and say things as their surface does; never ports or adapters.',
    ),
    allowOnly(
      'module-file',
      '^src/modules/([^/]+)/[^/]+$',
      ['^src/modules/$1/', MODULE_FILES, CHALLENGES, EXTERNAL_CALLS, CONFIG, PLATFORM, KERNEL, PORTS, PUBLISHED, NEST],
      'The Nest module file wires the rooms of its own module.',
    ),
    {
      name: 'module-to-module',
      comment: 'Modules know each other through published/ only; a Nest module imports the one that provides it.',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/' },
      to: { path: MODULES, pathNot: ['^src/modules/$1/', MODULE_FILES] },
    },
    ...FLOORS.map((module, floor) => ({
      name: 'module-to-floor-below',
      comment: 'A module imports those below it. What it asks of one above stands in published/.',
      severity: 'error',
      from: { path: `^src/modules/${module}/` },
      to: { path: `^src/modules/${anyOf(FLOORS.slice(floor + 1))}/` },
    })).slice(0, -1),
    allowOnly(
      'platform',
      '^src/platform/(?!.*\\.module\\.ts$)',
      [PLATFORM, KERNEL, PORTS, PUBLISHED, ...LIBRARIES],
      'Engine rooms know no business and no adapter.',
    ),
    allowOnly(
      'external-calls',
      EXTERNAL_CALLS,
      [EXTERNAL_CALLS, KERNEL, PORTS, PLATFORM, ...LIBRARIES],
      'How vendors are called, whichever they are: no business, no adapter.',
    ),
    allowOnly(
      'transparency',
      '^src/transparency/(?!.*\\.module\\.ts$)',
      [TRANSPARENCY, PORTS, KERNEL, PLATFORM_HTTP, ...LIBRARIES],
      'The sealed log knows events as they are stored: no business, no adapter.',
    ),
    allowOnly(
      'transparency-module',
      '^src/transparency/.*\\.module\\.ts$',
      [TRANSPARENCY, CONFIG, PLATFORM, PORTS, KERNEL, NEST],
      'The Nest module file of the sealed log reads the configuration.',
    ),
    allowOnly(
      'platform-module',
      '^src/platform/.*\\.module\\.ts$',
      [PLATFORM, CONFIG, KERNEL, PORTS, PUBLISHED, ...LIBRARIES],
      'The Nest module file of an engine room reads the configuration.',
    ),
    allowOnly(
      'adapters',
      '^src/adapters/(?!.*\\.module\\.ts$)',
      [ADAPTERS, PORTS, KERNEL, ...LIBRARIES],
      'An adapter knows its port and its library.',
    ),
    {
      name: 'redis-is-below-what-is-kept-in-it',
      comment: 'The connection to Redis knows none of the adapters that use it.',
      severity: 'error',
      from: { path: '^src/adapters/redis/' },
      to: { path: ADAPTERS, pathNot: '^src/adapters/redis/' },
    },
    allowOnly(
      'adapter-module',
      '^src/adapters/.*\\.module\\.ts$',
      [ADAPTERS, EXTERNAL_CALLS, VENDORS, VENDOR_KIT, CONFIG, PLATFORM, PORTS, KERNEL, ...LIBRARIES],
      'The Nest module file of adapters builds them from the configuration, and knows no business.',
    ),
    {
      name: 'root',
      comment:
        'Only the service runs the root, and only the root runs a role: a command of an operator starts nothing by itself.',
      severity: 'error',
      from: { pathNot: ['^src/app\\.module\\.ts$', '^src/service\\.ts$'] },
      to: { path: ['^src/app\\.module\\.ts$', '^src/platform/roles/roles\\.module\\.ts$'] },
    },
    {
      name: 'adapters-are-picked-in-one-place',
      comment: 'Only the composition root and the operator command line pick adapters and open vendors.',
      severity: 'error',
      from: {
        pathNot: [
          ADAPTERS,
          VENDORS,
          VENDOR_KIT,
          '^src/app\\.module\\.ts$',
          '^src/(main|service)\\.ts$',
          '^src/ops/',
          '^sandbox/',
        ],
      },
      to: { path: [ADAPTERS, VENDORS, VENDOR_KIT] },
    },
    allowOnly(
      'vendor-kit',
      VENDOR_KIT,
      [VENDOR_KIT, PORTS, KERNEL, ...LIBRARIES],
      'What vendor folders are made with knows none of them.',
    ),
    allowOnly(
      'vendors',
      '^src/vendors/([^/]+)/',
      ['^src/vendors/$1/', VENDOR_KIT, PORTS, KERNEL, ...LIBRARIES],
      'A vendor folder knows the ports and what it is made with; never another vendor, a module or an adapter.',
    ),
    allowOnly(
      'doubles',
      '^src/vendors/([^/]+)/double/',
      ['^src/vendors/$1/double/', '^src/vendor-kit/double/', '^src/kernel/with-timeout[.]ts$', ...LIBRARIES],
      'A double reads the wire format by itself: what it shared with the adapter would be wrong in both.',
    ),
    {
      name: 'doubles-are-for-the-sandbox',
      comment:
        'The service knows its vendors over the wire only. The command that writes their pages reads the personas.',
      severity: 'error',
      from: { pathNot: [DOUBLES, '^sandbox/', ...CERTIFICATION, '/generate-docs\\.ts$'] },
      to: { path: DOUBLES },
    },
    {
      name: 'certification-is-for-tests',
      comment: 'The service reads the certificate of a vendor. Only tests certify.',
      severity: 'error',
      from: { pathNot: CERTIFICATION },
      to: { path: CERTIFICATION },
    },
    allowOnly('config', CONFIG, [CONFIG, KERNEL, ...LIBRARIES], 'Configuration is read before anything else exists.'),
    allowOnly(
      'sandbox',
      '^sandbox/',
      ['^sandbox/', DOUBLES, ...LIBRARIES],
      'The sandbox is made of the doubles of the vendors: it knows the service over HTTP only.',
    ),
    allowOnly(
      'embed',
      '^web/embed/',
      ['^web/(?:embed|contract)/', packages(['penpal'])],
      "The host script runs on other people's pages: it has no framework, and imports nothing of the server.",
    ),
    allowOnly(
      'frame',
      '^web/frame/',
      ['^web/(?:frame|contract)/', packages(['penpal', 'preact'])],
      'The frame knows the service over HTTP only.',
    ),
    allowOnly('web-contract', '^web/contract/', ['^web/contract/'], 'What page and frame say to each other.'),
    allowOnly(
      'demo',
      '^web/demo/',
      ['^web/demo/', '^web/contract/', 'node_modules/preact/', ...LIBRARIES.slice(1)],
      'The demo page is built on the public host script only.',
    ),
    allowOnly(
      'reference',
      '^web/reference/',
      ['^web/reference/', packages(['@scalar/fastify-api-reference'])],
      'The reference page knows the service by its OpenAPI documents only.',
    ),
    allowOnly(
      'command',
      '^packages/cli/',
      ['^packages/cli/', ...LIBRARIES.slice(1)],
      "What integrators install for their terminal runs anywhere: it has no package beside Node's own modules.",
    ),
    allowOnly(
      'sandbox-scripts',
      '^web/(sandbox-[^/]+)/',
      ['^web/$1/'],
      "What the sandbox serves to browsers stands for other people's libraries: it shares nothing with the component.",
    ),
    {
      name: 'stand-alone-programs',
      comment: 'Nobody imports the sandbox or the browser code.',
      severity: 'error',
      from: { pathNot: '^(?:sandbox|web)/' },
      to: { path: '^(?:sandbox|web)/' },
    },
    {
      name: 'no-account-of-asynchronous-steps',
      comment:
        'On Node 20 every promise of a process is dearer once something in it uses AsyncLocalStorage, as the library that drives the ' +
        'browser does: only a process that prints pays for it.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/adapters/pdf-renderer/(?:chromium|chromium-browser)\\.ts$' },
      to: { path: [builtins(['async_hooks']), packages(['playwright-core'])] },
    },
    {
      name: 'operator-commands-start-without-routes',
      comment: 'The libraries of the routes cost an operator command half a second.',
      severity: 'error',
      from: { path: '^src/ops/' },
      to: { path: ['^src/modules/[^/]+/http/', '^src/surfaces/', packages(ROUTE_LIBRARIES)], reachable: true },
    },
    {
      name: 'no-cycles',
      comment: 'A cycle has no reading order, and its load order is an accident.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unknown-imports',
      comment: 'An import that does not resolve escapes every other rule.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'production-dependencies-only',
      comment: 'The image is installed without development dependencies.',
      severity: 'error',
      from: { path: '^(?:src|sandbox)/', pathNot: CERTIFICATION },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-test-code',
      comment: 'The service does not know that it is tested.',
      severity: 'error',
      from: { path: '^(?:src|sandbox)/' },
      to: { path: '^(?:\\.\\./)*(?:test|scripts)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Without this, type-only imports would escape the rules.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
    detectProcessBuiltinModuleCalls: true,
  },
};
