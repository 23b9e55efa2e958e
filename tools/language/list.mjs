// The list of patterns and words that sentences of this repository must not contain, and of the places that are already checked.

export const MOST_WORDS = 25;
export const LONGEST_SUBJECT = 72;

/** Each pattern finds its fault in one sentence from which code was removed. `instead` says how to write the sentence. */
export const PATTERNS = [
  {
    name: 'pronoun',
    pattern: /\b(?:nobody|somebody|whoever|whomever|whom|anew|thereof)\b/i,
    instead: 'name the person or thing, or say "no caller", "a person", "again", "of it"',
  },
  {
    name: 'what-as-subject',
    pattern: /^(?:what|who)\b(?!.*\?)|[;:] (?:What|Who)\b(?!.*\?)/i,
    instead: 'begin with a noun that the glossary knows, or ask a question that ends in "?"',
  },
  {
    name: 'is-no',
    pattern: /\b(?:is|are|was|were) (?:no|none)\b(?! longer)/i,
    instead: 'deny the verb or the noun: "has no", "is not a", "does not"',
  },
  {
    name: 'fronted',
    pattern:
      /^(?:of|for|by|from|to)\b(?:(?:(?!\b(?:that|which|who|whose)\b)[^,:;]){0,80}|[^,:;]{0,80}, [^,:;]{0,40}) (?:is|are|has|have|was|were)\b/i,
    instead: 'begin with the subject: "A session of ... has", "When two run at once, each ..."',
  },
  {
    name: 'so-many',
    pattern: /\bso (?:many|much|long|late|often)\b(?! (?:as|that)\b)/i,
    instead: 'give the number or the time, or say what it is compared with: "as many as", "so many that"',
  },
  {
    name: 'riddle',
    pattern: /\b(?:put(?:s|ting)? off|let(?:s|ting)? go of|came of it|comes of it|of two at once)\b/i,
    instead: 'use the plain verb: "delay", "give up", "result", "when two run at once"',
  },
];

/** Words that docs/glossary.md retired, with the words that replace them. Code and stored names are not checked. */
export const RETIRED = [
  { word: /\breact(?:ion|or)s?\b/i, use: 'event handler, event processor' },
  { word: /\b(?:sweep(?:s|er|ers)?|swept|sweeping)\b/i, use: 'recovery job' },
  { word: /\brungs?\b/i, use: 'step of the retry schedule' },
  { word: /\blanes?\b/i, use: 'line' },
  { word: /\bdoors?\b/i, use: 'API surface' },
  { word: /\bentrust(?:s|ed|ing)?\b/i, use: 'redeem' },
  { word: /\blaps(?:e|es|ed|ing)\b/i, use: 'expire' },
  { word: /\bflip(?:s|ped|ping)?\b/i, use: 'promote' },
  { word: /(?<=\w )Refusals?\b/, use: 'domain error' },
];

/** Folders whose comments and titles are checked against the list. Rewritten folders are added to the list, and no folder is removed. */
export const FINISHED_FOLDERS = ['src', 'web', 'packages', 'scripts', 'sandbox', 'test', 'tools'];

/** Documents that are checked against the list. */
export const FINISHED_DOCUMENTS = [
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'README.md',
  'SECURITY.md',
  'docs/adr/0001-embedded-event-store-by-default.md',
  'docs/adr/0002-one-document-per-stream.md',
  'docs/adr/0003-vendor-verdicts-and-the-recovery-job.md',
  'docs/adr/0004-keys-that-carry-their-id.md',
  'docs/adr/0005-node-24-and-still-20.md',
  'docs/adr/0006-single-appends-on-eventstoredb.md',
  'docs/adr/0007-event-handlers-and-published-events.md',
  'docs/adr/0008-each-module-serves-its-surfaces.md',
  'docs/adr/0009-reports-pulled-once.md',
  'docs/adr/0010-backups-that-bring-nobody-back.md',
  'docs/adr/0011-what-is-not-taken-from-libraries.md',
  'docs/adr/0012-webhook-dispatch-by-endpoint.md',
  'docs/adr/0013-projections-that-list.md',
  'docs/adr/0014-api-surfaces-are-values.md',
  'docs/adr/0015-external-calls-are-recorded-where-they-run.md',
  'docs/adr/0016-modules-declare-what-they-bring.md',
  'docs/adr/0017-parties-stand-on-screening-sessions.md',
  'docs/adr/0018-browser-code-is-served-with-the-service.md',
  'docs/adr/0019-several-processes-under-one-command.md',
  'docs/adr/0020-redis-keeps-recent-documents.md',
  'docs/adr/0021-older-events-are-compressed-together.md',
  'docs/adr/0022-pages-are-printed-in-a-thread-of-their-own.md',
  'docs/adr/0023-looks-of-a-session-are-one-stream.md',
  'docs/adr/0024-the-vault-is-beside-the-log.md',
  'docs/adr/0025-read-models-are-rebuilt-by-the-projector.md',
  'docs/adr/0026-the-edge-stands-before-the-framework.md',
  'docs/adr/0027-what-the-engine-grew-for.md',
  'docs/adr/0028-a-challenge-has-one-service-and-two-holders.md',
  'docs/adr/0030-a-test-account-has-a-clock.md',
  'docs/architecture.md',
  'docs/benchmarks.md',
  'docs/commands.md',
  'docs/contract/direct.md',
  'docs/contract/general.md',
  'docs/contract/platform.md',
  'docs/contract/server.md',
  'docs/contract/webhooks.md',
  'docs/errors.md',
  'docs/events.md',
  'docs/glossary.md',
  'docs/how-to/add-a-listing.md',
  'docs/how-to/add-a-use-case.md',
  'docs/how-to/add-a-vendor.md',
  'docs/how-to/add-an-event-version.md',
  'docs/how-to/embed-the-component.md',
  'docs/how-to/extension-exercises.md',
  'docs/quick-start.md',
  'docs/how-to/receive-webhooks.md',
  'docs/how-to/replay-a-projection.md',
  'docs/how-to/run-in-production.md',
  'docs/how-to/test-webhooks-locally.md',
  'docs/operations.md',
  'docs/operations/alerts.md',
  'docs/operations/backups-and-restore.md',
  'docs/operations/capacity.md',
  'docs/operations/erasure-and-keys.md',
  'docs/operations/install.md',
  'docs/operations/several-processes.md',
  'docs/sandbox.md',
  'packages/cli/README.md',
  'packages/react/README.md',
  'src/vendors/idv/README.md',
  'src/vendors/stripe/README.md',
  'src/vendors/voie/README.md',
  'web/embed/README.md',
];

/** Subjects of commits after this commit are checked against the list. */
export const LAST_FREE_COMMIT = '87a71248c06cb5d77e124bb1cad2bc2a368a92e7';
