// The texts of `--help`. This file imports no command, so that the help is shown at once.

const SETTINGS = `The service and the key:
  SCREENING_SECRET_KEY   a secret key (sk_test_... or sk_live_...)
  SCREENING_URL          the address of the service, such as http://localhost:3000
  Without these two variables, the demo keys of the data folder are used: DATA_DIR, by default .data in this folder.
`;

export const HELP = {
  '': `screening: tools for integrators of the screening service

  screening listen --forward <address>   forward the events of your account to a receiver on this machine
  screening resend <sequence> --forward <address>   forward one event again
  screening trigger <event>              make an event happen, in the test environment
  screening logs tail                    follow the API requests of your account

  screening <command> --help             options of a command
  screening --version

${SETTINGS}`,
  listen: `screening listen --forward <address> [options]

Forwards each event of your account and its direct children to your receiver, for example http://localhost:4000/hooks.
The receiver needs no public address. Each event is a POST with the body, headers and signature of a webhook delivery.
The command prints the secret of the signatures at its start. The secret is the same at each start with the same key.

  --forward <address>   the address of your receiver
  --types <a,b>         only these event types
  --after <sequence>    first the events after this sequence of each feed; 0 for all events. Default: only new events
  --account <id>        only the events of this account or direct child

Each line shows the time, the answer of your receiver, the event, and its place in the feed. If your receiver is away,
the command tries again for a few seconds. It does not repeat an event after an answer such as 500. If the service does
not answer, the command tries again with growing pauses, and continues where it was.

A redelivery from the dashboard, or by an operator, repeats a delivery to the registered endpoint. The feed does not
show it, so the command does not forward it. "screening resend" sends one event again, and --after all events from a
place on.

${SETTINGS}`,
  resend: `screening resend <sequence> --forward <address> [--account <id>]

Forwards one event of the feed again, as listen does: with the same id, body and secret. The sequence is the number in
the line of listen.

  --forward <address>   the address of your receiver
  --account <id>        the direct child whose event it is; by default your own account

${SETTINGS}`,
  trigger: `screening trigger <event> [--data <JSON>]

Makes an event such as screening.completed happen in the test environment of your account. The event is in the feed,
and the service delivers it, signed, to your endpoint. Nothing else happens: the ids in the event are new, and no
screening or payment has them. The command needs a test key. It prints the event.

  --data <JSON>   fields of "data", such as '{"session_id": "0199..."}'. The other fields get sample values

${SETTINGS}`,
  'logs tail': `screening logs tail [options]

Shows the last ten API requests of your account, and then each new request, until Ctrl-C. A line has the time, the
status, the route, the error code, the duration and the id of the request.

  --status <status>   only requests with this HTTP status, such as 404
  --json              one JSON object a line

${SETTINGS}`,
};
HELP.logs = HELP['logs tail'];
