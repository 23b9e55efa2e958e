// The timeline of a case file, as a page that needs no program. The exporter makes timeline.html with it. verify.html contains this file, and shows the
// timeline of the events that it has proved.

const ACTORS = {
  'platform-token': 'Page of a consumer, with a platform token',
  'secret-key': 'Server of an account, with a secret key',
  'api-key': 'Server of an account, with an API key',
  'dashboard-user': 'User of the dashboard, with a session token',
  operator: 'Operator of the service, at the command line',
  system: 'The service itself',
  vendor: 'Vendor, with a signed notice',
};
/** Shown in columns of their own. */
const PURPOSES = ['purpose', 'permissiblePurpose'];

const safe = (value) => String(value).replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
const actorOf = ({ kind, id }) => `${safe(ACTORS[kind] ?? kind)} (${safe(id)})`;

/** `ReportViewed` becomes `Report viewed`. */
function wordsOf(type) {
  const words = type.replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ').toLowerCase();
  return safe(words.charAt(0).toUpperCase() + words.slice(1));
}

function linesIn(value, before = '') {
  return Object.entries(value).flatMap(([name, one]) =>
    typeof one === 'object' && one !== null
      ? linesIn(one, `${before}${name}.`)
      : `${safe(before + name)}: ${safe(one)}`,
  );
}

function rowOf({ index, ofCase, event: { type, stream, revision, data, metadata } }) {
  const { occurredAt, recordedAt, actor, askedBy = {}, vendorCall = {}, reason, ticket } = metadata;
  const why = [...PURPOSES.map((name) => data[name]), reason, ticket].filter((one) => typeof one === 'string');
  const cells = [
    [index],
    [safe(occurredAt), ...(recordedAt === undefined ? [] : [`(the machine's time: ${safe(recordedAt)})`])],
    [actorOf(actor), ...linesIn(askedBy)],
    [`<b>${wordsOf(type)}</b>`, ...linesIn(data), ...linesIn(vendorCall, 'vendor call: ')],
    why.map(safe),
    [`${safe(stream)}, ${safe(revision)}`, ...(ofCase ? [] : ['(shared with other cases)'])],
  ];
  return `<tr>${cells.map((lines) => `<td>${lines.join('<br>')}</td>`).join('')}</tr>`;
}

/** `ofCase`: the event carries the tag of the case. The page contains only text of the events and of the manifest. */
export function timelineOf(manifest, events) {
  const { screening, purpose, actor, exportedAt, origin, checkpointSize, caseTag } = manifest;
  const headings = ['No. in the log', 'When (UTC)', 'Who', 'What', 'Purpose or reason', 'Stream and revision'];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Case file of screening ${safe(screening)}</title>
<style>
body { font: 14px/1.4 sans-serif; margin: 2em; }
table { border-collapse: collapse; font-size: 11px; width: 100%; }
th, td { border: 1px solid #999; overflow-wrap: anywhere; padding: 4px 6px; text-align: left; vertical-align: top; }
th { background: #eee; }
th:nth-child(2), th:nth-child(5) { min-width: 13em; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
</style></head><body>
<h1>Case file of screening ${safe(screening)}</h1>
<p>Exported at ${safe(exportedAt)}. Exporter: ${actorOf(actor)}. Purpose: ${safe(purpose)}.</p>
<p>The file has ${events.length} events, in the order of the log ${safe(origin)}. Each event has a proof to the checkpoint over ${safe(checkpointSize)} events. The times are those that the service recorded. The tag of the case is ${safe(caseTag)}. The program verify-case.mjs and the page verify.html check the file.</p>
<table><thead><tr>${headings.map((heading) => `<th>${heading}</th>`).join('')}</tr></thead><tbody>
${events.map(rowOf).join('\n')}
</tbody></table>
</body></html>
`;
}
